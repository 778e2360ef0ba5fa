"""`destage catalog list`: the entries of each kind."""

from typing import Annotated, Any, Literal, get_args

import typer

from destage.cli.commands.catalog.copy import describe_examples
from destage.cli.parameters.completion import quietly
from destage.cli.parameters.shared_options import Catalog, Json, use_catalog
from destage.cli.terminal.output import print_data, print_json, print_pairs
from destage.errors import UsageError

Kind = Literal["controllers", "disks", "workloads", "studies", "examples", "columns"]
KINDS: tuple[Kind, ...] = get_args(Kind)
COLUMNS = "columns"


@quietly
def complete_entries(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete the entries of the kind that was given, or of all kinds."""
    del incomplete
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
    from destage.spec.near_names import suggest_names

    kinds = [listed_kind for listed_kind in KINDS if listed_kind != COLUMNS] if kind is None else [kind]
    listed = {listed_kind: describe_entries(listed_kind) for listed_kind in kinds}
    selected = {
        listed_kind: {name: entry for name, entry in entries.items() if part is None or part in name}
        for listed_kind, entries in listed.items()
    }
    if part is not None and not any(selected.values()):
        meant = suggest_names(part, [name for entries in listed.values() for name in entries])
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
