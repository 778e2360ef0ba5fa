"""`destage workload`: workloads, bundled or imported from other tools."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from destage.cli.completion import complete_workloads
from destage.cli.options import Json, check_suffix, parse_duration, read_file
from destage.cli.output import issue_as_json, print_data, print_json, print_note, print_pairs, print_warning
from destage.errors import ConfigError, Issue, UsageError

if TYPE_CHECKING:
    from destage.importers.imported_workload import ImportedWorkload

app = typer.Typer(help="List, show and import workloads.", no_args_is_help=True, rich_markup_mode=None)
_DOCUMENTS = (".yaml", ".yml", ".json")


@app.command("list")
def list_workloads(as_json: Json = False) -> None:
    """List the bundled workloads."""
    from destage.engine import catalog

    titles = {entry.name: entry.title for entry in catalog.entries("workloads")}
    print_json(titles) if as_json else print_pairs(titles)


@app.command("show")
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A bundled workload; a workload, configuration or study in YAML; or a .fio or .icf file.",
            autocompletion=complete_workloads,
        ),
    ],
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
    as_json: Json = False,
) -> None:
    """Show a workload's rate over time, request sizes, read/write mix, footprint and sources."""
    from destage.cli.workload_summary import describe_workload, summarize_profile
    from destage.engine.workload_profile import generate_profile

    if plot is not None:
        check_suffix(plot, "--plot", ".svg")
    seconds = None if duration is None else parse_duration(duration, "s", "--duration")
    facts, workload, folder = _find_workload(name)
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
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A fio job file or an Iometer configuration.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the YAML to FILE instead of stdout.")
    ] = None,
    tool: Annotated[
        Literal["auto", "fio", "iometer"],
        typer.Option("--format", help="Format of the file; auto detects it from the content."),
    ] = "auto",
    spec: Annotated[
        str | None,
        typer.Option(
            "--spec",
            metavar="NAME",
            help="Iometer access specification to import (default: the only one, or the assigned one).",
        ),
    ] = None,
    ignore_unknown: Annotated[
        bool,
        typer.Option(
            "--ignore-unknown", help="Skip fio options that cannot be simulated, with a warning for each."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Convert a fio job file or an Iometer configuration to a workload in YAML.

    Comments in the output explain how each option was translated.
    """
    imported = _import_file(file, tool, spec, ignore_unknown=ignore_unknown)
    if as_json:
        shown = {
            "tool": imported.tool,
            "workload": imported.workload,
            "run": imported.run,
            "mapping": imported.mapping,
            "remarks": imported.remarks,
            "warnings": [issue_as_json(warning, str(file)) for warning in imported.warnings],
        }
        print_json(shown)
    elif out is None:
        print_data(imported.to_yaml())
    if out is not None:
        out.write_text(imported.to_yaml(), encoding="utf-8")
        print_note(f"workload written to {out}")
    for warning in imported.warnings:
        print_warning(warning, str(file))


def _import_file(
    file: Path, tool: str = "auto", spec: str | None = None, *, ignore_unknown: bool = False
) -> "ImportedWorkload":
    import os

    from destage.engine import workload_profile
    from destage.importers import fio, iometer

    text = _read_text(file)
    is_iometer = iometer.is_configuration(text) if tool == "auto" else tool == "iometer"
    if is_iometer:
        imported = iometer.read_access_specification(text, str(file), name=spec)
    else:
        imported = fio.read_job_file(text, str(file), environment=os.environ, ignore_unknown=ignore_unknown)
    try:
        workload_profile.check_workload(imported.workload)
    except ConfigError as error:
        raise ConfigError(error.issues, str(file)) from error
    return imported


def _read_text(file: Path) -> str:
    raw = read_file(file)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Iometer writes the code page of its Windows.
        return raw.decode("latin-1")


def _find_workload(name: str) -> tuple[dict[str, Any], dict[str, Any], Path]:
    """Return what is known of a workload, the workload without `use`, and the folder of its files."""
    from destage.engine import catalog

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
    if not file.exists():
        from destage.spec.near_names import suggest_names

        message = f"{name!r} is neither a file nor a bundled workload{suggest_names(name, known)}"
        message += "; `destage workload list` lists all"
        raise UsageError("usage.unknown-name", message, "NAME")
    if file.suffix in _DOCUMENTS:
        workload = _read_workload(file)
        return {"name": name, "title": file.stem}, workload, file.parent
    imported = _import_file(file)
    facts = {
        "name": name,
        "title": f"{file.stem} ({imported.tool})",
        "note": "; ".join(map(str, imported.warnings)) or None,
    }
    return facts, dict(imported.workload), file.parent


def _read_workload(file: Path) -> dict[str, Any]:
    """Return the workload in a YAML file that holds a workload alone, a configuration, or a study."""
    from destage.engine import catalog
    from destage.spec.documents import parse_document
    from destage.spec.source import Source
    from destage.sweeps.bare_numbers import find_bare_numbers, is_json

    text = _read_text(file)
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
