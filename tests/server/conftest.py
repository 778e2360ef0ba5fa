"""A finished sweep that is served to several tests."""

from collections.abc import Iterator

import pytest
from served_sweep import Served, run_users, serve


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a finished sweep of four runs."""
    with serve(run_users(tmp_path_factory.mktemp("store"), 5, 10), "--timeout", "4s") as found:
        yield found
