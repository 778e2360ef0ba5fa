"""Ctrl-C while DuckDB runs a statement of Destage itself on the main thread."""

import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from destage.sql import Database
from destage.sql.file_connection import FileConnection

ENDLESS = "SELECT sum(a.i * b.i) AS total FROM range(10000000) a(i), range(1000000) b(i)"


@pytest.fixture
def _interrupted() -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("_interrupted")
def test_writing_a_file_is_interrupted(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        FileConnection().write(ENDLESS, tmp_path / "rows.parquet")


@pytest.mark.usefixtures("_interrupted")
def test_a_stream_of_rows_is_interrupted() -> None:
    with Database({}) as database, pytest.raises(KeyboardInterrupt):
        list(database.stream(ENDLESS))
