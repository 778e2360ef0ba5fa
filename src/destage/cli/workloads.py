"""The verbs of workloads: list, show, import."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from destage.cli.output import Json, print_data, print_json, print_pairs, say, warn
from destage.errors import ConfigError, Issue

if TYPE_CHECKING:
    from destage.importers.imported_workload import Imported

app = typer.Typer(
    help="Workloads: presets, other tools' files, and what a load does.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_DOCUMENTS = (".yaml", ".yml", ".json")


@app.command("list")
def list_workloads(as_json: Json = False) -> None:
    """List the presets."""
    from destage.engine import catalog

    titles = {entry.name: entry.title for entry in catalog.entries("workloads")}
    print_json(titles) if as_json else print_pairs(titles)


@app.command("show")
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A preset; or a workload, a configuration or a study in YAML; or .fio, .icf.",
        ),
    ],
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw it as SVG into this file.", show_default=False),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(
            "--duration", metavar="TIME", help="Draw so much of it, as in 10min.", show_default=False
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what a workload does: rate over time, sizes, mix, footprint, places; its sources and doubts."""
    from destage.cli.workload_sheet import figures, lines
    from destage.engine.workload_profile import draw_profile
    from destage.spec import quantities

    if plot is not None and plot.suffix != ".svg":
        raise ConfigError(f"--plot {plot}: the picture is drawn as SVG; name it with .svg")
    facts, workload, folder = _find(name)
    seconds = None if duration is None else float(quantities.parse(duration, "s"))
    if seconds is not None and seconds <= 0:
        raise ConfigError(f"--duration {duration}: must be more than 0")
    try:
        profile = draw_profile(workload, seconds=seconds, folder=folder)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error.message}", error.issues) from error
    if plot is not None:
        from destage.queries.report.workload_plot import draw_workload

        plot.write_text(draw_workload(profile, facts["title"]), encoding="utf-8")
    if as_json:
        print_json({**facts, "workload": workload, "drawn": figures(profile)})
    else:
        print_data("".join(f"{line.rstrip()}\n" for line in lines(facts, workload, profile)))
    if plot is not None:
        say(f"plot in {plot}")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A fio job file or an Iometer configuration.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the YAML to this file instead of stdout.", show_default=False),
    ] = None,
    tool: Annotated[
        Literal["auto", "fio", "iometer"],
        typer.Option("--format", help="Whose file it is; auto looks into it."),
    ] = "auto",
    spec: Annotated[
        str | None,
        typer.Option(
            "--spec", metavar="NAME", help="The Iometer access specification to take.", show_default=False
        ),
    ] = None,
    ignore_unknown: Annotated[
        bool,
        typer.Option(
            "--ignore-unknown", help="Leave out fio options that cannot be simulated, and list them."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Turn another tool's file into a workload, with comments on what became of each part."""
    imported = _read_foreign(file, tool, spec, ignore_unknown=ignore_unknown)
    if as_json:
        shown = {
            "tool": imported.tool,
            "workload": imported.workload,
            "run": imported.run,
            "mapping": imported.mapping,
            "remarks": imported.remarks,
            "warnings": imported.warnings,
        }
        print_json(shown)
    elif out is None:
        print_data(imported.to_yaml())
    if out is not None:
        out.write_text(imported.to_yaml(), encoding="utf-8")
        say(f"workload in {out}")
    for warning in imported.warnings:
        warn(warning)
    for remark in imported.remarks:
        if remark.startswith("Left out"):
            warn(remark)


def _read_foreign(
    file: Path, tool: str = "auto", spec: str | None = None, *, ignore_unknown: bool = False
) -> "Imported":
    import os

    from destage.engine import workload_profile
    from destage.importers import fio, iometer

    text = _read(file)
    is_iometer = iometer.is_configuration(text) if tool == "auto" else tool == "iometer"
    if is_iometer:
        imported = iometer.read_access_specification(text, str(file), name=spec)
    else:
        imported = fio.read_job_file(text, str(file), environment=os.environ, ignore_unknown=ignore_unknown)
    try:
        workload_profile.check(imported.workload)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error.message}", error.issues) from error
    return imported


def _read(file: Path) -> str:
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Iometer writes the code page of its Windows.
        return raw.decode("latin-1")


def _find(name: str) -> tuple[dict[str, Any], dict[str, Any], Path]:
    """What is known of a workload, the workload without `use`, and the folder of its files."""
    from destage.engine import catalog

    known = {entry.name: entry for entry in catalog.entries("workloads")}
    if name in known:
        entry = known[name]
        facts = {
            "name": name,
            "title": entry.title,
            "source": entry.source,
            "typical": list(entry.unverified),
            "assumed": list(entry.assumed),
            "note": entry.note,
        }
        return facts, dict(entry.config), Path()
    file = Path(name)
    if not file.exists():
        raise ConfigError(f"{name}: neither a file nor a preset; {_presets(name, list(known))}")
    if file.suffix in _DOCUMENTS:
        workload = _workload_of(file)
        return {"name": name, "title": file.stem}, workload, file.parent
    imported = _read_foreign(file)
    facts = {
        "name": name,
        "title": f"{file.stem} ({imported.tool})",
        "note": " ".join(imported.warnings) or None,
    }
    return facts, dict(imported.workload), file.parent


def _presets(name: str, known: list[str]) -> str:
    from destage.spec.validation import suggest

    return f"{suggest(name, known).lstrip('; ') or 'there are'} presets: {', '.join(known)}"


def _workload_of(file: Path) -> dict[str, Any]:
    """The workload of a YAML file: a workload alone, a configuration, or a study's."""
    from destage.engine import catalog
    from destage.spec.documents import parse_document

    document = parse_document(_read(file), str(file))
    if isinstance(document, dict) and isinstance(document.get("scenario"), dict):
        document = document["scenario"]
    if isinstance(document, dict) and "streams" in document:
        document = {"workload": document}
    if not isinstance(document, dict) or not isinstance(document.get("workload"), dict):
        raise ConfigError(
            f"{file}: has no workload; it stands under `workload:`, or under `scenario:` of a study"
        )
    resolved: dict[str, Any] = catalog.resolve({"workload": document["workload"]})["workload"]
    if not isinstance(resolved.get("streams"), list):
        issue = Issue("workload.streams", resolved.get("streams"), "must be a list of streams")
        raise ConfigError(f"{file}: the workload cannot be shown", (issue,))
    return resolved
