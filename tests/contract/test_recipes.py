"""The recipes of CONTRIBUTING.md: a step that is left out fails here."""

import importlib
import re
from collections.abc import Iterator
from inspect import getmembers, isfunction
from pathlib import Path

import pytest

from destage.queries.named.named_queries import list_queries
from destage.queries.report.charts.standard_charts import STANDARD_CHARTS
from destage.queries.report.figures import FIGURES

ROOT = Path(__file__).parents[2]
FIGURE_NAMES = {figure.name for figure in FIGURES} | {chart.request.name for chart in STANDARD_CHARTS}
FAMILIES = {"build_figure", "build_standard_chart", "find_figure"}
"""Functions for a figure of any name."""


def find_builders() -> Iterator[str]:
    """Yield the public functions of the report that build one figure."""
    for file in (ROOT / "queries").glob("report/**/*.py"):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        module = importlib.import_module(f"destage.{name}".removesuffix(".__init__"))
        for name, function in getmembers(module, isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                returned = str(function.__annotations__["return"])
                if re.search(r"chart\.Figure\b", returned) and "list" not in returned:
                    yield name


def read_tests(folder: str) -> str:
    """Return the text of the tests of a folder."""
    return "\n".join(file.read_text() for file in (ROOT / "tests" / folder).glob("test_*.py"))


def test_each_builder_of_a_figure_is_registered() -> None:
    registered = {figure.build.__name__ for figure in FIGURES}
    builders = {*find_builders()}
    assert {"build_timeline", "build_front_chart"} < builders
    assert builders - registered - FAMILIES == set()


def test_figures_have_different_names() -> None:
    built = [figure.name for figure in FIGURES]
    kinds = [(chart.request.name, chart.studies) for chart in STANDARD_CHARTS]
    assert len({*built}) == len(built)
    assert len({*kinds}) == len(kinds)
    assert {*built}.isdisjoint(name for name, _ in kinds)


def test_each_standard_chart_has_its_query() -> None:
    assert {chart.query for chart in STANDARD_CHARTS} <= {query.name for query in list_queries()}


@pytest.mark.parametrize("name", sorted(FIGURE_NAMES))
def test_each_figure_has_a_test_and_a_line_in_the_documents(name: str) -> None:
    assert f'"{name}"' in read_tests("queries")
    page = (ROOT / "docs" / "reference" / "queries.md").read_text()
    assert f"| `{name}` |" in page.partition("## Figures of a report")[2]
