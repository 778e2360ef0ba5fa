"""`destage run`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.parameters.completion import complete_targets
from destage.cli.parameters.shared_options import (
    Catalog,
    Executor,
    Json,
    Quiet,
    RayAddress,
    ReportFile,
    Store,
    Workers,
    declare_plot,
    reject_options,
    use_catalog,
)
from destage.cli.printed_results.finished_sweep import choose_executor, run_study
from destage.errors import ConfigError, Issue, StoreError

if TYPE_CHECKING:
    from destage.store import Location
    from destage.sweeps import Study

_DOCUMENTS = {".yaml", ".yml"}


def run(
    context: typer.Context,
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="A study (a YAML file or the name of a bundled study), or a sweep of the store, whose "
            "remaining runs are executed.",
            autocompletion=complete_targets,
        ),
    ],
    store: Store = None,
    executor: Executor = "auto",
    workers: Workers = None,
    ray_address: RayAddress = None,
    report: ReportFile = None,
    is_plan: Annotated[
        bool,
        typer.Option("--plan", help="Show the runs and how long they will take, and write nothing."),
    ] = False,
    with_estimate: Annotated[
        bool,
        typer.Option(
            "--estimate/--no-estimate",
            help="With --plan: estimate the time, if needed with a few pilot runs.",
        ),
    ] = True,
    plot: Annotated[
        Path | None, declare_plot("With --plan: plot the points over two axes to FILE (.svg).")
    ] = None,
    axes: Annotated[
        str | None,
        typer.Option(
            "--axes",
            metavar="X,Y",
            help="With --plan: the two axes of the plot (default: the first two with numbers, sampled ones "
            "first); without --plot, plot them as text.",
        ),
    ] = None,
    quiet: Quiet = False,
    catalog_files: Catalog = None,
    as_json: Json = False,
) -> None:
    """Run a study, print its answers and write its report.

    Runs that are already in the store are not executed again, and the report of a sweep that has not changed
    is kept.
    """
    use_catalog(catalog_files)
    if is_plan:
        from destage.cli.commands.run.plan import print_plan

        reject_options(context, "cannot be combined with --plan", "--report", "--ray-address", "--workers")
        study, place = _read_study(_find_target(target, store), store)
        print_plan(study, place, axes, plot, with_estimate=with_estimate, as_json=as_json)
        return
    reject_options(context, "requires --plan", "--plot", "--axes", "--estimate")
    executor = choose_executor(ray_address, executor)
    run_study(_find_target(target, store), store, executor, workers, report, quiet=quiet, as_json=as_json)


def _find_target(target: str, store: "Location | None") -> "Study | Location":
    """Return a study by its file or name, else a sweep of the store."""
    from destage import sweeps
    from destage.spec.near_names import suggest
    from destage.store import find_sweep, list_sweeps
    from destage.sweeps import studies

    path = Path(target)
    if path.suffix in _DOCUMENTS or (path.exists() and not path.is_dir()) or target in studies.names():
        return sweeps.load_study(target)
    try:
        return find_sweep(target, store)
    except StoreError as error:
        if error.code != "store.unknown-sweep" or "://" in target or path.is_dir():
            raise
        names = [*studies.names(), *(path.name for path in list_sweeps(store))]
        message = (
            f"neither a file, a bundled study nor a sweep in the store{suggest(target, names)}; "
            "`destage catalog list studies` and `destage status` list them"
        )
        raise ConfigError([Issue("study.not-found", target, message)]) from None


def _read_study(target: "Study | Location", store: "Location | None") -> "tuple[Study, Location | None]":
    """Return the study of a target and the store of its sweep."""
    from destage import sweeps
    from destage.store import open_sweep

    if isinstance(target, sweeps.Study):
        return target, store
    study = sweeps.parse_study(open_sweep(target).study_text, name=str(target), is_stored=True)
    return study, target.absolute().parent.parent
