"""The verbs of bundled studies: list, show, run."""

from pathlib import Path
from typing import Annotated

import typer

from destage.cli.every_study import run_every_study
from destage.cli.options import Executor, Quiet, ReportFile, Store, Workers
from destage.cli.output import Json, print_data, print_json, print_pairs
from destage.cli.sweeping import run_study

app = typer.Typer(help="The studies that come with Destage.", no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME", help="A bundled study.")]


@app.command("list")
def list_studies(as_json: Json = False) -> None:
    """List the bundled studies and the question that each answers."""
    from destage.sweeps import studies

    questions = {name: studies.question(name) for name in studies.names()}
    print_json(questions) if as_json else print_pairs(questions)


@app.command("show")
def show(name: Name, as_json: Json = False) -> None:
    """Print a bundled study as it is written."""
    from destage.sweeps import studies

    if as_json:
        print_json(studies.load(name).document)
    else:
        print_data(studies.text(name))


@app.command("run")
def run(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A bundled study; --all stands for every one.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Run all bundled studies.")] = False,
    store: Store = None,
    executor: Executor = "auto",
    workers: Workers = None,
    report: ReportFile = None,
    page: Annotated[
        Path | None,
        typer.Option("--page", help="With --all: write the table to this Markdown file.", show_default=False),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run a bundled study, or all; print what they answer, and published figures beside ours."""
    from destage.sweeps import studies

    if (name is None) != every:
        raise typer.BadParameter("give the name of one study, or --all")
    if name is not None:
        if page is not None:
            raise typer.BadParameter("--page goes with --all")
        run_study(studies.load(name), store, executor, workers, report, quiet=quiet, as_json=as_json)
        return
    if report is not None:
        raise typer.BadParameter("--report goes with one study; with --all each has its own in the store")
    run_every_study(store, executor, workers, page, quiet=quiet, as_json=as_json)
