"""The pages of published experiments: one screen first, and each bundled study's section to the digit."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from destage import sweeps
from destage.queries import open_session
from destage.queries.findings.caveats import list_unsteady_caches
from destage.queries.published.published_page import list_section_lines
from destage.queries.published.verdict_text import HEADINGS, HEADLINE_HEADINGS
from destage.queries.published.verdicts import NO_ANSWER, judge_figures
from destage.queries.report.drawing.svg import WIDE
from destage.queries.report.page import draw_figure
from destage.queries.report.reported_kinds import find_reported
from destage.queries.report.sentences.published_section import fill_answers
from destage.store.schemas.figure_classes import FigureClass
from destage.sweeps import studies

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "published-experiments.md"
_DEMO, _FIGURE = "call_center_curve", "users_against_write_cache"
_PICTURE = ROOT / "docs" / "images" / "users-against-cache.svg"
"""The picture of the README: `make readme-picture` writes it."""
STATED = {"property": "model property", "input": "input"}
"""Kinds that have only one class; another is a mistake of the study."""


# One process runs all tests of a group, so that each study runs once. Calibrations have a page of their own.
@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.xdist_group(name))
        for name in studies.names()
        if "\ncalibrate:" not in studies.text(name)
    ],
)
def study_result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Run a study; return it with its verdicts and answers, and what is said of its write caches."""
    outcome = sweeps.run(studies.load(request.param), tmp_path_factory.mktemp("store"), executor="inline")
    assert outcome.state == "finished", outcome.messages
    with open_session(outcome.path) as session:
        if request.param == _DEMO:
            (tmp_path_factory.getbasetemp() / _PICTURE.name).write_text(draw_figure(session, _FIGURE))
        figures = judge_figures(session).to_pylist()
        is_asked = list_unsteady_caches in find_reported(session).remarks
        unsteady = list_unsteady_caches(session) if is_asked else []
        return session.spec, figures, fill_answers(session), unsteady


def read_sections() -> dict[str, tuple[str, list[str]]]:
    """Return the page and the non-empty lines of each study's section, by the study's name."""
    found = {}
    for page in sorted((PAGE.parent / "published").glob("*.md")):
        for part in page.read_text("utf-8").split("\n## ")[1:]:
            name = part.partition("\n")[0]
            found[name] = (page.stem, [line for line in part.splitlines() if line])
    return found


def read_rows(text: str) -> list[list[str]]:
    """Return the cells of the tables' rows, without headings."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_study_with_published_figures_is_on_its_documents_page() -> None:
    loaded = {name: studies.load_fields(name) for name in studies.names()}
    expected = {name: study["paper"]["page"] for name, study in loaded.items() if study.get("published")}
    assert {name: page for name, (page, _) in read_sections().items()} == expected


def test_the_first_page_is_one_screen_of_headlines() -> None:
    rows = [row for row in read_rows(PAGE.read_text("utf-8")) if row != list(HEADLINE_HEADINGS)]
    headlines = {
        figure["figure"]: figure["headline"]
        for name in studies.names()
        for figure in studies.load_fields(name).get("published", [])
        if "headline" in figure
    }
    assert 25 <= len(rows) <= 30
    assert {row[0] for row in rows} == set(headlines)
    for row in rows:
        assert read_class(row) in set(FigureClass)
        assert row[5].endswith(f". {headlines[row[0]]}")


def read_class(row: list[str]) -> str:
    """Return the class in a row; that of a figure that follows from others is marked."""
    return row[4].removesuffix(" (not counted)")


def test_every_row_has_a_class_and_simulated_numbers_their_interval() -> None:
    for page in (PAGE.parent / "published").glob("*.md"):
        for row in read_rows(page.read_text("utf-8")):
            if row != list(HEADINGS):
                assert read_class(row) in set(FigureClass), row
                reproduced = read_class(row) in {FigureClass.BLIND, FigureClass.FITTED, FigureClass.POST_HOC}
                assert not reproduced or "factor" in row[3] or "includes 0" in row[3], row


def test_the_readme_leads_to_the_first_page() -> None:
    assert "](docs/published-experiments.md)" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.long
def test_a_study_gives_its_section_of_the_page(study_result: Any) -> None:
    spec, rows, answers, _ = study_result
    section = "\n".join(list_section_lines(spec, rows, answers)) if rows else ""
    found = section.removeprefix("## ").splitlines()
    _, written = read_sections().get(spec["name"], ("", []))
    assert [line for line in found if line] == written


@pytest.mark.long
def test_the_readmes_picture_is_the_figure_of_the_report(
    study_result: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    spec, *_ = study_result
    if spec["name"] == _DEMO:
        drawn = (tmp_path_factory.getbasetemp() / _PICTURE.name).read_text()
        assert drawn == _PICTURE.read_text("utf-8"), "make readme-picture"


def test_the_readmes_picture_has_the_present_style_and_width() -> None:
    """The short form of the test of the picture, without running its study."""
    picture = _PICTURE.read_text("utf-8")
    style = (files("destage.queries.report") / "chart.css").read_text()
    assert f"<style>{style}</style>" in picture
    assert f'viewBox="0 0 {WIDE} ' in picture
    assert studies.load_fields(_DEMO)["charts"][0]["title"] in picture
    for text in ("users supported", "hit ratio", "address exponent 0.9", "cache capacity (nominal)"):
        assert f">{text}</text>" in picture
    assert f"({_PICTURE.relative_to(ROOT)})" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.long
def test_a_study_has_no_invalid_figure(study_result: Any) -> None:
    spec, rows, *_ = study_result
    for row in rows:
        assert row["why"] != NO_ANSWER, row["figure"]
        assert row["class"] == STATED.get(row["kind"], row["class"]), row["figure"]
    if rows:
        assert spec["paper"]["number"], "published figures have a document"


@pytest.mark.long
def test_no_write_cache_fills_in_the_window_of_a_study(study_result: Any) -> None:
    """Until November 2026 the windows of six studies ended before their larger caches were full."""
    *_, unsteady = study_result
    assert unsteady == []
