"""Writes the page of verdicts after a session of the long form."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from validation.page import page
from validation.replicates import FAMILY, LEDGER, REPORT_PATH


@pytest.fixture(scope="session", autouse=True)
def _write_page(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    intervals = sum(
        verdict.half_width is not None and verdict.unit != "mutation" for verdict in LEDGER.verdicts.values()
    )
    assert intervals <= FAMILY, f"{intervals} interval checks in a family of {FAMILY}: raise FAMILY"
    if REPORT_PATH:
        Path(request.config.rootpath, REPORT_PATH).write_text(page(LEDGER), encoding="utf-8")
