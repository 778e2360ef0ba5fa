"""`destage study`: the bundled studies."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.completion import complete_study_names
from destage.cli.hard_stop import HardStop
from destage.cli.options import Executor, Json, Quiet, ReportFile, Store, Workers
from destage.cli.output import print_data, print_json, print_note, print_pairs, print_warning
from destage.cli.progress import ProgressDisplay
from destage.cli.published_table import print_headlines
from destage.cli.session import run_study, summarize, warn_if_stopped
from destage.errors import UsageError

if TYPE_CHECKING:
    from destage.store import Location

app = typer.Typer(help="List, show and run the bundled studies.", no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="A bundled study.", autocompletion=complete_study_names)
]


@app.command("list")
def list_studies(as_json: Json = False) -> None:
    """List the bundled studies with the question that each answers."""
    from destage.sweeps import studies

    questions = {name: studies.question(name) for name in studies.names()}
    print_json(questions) if as_json else print_pairs(questions)


@app.command("show")
def show(name: Name, as_json: Json = False) -> None:
    """Print the source of a bundled study."""
    from destage.sweeps import studies

    if as_json:
        print_json(studies.load(name).document)
    else:
        print_data(studies.text(name))


@app.command("run")
def run(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A bundled study; required unless --all is given.",
            autocompletion=complete_study_names,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Run all bundled studies.")] = False,
    store: Store = None,
    executor: Executor = "auto",
    workers: Workers = None,
    report: ReportFile = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            metavar="FILE",
            help="With --all: also write the headline figures to FILE as Markdown, and each document's "
            "figures to published/ beside it.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run bundled studies and compare them with published figures."""
    from destage.sweeps import studies

    if (name is None) != every:
        raise UsageError("usage.conflicting-options", "give either the name of a study or --all", "NAME")
    if name is None:
        if report is not None:
            message = "cannot be combined with --all, which writes each report to the store"
            raise UsageError("usage.conflicting-options", message, "--report")
        _run_all(store, executor, workers, page, quiet=quiet, as_json=as_json)
    elif page is not None:
        raise UsageError("usage.conflicting-options", "requires --all", "--page")
    else:
        run_study(studies.load(name), store, executor, workers, report, quiet=quiet, as_json=as_json)


def _run_all(
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
