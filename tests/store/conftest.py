"""Fixtures: rows as a worker commits them, without running a simulation."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.stored_rows import rows_schema

MakeRows = Callable[..., pa.Table]


@pytest.fixture
def make_rows() -> MakeRows:
    """Return a function that makes one row per run id, equal except for the arguments."""

    def make(*run_ids: str, status: str = "ok", error_kind: str | None = None, events: int = 1) -> pa.Table:
        rows = [
            {
                "run_id": run_id,
                "status": status,
                "error_kind": error_kind,
                "events": events,
                "prov_attempt": 0,
            }
            for run_id in run_ids
        ]
        return pa.Table.from_pylist(rows, schema=rows_schema())

    return make


@pytest.fixture
def layout(tmp_path: Path) -> SweepLayout:
    """Return the layout of an empty sweep with its directories."""
    layout = SweepLayout(tmp_path / "sweep-0")
    layout.make()
    return layout
