"""`destage calibrate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.parameters.shared_options import (
    Catalog,
    Executor,
    Json,
    Quiet,
    RayAddress,
    ReportFile,
    Spec,
    Store,
    Workers,
    use_catalog,
)
from destage.cli.printed_results.finished_sweep import choose_executor, run_study
from destage.cli.terminal.output import print_note
from destage.errors import UsageError

if TYPE_CHECKING:
    from destage.store import Location


def calibrate(
    spec: Spec,
    store: Store = None,
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws",
            min=1,
            max=10_000,
            help="Write a study with this many draws of the posterior as its points, to --out.",
        ),
    ] = None,
    fit: Annotated[
        str | None,
        typer.Option("--fit", metavar="NAME", help="Fit that --draws draws from (default: the last one)."),
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            "--figure",
            metavar="NAME",
            help="Figure whose configuration the points of --draws have (default: that of the scenario).",
        ),
    ] = None,
    measured: Annotated[
        str | None,
        typer.Option(
            "--measured",
            metavar="SET",
            help="Write a calibration of SPEC, a study of tests, on a measured set of the store, to --out.",
        ),
    ] = None,
    unknown: Annotated[
        list[str] | None,
        typer.Option(
            "--unknown",
            metavar="PATH=FORM:VALUES",
            help="With --measured: what is unknown, as in array.disks=integer:2,8; repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The study that --draws or --measured writes."),
    ] = None,
    executor: Executor = "auto",
    workers: Workers = None,
    ray_address: RayAddress = None,
    report: ReportFile = None,
    quiet: Quiet = False,
    catalog_files: Catalog = None,
    as_json: Json = False,
) -> None:
    """Fit unknowns to measured figures and predict others.

    Predictions have odds. The study has the key `calibrate`: unknowns with priors, and figures with their
    values. Runs that are already in the store are not executed again, so that a stopped calibration goes on.
    """
    use_catalog(catalog_files)
    from destage import sweeps

    if (draws is None and measured is None) != (out is None):
        raise UsageError("usage.missing-value", "needs --draws or --measured, and these need it", "--out")
    if out is not None and out.exists():
        raise UsageError("usage.file-exists", f"{out} exists", "--out")
    if measured is not None and out is not None:
        _write_calibration(spec, store, measured, unknown or [], out)
        return
    executor = choose_executor(ray_address, executor)
    study = sweeps.load_study(spec)
    if "calibrate" not in study.document:
        message = "has no calibrate; run it with `destage run`"
        raise UsageError("usage.not-a-calibration", message, spec)
    if draws is not None:
        from destage.queries.findings.calibrated_study import check_drawable

        check_drawable(study.document["calibrate"], figure)
    try:
        run_study(study, store, executor, workers, report, quiet=quiet, as_json=as_json)
    except typer.Exit as ended:
        if not ended.exit_code and draws is not None and out is not None:
            _write_draws(sweeps.sweep_path(study, store), draws, fit, figure, out)
        raise


def _write_calibration(
    spec: str, store: "Location | None", measured: str, unknowns: list[str], out: Path
) -> None:
    """Write a calibration of a study of tests, after a check that it is valid."""
    import yaml

    from destage import sweeps
    from destage.measured.sets import read_set
    from destage.store.state.lookup import default_store
    from destage.sweeps.calibration.measured_figures import make_calibration
    from destage.sweeps.reading.expansion import expand

    if not unknowns:
        raise UsageError("usage.missing-value", "--measured needs what is unknown", "--unknown")
    lines = read_set(default_store() if store is None else store, measured).lines
    document = make_calibration(sweeps.load_fields(spec), lines, unknowns)
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    expand(sweeps.parse_study(text, name=str(out), folder=out.parent))
    out.write_text(text, encoding="utf-8")
    fitted = sum("value" in figure for figure in document["calibrate"]["figures"].values())
    print_note(f"calibration on {fitted} figures written to {out}; run it with: destage calibrate {out}")


def _write_draws(sweep: "Location", draws: int, fit: str | None, figure: str | None, out: Path) -> None:
    from destage.queries import open_session
    from destage.queries.findings.calibrated_study import write_drawn_study

    with open_session(sweep) as session:
        out.write_text(write_drawn_study(session, draws, fit, figure), encoding="utf-8")
    print_note(f"study of {draws} draws written to {out}")
