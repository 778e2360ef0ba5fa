"""`destage run --all`: the bundled studies, with the headline figures of each document."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from destage.cli.hard_stop import HardStop
from destage.cli.output import print_json, print_note, print_warning
from destage.cli.progress import ProgressDisplay
from destage.cli.published_table import print_headlines
from destage.cli.session import summarize, warn_if_stopped

if TYPE_CHECKING:
    from destage.store import Location


def run_all(
    store: "Location | None",
    executor: Any,
    workers: int | None,
    page: Path | None,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run each bundled study and print the headline figures of each document."""
    from destage import sweeps
    from destage.queries import open_session
    from destage.queries.formats import rows_as_json
    from destage.queries.published_page import group_by_document, list_headlines, write_pages
    from destage.queries.report import fill_answers, write_report
    from destage.queries.sweep_export import update_export
    from destage.queries.verdict_text import summarize_verdicts
    from destage.queries.verdicts import judge_figures
    from destage.sweeps import studies

    names = studies.names()
    sections = []
    code = 0
    for place, name in enumerate(names, 1):
        with HardStop(name), ProgressDisplay(f"{place}/{len(names)} {name}", is_quiet=quiet) as display:
            outcome = sweeps.run(
                studies.load(name), store, executor=executor, workers=workers, progress=display
            )
        for warning in outcome.messages:
            print_warning(warning)
        if warn_if_stopped(outcome):
            raise typer.Exit(outcome.exit_code)
        code = code or outcome.exit_code
        with open_session(outcome.path) as session:
            rows = rows_as_json(judge_figures(session))
            file = write_report(session)
            update_export(session)
            sections.append((session.spec, rows, fill_answers(session)))
        print_note(f"{place}/{len(names)} {summarize(outcome)}; report: {file}")
    if as_json:
        print_json({spec["name"]: rows for spec, rows, _ in sections})
    else:
        documents = group_by_document(sections).values()
        print_headlines([(own[0][0]["paper"]["title"], list_headlines(own)) for own in documents])
        print_note(summarize_verdicts([row for _, rows, _ in sections for row in rows]))
    if page is not None:
        for name, text in write_pages(sections, page.name).items():
            file = page.parent / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        print_note(f"page: {page}")
    raise typer.Exit(code)
