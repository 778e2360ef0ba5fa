"""`destage calibrate`."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.parameters.completion import complete_studies
from destage.cli.parameters.shared_options import (
    Catalog,
    Executor,
    Json,
    Quiet,
    RayAddress,
    ReportFile,
    Store,
    Workers,
    choose_store,
    declare_conditions,
    reject_options,
    use_catalog,
)
from destage.cli.printed_results.finished_sweep import choose_executor, run_study
from destage.cli.terminal.output import print_note, print_warning
from destage.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from destage.store import Location
    from destage.sweeps import Study

_WITH = "--predict-with"
_ANY_LOAD = {"use": "vdi"}
"""A load with which a changed array is validated."""
_FIGURE = "figure"
"""The column of conditions that has the names of the figures in the answer."""
_HARDWARE = ("catalog", "controller", "array", "arrays", "host")
"""The fields of a configuration that describe what was measured."""


def calibrate(
    context: typer.Context,
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC|SET",
            help="A study: a YAML file or the name of a bundled study. With --on: a measured set.",
            autocompletion=complete_studies,
        ),
    ],
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="ARRAY|FILE",
            help="Calibrate on SET: the array that was measured, as in raid5x8, or a configuration or study "
            "that has it.",
        ),
    ] = None,
    disk: Annotated[
        str, typer.Option("--disk", metavar="NAME", help="Disk of --on raid5x8, of the catalogue.")
    ] = "exos_x18",
    controller: Annotated[
        str,
        typer.Option("--controller", metavar="NAME", help="Controller of --on raid5x8, of the catalogue."),
    ] = "megaraid_9560_8i",
    where: Annotated[
        str | None,
        declare_conditions(
            "--where", "With --on: lines to fit on, by figure or another column (default: all)."
        ),
    ] = None,
    predict: Annotated[
        list[str] | None,
        typer.Option(
            "--predict",
            metavar="FILE|COMMAND",
            help="With --on: predict the tests of a file that `workload import` reads; repeatable.",
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            "--test",
            metavar="NAME",
            help="Test or device of the files of --predict (default: all that they have).",
        ),
    ] = None,
    predict_with: Annotated[
        list[str] | None,
        typer.Option(
            "--predict-with",
            metavar="PATH=VALUE",
            help="With --on: predict the tests of --predict, or all loads without it, after a change of the "
            "array too, as in controller.cache.capacity=1GiB; repeatable, all changes at once.",
        ),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option("--known", metavar="PATH", help="With --on: is not unknown; repeatable."),
    ] = None,
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
            help="Write a calibration of SPEC, a study of tests, on a measured set of the store, to --out: "
            "with the whole load of each test, of which results have a part.",
        ),
    ] = None,
    unknown: Annotated[
        list[str] | None,
        typer.Option(
            "--unknown",
            metavar="PATH=FORM:VALUES",
            help="With --measured or --on: what is unknown, as in array.disks=integer:2,8; repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Study to write: with --draws at the end, with --measured or --on instead of running it.",
        ),
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

    Predictions have odds. A study has the key `calibrate`: unknowns with priors, and figures with their
    values; --on makes it of a measured set and the usual unknowns of the array. Runs that are already in the
    store are not executed again, so that a stopped calibration goes on.
    """
    use_catalog(catalog_files)
    from destage import sweeps
    from destage.sweeps.reading.expansion import expand

    _check_options(context, on is not None, draws is not None or measured is not None, out)
    if measured is not None and out is not None:
        _write_calibration(spec, store, measured, unknown or [], out)
        return
    executor = choose_executor(ray_address, executor)
    if on is not None:
        hardware = _read_hardware(on, disk, controller)
        changed = _read_changes(hardware, predict_with or [])
        predicted = _read_tests(predict or [], test)
        text = _make_text(spec, store, hardware, where, predicted, changed, unknown or [], known or [])
        study = sweeps.parse_study(text, name=str(out or spec))
        print_note(f"array: {on if Path(on).is_file() else f'{on}, disk {disk}, controller {controller}'}")
        _print_unknowns(study)
        if out is not None:
            expand(study)  # which raises what would stop the run
            _check_new(out)
            out.write_text(text, encoding="utf-8")
            print_note(f"study written to {out}; run it with: destage calibrate {out}")
            return
    else:
        study = _load_study(spec, store)
    if "calibrate" not in study.document:
        message = "has no calibrate; run it with `destage run`"
        raise UsageError("usage.not-a-calibration", message, spec)
    if draws is not None:
        from destage.queries.findings.calibrated_study import check_drawable

        check_drawable(study.document["calibrate"], figure)
        _check_new(out)
    try:
        run_study(study, store, executor, workers, report, quiet=quiet, as_json=as_json)
    except typer.Exit as ended:
        if not ended.exit_code and draws is not None and out is not None:
            _write_draws(sweeps.sweep_path(study, store), draws, fit, figure, out)
        raise


def _check_options(context: typer.Context, is_on: bool, is_written: bool, out: Path | None) -> None:
    """Reject options that do not go together.

    Args:
        is_on: Whether a measured set is calibrated.
    """
    if not is_on:
        only_on = ("--disk", "--controller", "--where", "--predict", "--predict-with", "--known")
        reject_options(context, "requires --on", *only_on)
    elif is_written:
        raise UsageError("usage.conflicting-options", "cannot be combined with --measured or --draws", "--on")
    if not context.params["predict"]:
        reject_options(context, "requires --predict, whose tests it names", "--test")
    if not is_on and is_written != (out is not None):
        raise UsageError("usage.missing-value", "needs --draws or --measured, and these need it", "--out")


def _check_new(out: Path | None) -> None:
    """Raise an error if the file of `--out` exists; after all other mistakes, and before anything runs."""
    if out is not None and out.exists():
        raise UsageError("usage.file-exists", f"{out} exists", "--out")


def _load_study(spec: str, store: "Location | None") -> "Study":
    """Return a study of a file or a bundled one; a measured set alone is an error at `--on`."""
    from destage import sweeps
    from destage.measured.sets import list_sets

    try:
        return sweeps.load_study(spec)
    except ConfigError as error:
        is_unknown = error.issues[0].code == "study.not-found"
        if not is_unknown or spec not in list_sets(choose_store(store)):
            raise
        message = f"missing; {spec} is a measured set, and needs the array that was measured, as in raid5x8"
        raise UsageError("usage.missing-argument", message, "--on") from None


def _write_calibration(
    spec: str, store: "Location | None", measured: str, unknowns: list[str], out: Path
) -> None:
    """Write a calibration of a study of tests, after a check that it is valid."""
    import yaml

    from destage import sweeps
    from destage.measured.sets import read_set
    from destage.sweeps.calibration.measured_figures import make_calibration
    from destage.sweeps.reading.expansion import expand

    if not unknowns:
        raise UsageError("usage.missing-value", "--measured needs what is unknown", "--unknown")
    lines = read_set(choose_store(store), measured).lines
    document = make_calibration(sweeps.load_fields(spec), lines, unknowns)
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    expand(sweeps.parse_study(text, name=str(out), folder=out.parent))
    _check_new(out)
    out.write_text(text, encoding="utf-8")
    fitted = sum("value" in figure for figure in document["calibrate"]["figures"].values())
    print_note(f"calibration on {fitted} figures written to {out}; run it with: destage calibrate {out}")


def _write_draws(sweep: "Location", draws: int, fit: str | None, figure: str | None, out: Path) -> None:
    from destage.queries import open_session
    from destage.queries.findings.calibrated_study import write_drawn_study

    with open_session(sweep) as session:
        out.write_text(write_drawn_study(session, draws, fit, figure), encoding="utf-8")
    print_note(f"study of {draws} draws written to {out}")


def _read_hardware(on: str, disk: str, controller: str) -> dict[str, Any]:
    """Return the tables of a scenario beside its load, of an array in one word or a file that has it."""
    from destage.cli.parameters.imported_files import choose_hardware
    from destage.cli.parameters.shared_options import read_file
    from destage.spec.documents import parse_document
    from destage.sweeps.keys.own_parts import bind_parts

    file = Path(on)
    if not file.is_file():
        return choose_hardware(on, disk, controller)
    document: Any = parse_document(read_file(file, "--on"), on)
    scenario = document.get("scenario", document) if isinstance(document, dict) else {}
    found = {name: scenario[name] for name in _HARDWARE if name in scenario}
    if not {"array", "arrays"} & found.keys():
        raise UsageError("usage.bad-array", f"{on} has no array", "--on")
    return bind_parts(found, file.parent)


def _read_changes(hardware: dict[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Return the values that `--predict-with` gives, by path."""
    from destage import engine
    from destage.cli.parameters.scenario_file import assign_field
    from destage.spec.documents import value_at
    from destage.sweeps.space.parameters import explain_bare_number, explain_unknown, find_parameter

    after = copy.deepcopy(hardware)
    paths = [assign_field(after, text, _WITH) for text in texts]
    for path in paths:
        if why := explain_unknown(path):
            raise UsageError("usage.bad-assignment", f"{path}: {why}", _WITH)
        # Otherwise each changed figure of the study would have the mistake.
        parameter = find_parameter(path)
        if why := explain_bare_number(value_at(after, path), parameter.unit, parameter.suffix):
            raise UsageError("usage.bad-quantity", f"{path}: {why}", _WITH)
    # Of a mistake, a study would have one for each changed figure.
    mistakes = engine.validate({**after, "workload": _ANY_LOAD})
    if issues := [issue for issue in mistakes if issue.place in paths]:
        raise ConfigError([replace(issue, place=f"{_WITH} {issue.place}") for issue in issues])
    return {path: value_at(after, path) for path in paths}


def _make_text(
    name: str,
    store: "Location | None",
    hardware: dict[str, Any],
    where: str | None,
    predicted: dict[str, dict[str, Any]],
    changed: dict[str, Any],
    unknowns: Sequence[str],
    known: Sequence[str],
) -> str:
    """Return a calibration of a measured set as YAML.

    Args:
        where: The condition of the lines to fit on, over their columns and the names of their figures.
        predicted: Streams to predict, by the names of their tests.
        changed: Values of the array with which the streams are predicted too, or else all loads, by path.
    """
    import pyarrow as pa
    import yaml

    from destage.measured.sets import LINE, as_lines, read_table
    from destage.sql import filter_rows
    from destage.sweeps.calibration.measured_figures import read_prior
    from destage.sweeps.calibration.measured_study import make_measured_study, name_figures

    table = read_table(choose_store(store), name)
    lines = as_lines(table)
    names = name_figures(lines)
    named = table.sort_by(LINE).append_column(_FIGURE, pa.array(names, pa.string()))
    chosen = set(names if where is None else filter_rows(named, where, place="--where")[_FIGURE].to_pylist())
    if where is not None and not chosen:
        raise UsageError("usage.bad-value", f"{where}: no line of {name} meets it", "--where")
    document = make_measured_study(
        name,
        {label: line for label, line in zip(names, lines, strict=True) if label in chosen},
        hardware,
        held={label: line for label, line in zip(names, lines, strict=True) if label not in chosen},
        predicted=predicted,
        changed=changed,
        unknowns=dict(map(read_prior, unknowns)),
        known=known,
    )
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)


def _read_tests(sources: Sequence[str], only: str | None) -> dict[str, dict[str, Any]]:
    """Return the streams of the tests to predict, by their names, and print the warnings of their files.

    Args:
        only: The only test to predict; None for all.
    """
    from destage.cli.parameters.imported_files import list_warnings, read_tests
    from destage.tools.imported_workload import ImportOptions

    found: dict[str, dict[str, Any]] = {}
    for source in sources:
        name, tests = read_tests(source, ImportOptions("auto", only, True, False), "--predict")
        print_warning(*list_warnings(tests), source=name)
        for test in tests:
            streams = test.workload["streams"]
            if len(streams) != 1:
                message = f"test {test.name} has {len(streams)} streams; only tests of one can be predicted"
                raise UsageError("usage.bad-value", message, "--predict")
            found[test.name] = dict(streams[0])
    return found


def _print_unknowns(study: "Study") -> None:
    """Print what the calibration takes as unknown."""
    from destage.queries.findings.calibration_answer import format_prior
    from destage.sweeps.space.parameters import explain_unknown, find_parameter

    texts = []
    for path, prior in study.document["calibrate"]["unknowns"].items():
        unit = None if explain_unknown(path) else find_parameter(path).unit
        texts.append(f"{path}: {format_prior(prior, unit)}")
    print_note("unknown, with --unknown and --known to change it:\n  " + "\n  ".join(texts))
