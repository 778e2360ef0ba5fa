"""DuckDB draws a progress bar on stdout while a statement takes more than two seconds, unless it is off."""

import pytest

from destage.sql import Database
from destage.sql.file_connection import FileConnection

SETTING = "SELECT current_setting('enable_progress_bar') AS is_drawn"


@pytest.mark.parametrize("connection", ["database", "files"])
def test_no_connection_draws_a_progress_bar(connection: str) -> None:
    shown = Database({}).query(SETTING) if connection == "database" else FileConnection().fetch(SETTING)
    assert shown["is_drawn"].to_pylist() == [False]
