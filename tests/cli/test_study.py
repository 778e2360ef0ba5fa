"""Bundled studies: one with `destage run`, or all of them with the headline figures."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import AXES
from script_modules import load_script
from small_studies import small_study

from destage.sweeps import studies

PAGES = load_script("scripts/published_experiments.py")
FIRST = """\
paper: {title: A paper on batteries, number: X 1, page: batteries}
places:
  present: {controller.battery.state: present, workload.users: 5}
  absent: {controller.battery.state: absent, workload.users: 5}
published:
  - figure: with a battery
    source: p. 3
    value: as many
    kind: ordering
    expect: {between: [0.9, 1.1]}
    compute: absent.requests / present.requests
    headline: Both serve the same users.
    note: The paper gives no figure.
"""


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Replace the bundled studies by two small ones."""
    texts = {
        "first": small_study("first", *AXES) + FIRST,
        "second": small_study("second", *AXES),
    }
    monkeypatch.setattr(studies, "names", lambda: sorted(texts))
    monkeypatch.setattr(studies, "load", lambda name: studies.parse_study(texts[name], folder=tmp_path))


@pytest.mark.usefixtures("two")
def test_all_studies_give_headlines_and_pages(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    arguments = [str(tmp_path / "store"), str(tmp_path / "deep" / "page.md")]
    assert PAGES.main(arguments) == 0
    out, err = capfd.readouterr()
    _, title, heading, row = out.splitlines()
    assert title == "A paper on batteries"
    assert heading.split()[:2] == ["figure", "published"]
    assert "reproduced blind" in row
    assert row.rstrip().endswith("Both serve the same users.")
    # The second study has the configurations of the first one, whose runs it takes over.
    assert err.count("8 runs, 8 executed (inline, ") == 1
    assert "8 runs, 0 executed, 8 reused (8 from other sweeps)" in err
    assert "1 published figure: 1 reproduced blind" in err
    first = (tmp_path / "deep" / "page.md").read_text()
    assert "## [A paper on batteries (X 1)](published/batteries.md)" in first
    assert "| with a battery | as many |" in first
    page = (tmp_path / "deep" / "published" / "batteries.md").read_text()
    assert "[Published experiments](../page.md)" in page
    assert "## first" in page
    assert "## second" not in page
    assert "- with a battery: The paper gives no figure." in page

    assert PAGES.main(arguments) == 0
    assert capfd.readouterr().err.count("8 runs, 0 executed, 8 reused") == 2


@pytest.mark.usefixtures("two")
def test_one_study_prints_published_figures_last(destage: Any) -> None:
    done = destage("run", "first", "--executor", "inline")
    *_, published, unsteady, stage, remark = done.out.splitlines()
    assert published.startswith("with a battery")
    assert unsteady.startswith("Not sustained at 2 of 4 points")
    assert stage.startswith("Estimated from data sheets: 6 measured systems")
    assert remark.startswith("Rests on an assumed locality: Zipf 0.9 over 8 GB")
    report = Path(done.err.splitlines()[-1].removeprefix("report: ")).read_text()
    assert "A paper on batteries (X 1)" in report
    assert "reproduced blind" in report
    assert json.loads(destage("run", "first", "--executor", "inline", "--json").out)["published"]


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["call_center", "--plan", "--report", "x.html"], "--report"),
        (["call_center", "--plot", "x.svg"], "--plot"),
        (["call_center", "--no-estimate"], "--estimate"),
    ],
)
def test_conflicting_options_are_rejected(destage: Any, arguments: list[str], place: str) -> None:
    done = destage("run", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.issues == [("usage.conflicting-options", place)]
