"""Each bundled study is run; its section equals docs/published-experiments.md to the digit."""

from pathlib import Path
from typing import Any

import pytest

from destage import sweeps
from destage.queries import open_session
from destage.queries.published_page import write_section
from destage.queries.report import fill_answers
from destage.queries.verdicts import judge_figures
from destage.sweeps import studies

PAGE = Path(__file__).resolve().parents[2] / "docs" / "published-experiments.md"
INVALID = {"no answer", "not exact", "input differs", "consistent"}
"""Verdicts that are mistakes of the study, not of the model or the paper."""


# One process runs all tests of a group, so that each study runs once.
@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in studies.names()],
)
def study_result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Run a study; return it with its verdicts and answers."""
    outcome = sweeps.run(studies.load(request.param), tmp_path_factory.mktemp("store"), executor="inline")
    assert outcome.state == "finished", outcome.messages
    with open_session(outcome.path) as session:
        return session.spec, judge_figures(session).to_pylist(), fill_answers(session)


def sections() -> dict[str, list[str]]:
    """Return the non-empty lines of the page by study."""
    parts = PAGE.read_text("utf-8").split("\n## ")[1:]
    return {part.partition("\n")[0]: [line for line in part.splitlines() if line] for part in parts}


def test_the_page_has_every_study_with_published_figures() -> None:
    published = {name for name in studies.names() if studies.load(name).document.get("published")}
    assert set(sections()) == published


@pytest.mark.long
def test_a_study_gives_its_section_of_the_page(study_result: Any) -> None:
    spec, rows, answers = study_result
    found = write_section(spec, rows, answers).removeprefix("## ").splitlines() if rows else []
    assert [line for line in found if line] == sections().get(spec["name"], [])


@pytest.mark.long
def test_a_study_has_no_invalid_figure(study_result: Any) -> None:
    spec, rows, _ = study_result
    assert [(row["figure"], row["verdict"]) for row in rows if row["verdict"] in INVALID] == []
    if rows:
        assert spec["paper"]["number"], "published figures have a document"
