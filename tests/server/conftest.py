"""A finished sweep that is served to several tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from served_sweep import HASTY, Served, run_users, serve


@pytest.fixture(scope="session")
def four_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a finished sweep of four runs."""
    return run_users(tmp_path_factory.mktemp("store"), 5, 10)


@pytest.fixture(scope="session")
def served(four_runs: Path) -> Iterator[Served]:
    """Serve the sweep."""
    with serve(four_runs, "--timeout", "4s") as found:
        yield found


@pytest.fixture(scope="session")
def hasty(four_runs: Path) -> Iterator[Served]:
    """Serve the sweep with short time limits, for the tests that reach them."""
    with serve(four_runs, "--timeout", "2s", settings=HASTY) as found:
        yield found
