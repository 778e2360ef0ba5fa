"""Running all bundled studies, one after another, to one table of published figures and verdicts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from destage.cli.judging import print_verdicts
from destage.cli.output import print_json, say, warn
from destage.cli.progress import ProgressDisplay

if TYPE_CHECKING:
    from destage.store import Location

_STOPPED = {"interrupted", "infrastructure"}


def run_every_study(
    store: "Location | None",
    executor: Any,
    workers: int | None,
    page: Path | None,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run every bundled study and print its published figures beside what came out.

    Args:
        store: The store; None for the default one.
        executor: Where the runs are executed.
        workers: How many at a time.
        page: The Markdown file that the table is written to as well, if any.
        quiet: Whether no progress is shown.
        as_json: Whether stdout gets JSON.
    """
    from destage import sweeps
    from destage.queries import open_session
    from destage.queries.formats import rows_of
    from destage.queries.published_page import published_page
    from destage.queries.report import answers_told, write_report
    from destage.queries.verdict_sheet import verdict_summary
    from destage.queries.verdicts import verdict_table
    from destage.sweeps import studies

    names = studies.names()
    sections = []
    code = 0
    for place, name in enumerate(names, 1):
        with ProgressDisplay(f"{place}/{len(names)} {name}", is_quiet=quiet) as display:
            outcome = sweeps.run(
                studies.load(name), store, executor=executor, workers=workers, progress=display
            )
        for message in outcome.messages:
            warn(message)
        if outcome.state in _STOPPED:
            warn(f"{name} {outcome.state}: what was run is kept; the same command goes on from there")
            raise typer.Exit(outcome.exit_code)
        code = code or outcome.exit_code
        with open_session(outcome.path) as session:
            rows = rows_of(verdict_table(session))
            file = write_report(session)
            sections.append((session.spec, rows, answers_told(session)))
        say(
            f"{place}/{len(names)} {name}: {outcome.executed} runs executed, {outcome.reused} reused, "
            f"in {outcome.seconds:.1f} s; report: {file}"
        )
    if as_json:
        print_json({spec["name"]: rows for spec, rows, _ in sections})
    else:
        print_verdicts([(spec["name"], rows) for spec, rows, _ in sections])
        say(verdict_summary([row for _, rows, _ in sections for row in rows]))
    if page is not None:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(published_page(sections), encoding="utf-8")
        say(f"page: {page}")
    raise typer.Exit(code)
