"""`destage catalog list` and `show`: the entries of each kind, and the requests of a workload."""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from destage.cli.commands.catalog.copy import describe_examples, find_example
from destage.cli.parameters.completion import complete_workloads, quietly
from destage.cli.parameters.shared_options import (
    Catalog,
    ImportedTest,
    Json,
    check_suffix,
    parse_duration,
    reject_options,
    use_catalog,
)
from destage.cli.terminal.output import print_data, print_json, print_note, print_pairs
from destage.errors import ConfigError, UsageError

Kind = Literal["controllers", "disks", "workloads", "studies", "examples", "columns"]
KINDS: tuple[Kind, ...] = get_args(Kind)
COLUMNS, _WORKLOADS = "columns", "workloads"


@quietly
def complete_entries(ctx: typer.Context, _: str) -> list[str]:
    """Complete the entries of the kind that was given, or of all kinds."""
    kind = ctx.params.get("kind")
    return [name for listed_kind in KINDS if kind in {None, listed_kind} for name in list_names(listed_kind)]


def list_entries(
    kind: Annotated[
        Kind | None,
        typer.Argument(
            metavar="KIND", help=f"{', '.join(KINDS[:-1])} or {KINDS[-1]} (default: all but {COLUMNS})."
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Argument(
            metavar="PART",
            help="Part of the names to list (default: all).",
            autocompletion=complete_entries,
        ),
    ] = None,
    catalog_files: Catalog = None,
    as_json: Json = False,
) -> None:
    """List what comes with Destage by kind, or the entries of one kind."""
    use_catalog(catalog_files)
    from destage.spec.near_names import suggest

    kinds = [listed_kind for listed_kind in KINDS if listed_kind != COLUMNS] if kind is None else [kind]
    listed = {listed_kind: describe_entries(listed_kind) for listed_kind in kinds}
    selected = {
        listed_kind: {name: entry for name, entry in entries.items() if part is None or part in name}
        for listed_kind, entries in listed.items()
    }
    if part is not None and not any(selected.values()):
        meant = suggest(part, [name for entries in listed.values() for name in entries])
        raise UsageError("usage.unknown-name", f"{part!r} is in no name{meant}", "PART")
    if as_json:
        print_json(selected)
        return
    for listed_kind, entries in selected.items():
        if kind is None:
            print_data(f"{listed_kind}\n")
        indent = "  " if kind is None else ""
        print_pairs({f"{indent}{name}": format_entry(entry) for name, entry in entries.items()})


def list_names(kind: str) -> list[str]:
    """Return the names of the entries of a kind, without reading studies."""
    if kind == "studies":
        from destage.sweeps import studies

        return studies.names()
    return list(describe_entries(kind))


def describe_entries(kind: str) -> dict[str, Any]:
    """Return the entries of a kind: a title or a question, and of a column type, unit and meaning."""
    if kind == "studies":
        from destage.sweeps import studies

        return {name: studies.question(name) for name in studies.names()}
    if kind == "examples":
        return describe_examples()
    if kind == COLUMNS:
        from destage import engine

        return {
            column.name: {"type": column.type, "unit": column.unit, "meaning": column.meaning}
            for column in engine.columns()
        }
    return {name: part.title for name, part in find_parts(kind).items()}


def find_parts(kind: str) -> dict[str, Any]:
    """Return the controllers, disks or workloads."""
    from destage.engine import catalog

    return {
        part.name: part
        for part_kind in catalog.KINDS
        if part_kind == kind
        for part in catalog.entries(part_kind)
    }


def format_entry(entry: Any) -> str:
    """Return a title as it is, and a column in one line."""
    if isinstance(entry, str):
        return entry
    kind = f"{entry['type']} [{entry['unit']}]" if entry["unit"] else entry["type"]
    return f"{kind:<22}  {entry['meaning']}"


@quietly
def complete_entries_and_workloads(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete entries of the catalogue, and files that hold a workload."""
    return list(dict.fromkeys([*complete_entries(ctx, incomplete), *complete_workloads(ctx, incomplete)]))


def show(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="An entry of the catalogue; or a file with a workload (a workload, configuration or study "
            "in YAML, or what `workload import` reads).",
            autocompletion=complete_entries_and_workloads,
        ),
    ],
    kind: Annotated[
        Kind | None,
        typer.Option("--kind", metavar="KIND", help="Kind of the entry, where several have the name."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Plot the workload to FILE (.svg).")
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(
            "--duration",
            metavar="TIME",
            help="Duration of a workload's requests, as in 10min (default: its whole timeline).",
        ),
    ] = None,
    test: ImportedTest = None,
    catalog_files: Catalog = None,
    as_json: Json = False,
) -> None:
    """Show an entry of the catalogue, or the requests of a workload.

    A controller or disk is shown with the source of its figures; a workload with its rate over time, request
    sizes, read/write mix, footprint and sources.
    """
    use_catalog(catalog_files)
    found_kind = _find_kind(name, kind)
    if found_kind == _WORKLOADS:
        _show_workload(name, plot, duration, test, as_json=as_json)
        return
    reject_options(context, "requires a workload", "--plot", "--duration", "--test")
    if found_kind == COLUMNS:
        column = describe_entries(found_kind)[name]
        print_json({"name": name, **column}) if as_json else print_data(f"{name}  {format_entry(column)}\n")
    elif found_kind in {"studies", "examples"}:
        from destage.spec.documents import parse_document
        from destage.sweeps import studies

        text = studies.text(name) if found_kind == "studies" else find_example(name)
        print_json(parse_document(text, name)) if as_json else print_data(text)
    else:
        _show_part(found_kind, name, as_json=as_json)


def _find_kind(name: str, kind: Kind | None) -> str:
    """Return the kind of an entry; that of a file is a workload."""
    from destage.spec.near_names import suggest
    from destage.tools.registry import is_command

    names = {listed_kind: list_names(listed_kind) for listed_kind in KINDS if kind in {None, listed_kind}}
    kinds = [listed_kind for listed_kind, listed in names.items() if name in listed]
    if len(kinds) > 1:
        message = f"{name!r} is the name of {' and '.join(kinds)}; choose with --kind {kinds[0]}"
        raise UsageError("usage.unknown-name", message, "NAME")
    if kinds:
        return kinds[0]
    if kind in {None, _WORKLOADS} and (Path(name).exists() or is_command(name)):
        return _WORKLOADS
    meant = suggest(name, sorted({entry for listed in names.values() for entry in listed}))
    message = f"{name!r} is neither a file nor in the catalogue{meant}; `destage catalog list` lists all"
    raise UsageError("usage.unknown-name", message, "NAME")


def _show_part(kind: str, name: str, *, as_json: bool) -> None:
    """Print a controller or a disk."""
    from destage.cli.parameters.imported_files import describe_entry

    entry = find_parts(kind)[name]
    facts = describe_entry(entry) | {"config": dict(entry.config)}
    if as_json:
        print_json(facts)
        return
    import yaml

    shown = {key: value for key, value in facts.items() if value}
    print_data(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=100))


def _show_workload(
    name: str, plot: Path | None, duration: str | None, test: str | None, *, as_json: bool
) -> None:
    """Print the requests that a workload issues."""
    from destage.cli.parameters.imported_files import find_workload
    from destage.cli.printed_results.workload_summary import describe_workload, summarize_profile
    from destage.engine.workload_profile import generate_profile

    check_suffix(plot, "--plot", ".svg")
    seconds = None if duration is None else parse_duration(duration, "s", "--duration")
    facts, workload, folder = find_workload(name, test)
    try:
        profile = generate_profile(workload, seconds=seconds, folder=folder)
    except ConfigError as error:
        raise ConfigError(error.issues, name) from error
    if plot is not None:
        from destage.queries.report.charts.workload_plot import draw_workload

        plot.write_text(draw_workload(profile, facts["title"]), encoding="utf-8")
    if as_json:
        print_json({**facts, "workload": workload, "drawn": summarize_profile(profile)})
    else:
        lines = describe_workload(facts, workload, profile)
        print_data("".join(f"{line.rstrip()}\n" for line in lines))
    if plot is not None:
        print_note(f"plot written to {plot}")
