"""Records the checks of each test, and writes docs/validation.md after a session of the long form."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from validation.form import REPORT_PATH
from validation.mutations import ENGINE
from validation.page import page
from validation.replicates import FAMILY, LEDGER, Case


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests in one process: one ledger counts their intervals, which are one family."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.xdist_group("validation"))


@pytest.fixture(autouse=True)
def _set_current_case(request: pytest.FixtureRequest) -> None:
    LEDGER.case = Case(
        path=str(request.path.relative_to(request.config.rootpath)),
        subject=inspect.getdoc(request.module) or "",
        name=request.function.__name__,
        summary=inspect.getdoc(request.function) or "",
    )


@pytest.fixture(scope="session", autouse=True)
def _write_page(request: pytest.FixtureRequest) -> Iterator[None]:
    assert ENGINE or not REPORT_PATH, "the engine with mutations is not built: make validation"
    yield
    intervals = sum(verdict.half_width is not None for verdict in LEDGER.lines())
    assert intervals <= FAMILY, f"{intervals} interval checks in a family of {FAMILY}: raise FAMILY"
    if REPORT_PATH:
        Path(request.config.rootpath, REPORT_PATH).write_text(page(LEDGER), encoding="utf-8")
