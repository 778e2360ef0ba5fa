"""`destage workload`: workloads, bundled or imported from other tools."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from destage.cli.completion import complete_importable_files, complete_workloads
from destage.cli.options import Json, check_suffix, parse_duration, parse_size
from destage.cli.output import print_data, print_json, print_note, print_pairs, print_warning
from destage.errors import ConfigError, Issue, UsageError

app = typer.Typer(
    help="List, show, import and export workloads.", no_args_is_help=True, rich_markup_mode=None
)
_DOCUMENTS = (".yaml", ".yml", ".json")
_Workload = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE",
        help="A bundled workload; a workload, configuration or study in YAML; or what `workload import` "
        "reads.",
        autocompletion=complete_workloads,
    ),
]
_Test = Annotated[
    str | None,
    typer.Option("--test", metavar="NAME", help="Test of an imported file (default: the first)."),
]


@app.command("list")
def list_workloads(as_json: Json = False) -> None:
    """List the bundled workloads."""
    from destage.engine import catalog

    titles = {entry.name: entry.title for entry in catalog.entries("workloads")}
    print_json(titles) if as_json else print_pairs(titles)


@app.command("show")
def show(
    name: _Workload,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Plot the workload to FILE (.svg).")
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(
            "--duration",
            metavar="TIME",
            help="Duration of the generated requests, as in 10min (default: the workload's whole timeline).",
        ),
    ] = None,
    test: _Test = None,
    as_json: Json = False,
) -> None:
    """Show the requests that a workload issues.

    Prints its rate over time, request sizes, read/write mix, footprint and sources.
    """
    from destage.cli.workload_summary import describe_workload, summarize_profile
    from destage.engine.workload_profile import generate_profile

    if plot is not None:
        check_suffix(plot, "--plot", ".svg")
    seconds = None if duration is None else parse_duration(duration, "s", "--duration")
    facts, workload, folder = _find_workload(name, test)
    try:
        profile = generate_profile(workload, seconds=seconds, folder=folder)
    except ConfigError as error:
        raise ConfigError(error.issues, name) from error
    if plot is not None:
        from destage.queries.report.workload_plot import draw_workload

        plot.write_text(draw_workload(profile, facts["title"]), encoding="utf-8")
    if as_json:
        print_json({**facts, "workload": workload, "drawn": summarize_profile(profile)})
    else:
        lines = describe_workload(facts, workload, profile)
        print_data("".join(f"{line.rstrip()}\n" for line in lines))
    if plot is not None:
        print_note(f"plot written to {plot}")


@app.command("import")
def import_(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|COMMAND",
            help="A fio job file, an Iometer configuration, a DiskSpd script or profile, a Vdbench parameter "
            "file, a sysbench script, or a CrystalDiskMark result or settings; or a command of fio, "
            "DiskSpd or sysbench in quotes.",
            autocompletion=complete_importable_files,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the YAML to FILE instead of stdout.")
    ] = None,
    tool: Annotated[
        Literal["auto", "fio", "iometer", "diskspd", "vdbench", "sysbench", "crystaldiskmark"],
        typer.Option("--format", help="Tool that the file is of; auto detects it from the content."),
    ] = "auto",
    test: Annotated[
        str | None,
        typer.Option(
            "--test",
            "--spec",
            metavar="NAME",
            help="Test to import, such as an Iometer access specification (default: all).",
        ),
    ] = None,
    is_study: Annotated[
        bool,
        typer.Option(
            "--study",
            help="Write a study of one test, too; of a fio job file, with a point for each group of jobs "
            "that stonewall separates.",
        ),
    ] = False,
    on: Annotated[
        str | None,
        typer.Option(
            "--on", metavar="ARRAY", help="RAID level and disks of the study, as in raid5x8 or raid10x4."
        ),
    ] = None,
    disk: Annotated[
        str, typer.Option("--disk", metavar="NAME", help="Disk of --on, of the catalogue.")
    ] = "exos_x18",
    controller: Annotated[
        str, typer.Option("--controller", metavar="NAME", help="Controller of --on, of the catalogue.")
    ] = "megaraid_9560_8i",
    ignore_unknown: Annotated[
        bool,
        typer.Option(
            "--ignore-unknown", help="Skip options that cannot be simulated, with a warning for each."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Convert another tool's test to a workload in YAML.

    Several tests become a study. Comments in the output explain how each option was translated.
    """
    from destage.cli.imported_files import (
        choose_hardware,
        imported_as_json,
        list_warnings,
        make_study,
        read_tests,
    )
    from destage.tools.import_options import ImportOptions

    hardware = choose_hardware(on, disk, controller)
    options = ImportOptions(tool, test, is_study or bool(hardware), ignore_unknown)
    file, tests = read_tests(source, options)
    study = make_study(source, tests, hardware) if len(tests) > 1 or options.is_study else None
    text = tests[0].to_yaml() if study is None else study.to_yaml()
    if as_json:
        print_json(imported_as_json(tests, study))
    elif out is None:
        print_data(text)
    if out is not None:
        out.write_text(text, encoding="utf-8")
        count = f" of {len(tests)} tests" if len(tests) > 1 else ""
        print_note(f"{'workload' if study is None else 'study'}{count} written to {out}")
    if study is not None and not hardware:
        print_note("the study has no array; add `array:` to its scenario, or import with --on raid5x8")
    for warning in list_warnings(tests):
        print_warning(warning, file)


@app.command("export")
def export(
    name: _Workload,
    to: Annotated[
        Literal["fio", "diskspd"], typer.Option("--to", help="Tool that issues the workload's requests.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the job to FILE instead of stdout.")
    ] = None,
    target: Annotated[
        str,
        typer.Option("--target", metavar="PATH", help="File or disk to test; writes destroy its contents."),
    ] = "destage.dat",
    size: Annotated[
        str | None,
        typer.Option("--size", metavar="SIZE", help="Size of the target, for a workload of the whole array."),
    ] = None,
    duration: Annotated[str, typer.Option("--duration", metavar="TIME", help="Length of the test.")] = "60s",
    test: _Test = None,
    as_json: Json = False,
) -> None:
    """Write another tool's job that issues a workload's requests.

    The job runs on real hardware. A part that the tool cannot express is an error; comments say what
    is only similar.
    """
    from destage.engine import workload_profile
    from destage.tools.export_report import Target
    from destage.tools.registry import find_tool

    _, workload, _ = _find_workload(name, test)
    bytes_ = None if size is None else parse_size(size, "--size")
    seconds = max(1, round(parse_duration(duration, "s", "--duration")))
    try:
        canonical = workload_profile.canonical_workload(workload)
    except ConfigError as error:
        raise ConfigError(error.issues, name) from error
    text, notes = find_tool(to).open_part("export").write(canonical, Target(target, bytes_, seconds), name)
    if as_json:
        print_json({"tool": to, "job": text, "notes": notes})
    elif out is None:
        print_data(text)
    if out is not None:
        out.write_text(text, encoding="utf-8")
        print_note(f"job written to {out}")
    for note in notes:
        print_note(note)


def _find_workload(name: str, test: str | None = None) -> tuple[dict[str, Any], dict[str, Any], Path]:
    """Return what is known of a workload, the workload without `use`, and the folder of its files."""
    from destage.engine import catalog
    from destage.tools.registry import is_command

    known = {entry.name: entry for entry in catalog.entries("workloads")}
    if name in known:
        entry = known[name]
        facts = {
            "name": name,
            "title": entry.title,
            "claim": entry.claim,
            "source": entry.source,
            "typical": list(entry.unverified),
            "assumed": list(entry.assumed),
            "note": entry.note,
        }
        return facts, dict(entry.config), Path()
    file = Path(name)
    if not file.exists() and is_command(name):
        return _import_workload(name, file, test)
    if not file.exists():
        from destage.spec.near_names import suggest_names

        message = f"{name!r} is neither a file nor a bundled workload{suggest_names(name, known)}"
        message += "; `destage workload list` lists all"
        raise UsageError("usage.unknown-name", message, "NAME")
    if file.suffix in _DOCUMENTS:
        workload = _read_workload(file)
        return {"name": name, "title": file.stem}, workload, file.parent
    return _import_workload(name, file, test)


def _import_workload(name: str, file: Path, test: str | None) -> tuple[dict[str, Any], dict[str, Any], Path]:
    """Return facts, workload and folder of a test in another tool's file, the first by default."""
    from destage.cli.imported_files import list_warnings, read_tests
    from destage.tools.import_options import ImportOptions

    source, tests = read_tests(name, ImportOptions(test=test))
    imported = tests[0]
    notes = [*map(str, list_warnings([imported]))]
    if len(tests) > 1:
        notes.insert(0, f"the first of {len(tests)} tests, {imported.name!r}; --test NAME shows another")
    title = f"{file.stem} ({imported.tool})" if source == name else imported.tool
    facts = {"name": name, "title": title, "note": "; ".join(notes) or None}
    return facts, dict(imported.workload), file.parent if source == name else Path()


def _read_workload(file: Path) -> dict[str, Any]:
    """Return the workload in a YAML file that holds a workload alone, a configuration, or a study."""
    from destage.cli.imported_files import read_text
    from destage.engine import catalog
    from destage.spec.documents import parse_document
    from destage.spec.source import Source
    from destage.sweeps.space.bare_numbers import find_bare_numbers, is_json

    text = read_text(file)
    document, within = parse_document(text, str(file)), ""
    if isinstance(document, dict) and isinstance(document.get("scenario"), dict):
        document, within = document["scenario"], "scenario"
    if isinstance(document, dict) and "streams" in document:
        document = {"workload": document}
    if not isinstance(document, dict) or not isinstance(document.get("workload"), dict):
        message = "missing; a workload is a table under `workload:`, or under `scenario.workload:` in a study"
        raise ConfigError([Issue("scenario.missing-key", "workload", message)], str(file))
    bare = [] if is_json(text) else find_bare_numbers({"workload": document["workload"]})
    if bare:
        raise Source(str(file), text, within).error(bare)
    resolved: dict[str, Any] = catalog.resolve({"workload": document["workload"]})["workload"]
    streams = resolved.get("streams")
    if not isinstance(streams, list):
        issue = Issue("scenario.wrong-type", "workload.streams", "must be a list of streams", streams)
        raise ConfigError([issue], str(file))
    return resolved
