"""Runs a sweep from the command line and prints its outcome, with tables of results and published figures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from destage.cli.terminal.hard_stop import HardStop
from destage.cli.terminal.output import print_data, print_json, print_note, print_warning
from destage.cli.terminal.progress_line import ProgressDisplay, warn_if_stopped
from destage.cli.terminal.terminal_text import (
    draw_answers,
    find_width,
    make_grid,
    note_left_out,
    print_presentation,
    wrap_lines,
)
from destage.errors import Issue, UsageError
from destage.spec.printed_text import escape_controls

if TYPE_CHECKING:
    from rich.table import Table

    from destage.queries import Session
    from destage.queries.exports.report_record import Summary
    from destage.store import Location
    from destage.sweeps import Outcome, Study


_NARROW = 120
"""A terminal below this width shows fewer columns; the report has all of them [characters]."""
_ESSENTIAL = ("figure", "published", "simulated", "class")
_LEAST = {"figure": 14, "published": 9, "simulated": 10, "class": 13}
_LEAST_OTHER = 10
"""The least width of each column [characters]."""
_Rows = Sequence[Mapping[str, Any]]


def print_published(rows: _Rows) -> None:
    """Print one table of a study's published figures, given its rows."""
    from destage.queries.published.verdict_text import HEADINGS, format_verdict

    _print([(None, HEADINGS, [format_verdict(row) for row in rows])])


def print_headlines(documents: Sequence[tuple[str, _Rows]]) -> None:
    """Print a table of headline figures for each document, given its title and rows."""
    from destage.queries.published.verdict_text import HEADLINE_HEADINGS, format_headline

    _print([(title, HEADLINE_HEADINGS, [format_headline(row) for row in rows]) for title, rows in documents])


def _print(tables: Sequence[tuple[str | None, Sequence[str], Sequence[Sequence[str]]]]) -> None:
    from rich.console import Console

    width = find_width()
    console = Console(highlight=False, width=width)
    for title, headings, rows in tables:
        if title is not None:
            console.print(f"\n{escape_controls(title)}", markup=False)
        shown = [name for name in headings if width >= _NARROW or name in _ESSENTIAL]
        console.print(_table(headings, rows, shown), markup=False)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], shown: Sequence[str]) -> "Table":
    table = make_grid()
    for heading in shown:
        table.add_column(heading, overflow="fold", min_width=_LEAST.get(heading, _LEAST_OTHER))
    places = [headings.index(heading) for heading in shown]
    for row in rows:
        table.add_row(*(escape_controls(row[place]) for place in places))
    return table


def run_study(
    target: "Study | Location",
    store: "Location | None",
    executor: Any,
    workers: int | None,
    report: Path | None,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run a study, or the remaining runs of a sweep; print its answers and write its report."""
    from destage import sweeps

    with HardStop(target.name), ProgressDisplay(target.name, is_quiet=quiet) as display:
        options: dict[str, Any] = {"executor": executor, "workers": workers, "progress": display}
        if isinstance(target, sweeps.Study):
            outcome = sweeps.run(target, store, **options)
        else:
            outcome = sweeps.resume(target, **options)
    conclude(outcome, report, as_json=as_json)


def choose_executor(ray_address: str | None, executor: Any) -> Any:
    """Return the executor, which is Ray where the address of a Ray cluster is given."""
    import os

    if ray_address is None:
        return executor
    if executor == "inline":
        message = "cannot be combined with --executor inline"
        raise UsageError("usage.conflicting-options", message, "--ray-address")
    os.environ["RAY_ADDRESS"] = ray_address
    return "ray"


def summarize(outcome: "Outcome") -> str:
    """Return the counts of a session in one line."""
    rate = ""
    if outcome.executed:
        rate = f" ({outcome.executor}, {outcome.executed / max(outcome.seconds, 1e-3):.1f} runs/s)"
    shared = f" ({outcome.shared} from other sweeps)" if outcome.shared else ""
    return (
        f"{outcome.path.name}: {outcome.runs} runs, {outcome.executed} executed{rate}, "
        f"{outcome.reused} reused{shared}, {outcome.failed} failed, in {outcome.seconds:.1f} s"
    )


def conclude(outcome: "Outcome", report: Path | None, *, as_json: bool) -> None:
    """Print a sweep's answers, write its report and exit with the session's exit code."""
    from destage.queries.exports.report_record import find_report
    from destage.queries.exports.sweep_export import is_exported, update_export

    print_warning(*outcome.messages)
    print_note(summarize(outcome))
    if warn_if_stopped(outcome):
        if as_json:
            print_json({"outcome": outcome_as_json(outcome)})
        raise typer.Exit(outcome.exit_code)
    written = None if as_json else find_report(outcome.path, report)
    if written is None or not is_exported(outcome.path):
        from destage.queries import open_session
        from destage.queries.report.page import update_report

        with open_session(outcome.path) as session:
            written = update_report(session, report)
            update_export(session)
            if as_json:
                _print_as_json(outcome, session, *written)
    file, summary = written
    if not as_json:
        _print_summary(summary, outcome.path.name)
    print_note(f"report: {file}")
    if outcome.state == "budget":
        message = "the budget is used up; run the same command again to continue"
        print_warning(Issue("sweep.budget-reached", outcome.path.name, message))
    raise typer.Exit(outcome.exit_code)


def _print_as_json(outcome: "Outcome", session: "Session", file: "Location", summary: "Summary") -> None:
    from destage.queries.report.reported_kinds import find_reported

    values = {"outcome": outcome_as_json(outcome), "report": str(file), "answer": list(summary.answer)}
    print_json(values | find_reported(session).tables_as_json())


def _print_summary(summary: "Summary", sweep: str) -> None:
    if summary.tables:
        print_data("\n".join(summary.tables))
    elif summary.bars is None:
        print_presentation(summary.points)
        note_left_out(summary.left_out, sweep)
    else:
        print_data(draw_answers(summary.bars))
        print_note(f"all columns: destage query {sweep} design_space")
    if summary.published:
        print_data("\n")
        print_published(summary.published)
    # Last, so that the answer is still in view after a long table.
    print_data(wrap_lines(["", *summary.answer] if summary.answer else []))


def outcome_as_json(outcome: "Outcome") -> dict[str, Any]:
    """Return an outcome as `--json` prints it."""
    return asdict(outcome) | {"path": str(outcome.path)}
