"""A report is kept as long as nothing that it was rendered from has changed, and not longer."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_stores import publish

from destage.measured.line import MeasuredLine
from destage.measured.sets import MeasuredSet, delete_set, find_store, write_set
from destage.queries import Session, open_session
from destage.queries.exports import report_record
from destage.queries.exports.report_record import add_record, digest_inputs, find_report, read_summary
from destage.queries.report import page
from destage.queries.report.page import render_page, update_report, write_report
from destage.queries.report.reported_kinds import summarize
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.stored_rows import rows_schema
from destage.store.state.head import claim_generation, read_head
from destage.store.state.plan import write_round

LINE = MeasuredLine(array_label="lab", outstanding=8, throughput_iops=100.0)


@pytest.fixture
def place(seek_session: Session) -> Path:
    """Return the sweep whose report has been written."""
    update_report(seek_session)
    return Path(str(seek_session.sweep.path))


@pytest.fixture
def renderings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that each rendering of a page is added to."""
    pages: list[str] = []

    def render(session: Session, measured: MeasuredSet | None = None) -> str:
        pages.append(render_page(session, measured))
        return pages[-1]

    monkeypatch.setattr(page, "render_page", render)
    return pages


def render_again(place: Path) -> None:
    """Check that the report of a sweep is not up to date, and write it."""
    assert find_report(place) is None
    with open_session(place) as session:
        file, summary = update_report(session)
        assert Path(str(file)).read_text().startswith(render_page(session))
        assert summary == summarize(session)
    assert find_report(place) == (file, summary)


def test_a_report_of_the_same_sweep_is_kept(seek_session: Session, renderings: list[str]) -> None:
    first = update_report(seek_session)
    assert len(renderings) == 1
    assert update_report(seek_session) == first
    assert find_report(seek_session.sweep.path) == first
    with open_session(seek_session.sweep.path) as again:
        assert update_report(again) == first
        assert first[1] == summarize(again)
    assert len(renderings) == 1


def test_a_report_with_its_record_is_the_page(seek_session: Session) -> None:
    file, _ = update_report(seek_session)
    page, _, record = Path(str(file)).read_text().rpartition("<!--")
    assert page == render_page(seek_session)
    assert record.count(">") == 1


def test_more_rows_make_another_report(place: Path) -> None:
    row = dict.fromkeys(rows_schema().names) | {"run_id": "another", "status": "ok"}
    write_fragment(SweepLayout(place).fragments, pa.Table.from_pylist([row], rows_schema()))
    render_again(place)


def test_fewer_rows_make_another_report(place: Path) -> None:
    (fragment,) = SweepLayout(place).fragments.glob("*.parquet")
    fragment.unlink()
    render_again(place)


@pytest.mark.parametrize("part", ["study", "rounds", "answers"])
def test_another_study_plan_or_answer_makes_another_report(place: Path, part: str) -> None:
    layout = SweepLayout(place)
    head = read_head(layout)
    assert head is not None
    generation = claim_generation(layout)
    if part == "study":
        head = replace(head, study=generation.write("study", ".yaml", b"name: study\nquestion: Why?\n"))
    elif part == "answers":
        head = replace(head, answers=None, certificates=None)
    else:
        table = pq.read_table(layout.generations / head.rounds[0])
        head = replace(head, rounds=(write_round(generation, None, 0, table.slice(0, table.num_rows - 1)),))
    generation.publish(head)
    render_again(place)


def test_the_same_content_in_another_generation_is_kept(place: Path) -> None:
    layout = SweepLayout(place)
    head = read_head(layout)
    assert head is not None
    claim_generation(layout).publish(replace(head, finished=not head.finished))
    assert find_report(place) is not None


def test_a_measured_set_makes_another_report(place: Path) -> None:
    store = find_store(place)
    assert store is not None
    write_set(store, "lab", [LINE])
    render_again(place)
    write_set(store, "lab", [replace(LINE, throughput_iops=200.0)], replace=True)
    render_again(place)
    delete_set(store, "lab")
    render_again(place)


def test_a_report_with_a_measured_chart_is_not_kept(seek_session: Session, place: Path) -> None:
    write_report(seek_session, measured=MeasuredSet("lab", (LINE,)))
    render_again(place)


@pytest.mark.parametrize("part", ["version", "digest_of"])
def test_another_program_makes_another_report(
    place: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    report_record._digest_program.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(report_record, part, lambda _: "999")
        found = report_record._digest_program()
    report_record._digest_program.cache_clear()
    assert found != report_record._digest_program()
    monkeypatch.setattr(report_record, "_digest_program", lambda: found)
    render_again(place)


def test_the_sources_of_the_program_are_found() -> None:
    names = {file.name for file in report_record._list_sources(Path(report_record.__file__).parents[2])}
    assert names >= {
        "page.py",
        "page.css",
        "explore.js",
        "plot.js",
        "disks.toml",
        "quantities.py",
        "_engine.abi3.so",
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text[:-1],
        lambda text: text.replace("<h1>", "<h1>My "),
        lambda text: text.replace('"answer": ["', '"answer": ["My '),
        lambda _: "",
        lambda _: "<html></html>",
    ],
)
def test_a_changed_page_is_rendered_again(place: Path, change: Callable[[str], str]) -> None:
    file = place / "report" / "report.html"
    text = file.read_text()
    assert change(text) != text
    file.write_text(change(text))
    render_again(place)


def test_another_file_has_a_report_of_its_own(place: Path, tmp_path: Path) -> None:
    other = tmp_path / "deep" / "other.html"
    assert find_report(place, other) is None
    with open_session(place) as session:
        update_report(session, other)
    assert find_report(place, other) is not None
    assert other.read_text() == (place / "report" / "report.html").read_text()


def test_a_pipe_is_not_read(place: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert find_report(place, pipe) is None


def test_text_that_ends_a_comment_is_kept(tmp_path: Path, seek_session: Session) -> None:
    summary = replace(summarize(seek_session), answer=("a --> b", "<!-- record x -->\n", "c --!> d"))
    file = tmp_path / "r.html"
    file.write_text(add_record("<html></html>\n", "inputs", summary))
    assert read_summary(file, "inputs") == summary
    assert read_summary(file, "others") is None


def test_rows_that_arrive_while_a_page_is_rendered(
    seek_session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that had to open the sweep again may have rendered rows that its digest lacks."""

    def render(session: Session) -> str:
        session.relations = replace(session.relations, fragments=("other",))
        return render_page(session)

    monkeypatch.setattr(page, "render_page", render)
    file, _ = update_report(seek_session)
    assert "<!-- record" not in Path(str(file)).read_text()


def test_two_sweeps_have_reports_of_their_own(tmp_path: Path) -> None:
    digests = []
    for name in ("one-00000000", "two-00000000"):
        layout = SweepLayout(tmp_path / "sweeps" / name)
        publish(layout)
        with open_session(layout.root) as session:
            digests.append(digest_inputs(session.sweep, ()))
    assert digests[0] != digests[1]
