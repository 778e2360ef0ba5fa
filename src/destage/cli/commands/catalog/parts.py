"""`destage catalog new` and `check`: parts of your own, from their data sheets and beside them."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from destage.cli.parameters.shared_options import Json, Out, split_assignment
from destage.cli.terminal.output import print_data, print_json, print_note
from destage.errors import ConfigError, Issue, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from destage.engine import catalog
    from destage.tools.data_sheets.disk_comparison import Cell
    from destage.tools.data_sheets.made_part import MadePart

PartKind = Literal["disk", "ssd", "controller"]
_EXAMPLE = "average_seek=3.7ms"
_BITS = re.compile(r"\s*([\d._]+)\s*([kMGTP])b(?:it)?/s\s*")


def new(
    kind: Annotated[PartKind, typer.Argument(metavar="KIND", help="disk, ssd or controller.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name: small letters, digits, - and _.")],
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIGURE=VALUE...",
            help="Figures of its data sheet, as in capacity=1.2TB (default: list them).",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="What it is called (default: NAME).")] = None,
    source: Annotated[
        str, typer.Option("--source", help="Where the figures are from, such as a page of its sheet.")
    ] = "its data sheet",
    out: Out = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: Json = False,
) -> None:
    """Describe a part of your own by its data sheet.

    Writes a commented file for --catalog: what the sheet gives, and what is assumed and why. `destage catalog
    check` compares it with the sheet.
    """
    from destage.sweeps.keys.own_parts import NAME, find_part_mistakes
    from destage.tools.data_sheets.made_part import write_part

    if re.fullmatch(NAME, name) is None:
        message = f"{name!r}: use small letters, digits, - and _, with a letter or digit first"
        raise UsageError("usage.bad-value", message, "NAME")

    if not figures:
        print_data(_list_figures(kind))
        return
    folder = "controllers" if kind == "controller" else "disks"
    part = _make_part(kind, figures)
    title = title or name
    fields = {"title": title, "source": source, "config": dict(part.config)}
    document = {folder: {name: fields}}
    if issues := find_part_mistakes(document, needs_units=True):
        raise ConfigError(issues)
    text = write_part(folder, name, part, title, source, " ".join(figures))
    if out is not None and out.exists() and not force:
        raise UsageError("usage.file-exists", f"{out} exists; --force replaces it", "--out")
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
        print_note(f"part written to {out}; `destage catalog check {out}` compares it with its sheet")
    if as_json:
        print_json({folder: {name: fields | {"assumed": list(part.assumed), "sheet": dict(part.sheet)}}})
    elif out is None:
        print_data(text)


def _make_part(kind: PartKind, figures: list[str]) -> "MadePart":
    """Return the part of the figures that arguments give."""
    from destage.spec.schema_tree import SchemaTree, to_base_units
    from destage.spec.typed_tables import read_table, table_schema
    from destage.spec.validation import find_mistakes
    from destage.tools.data_sheets.makers import MAKERS
    from destage.tools.data_sheets.sheet_figures import FIGURES

    written = dict(split_assignment(figure, "FIGURE=VALUE", _EXAMPLE) for figure in figures)
    tree = SchemaTree(table_schema(FIGURES[kind]))
    given = to_base_units({name: _parse(name, text) for name, text in written.items()}, tree, "catalog")
    bare = {issue.place: issue for issue in [*_find_bare_figures(kind, written), *_find_bits(kind, written)]}
    others = [issue for issue in find_mistakes(given, tree) if issue.place not in bare]
    if issues := [*bare.values(), *others]:
        raise ConfigError(issues)
    values: Any = given.value
    return MAKERS[kind](read_table(FIGURES[kind], values))


def _parse(name: str, text: str) -> object:
    from destage.spec.documents import parse_document

    return parse_document(text, name, "catalog")


def _find_bare_figures(kind: PartKind, written: dict[str, str]) -> list[Issue]:
    """Return a mistake for each figure without the unit that it needs."""
    from destage.spec import quantities
    from destage.spec.typed_tables import table_schema
    from destage.tools.data_sheets.sheet_figures import FIGURES

    issues = []
    for name, node in table_schema(FIGURES[kind])["properties"].items():
        text = written.get(name, "")
        if "x-unit" in node and text.replace(".", "", 1).isdigit() and float(text):
            unit = quantities.UNITS[node["x-unit"]]
            message = f"needs a unit: {unit.phrase} such as {unit.example}"
            issues.append(Issue("catalog.bad-quantity", name, message, text))
    return issues


def _find_bits(kind: PartKind, written: dict[str, str]) -> list[Issue]:
    """Return a mistake for each rate of a medium in bits, which would be a valid figure of a slower disk."""
    from destage.spec.typed_tables import table_schema
    from destage.tools.data_sheets.sheet_figures import FIGURES, MEDIUM_RATES

    issues = []
    for name in sorted(MEDIUM_RATES & table_schema(FIGURES[kind])["properties"].keys()):
        text = written.get(name, "")
        if match := _BITS.fullmatch(text):
            message = f"is in bits; write {match[1]}{match[2]}B/s, or an eighth of it if bits are meant"
            issues.append(Issue("catalog.bad-quantity", name, message, text))
    return issues


def _list_figures(kind: PartKind) -> str:
    """Return the figures of a kind of part, those that are needed first."""
    from destage.spec.printed_text import align_cells
    from destage.spec.typed_tables import list_keys
    from destage.tools.data_sheets.sheet_figures import FIGURES

    keys = sorted(list_keys(FIGURES[kind]), key=lambda key: not key.is_required)
    rows = [
        [key.name, "needed" if key.is_required else "", key.schema["description"].removesuffix(".")]
        for key in keys
    ]
    return align_cells(rows, left=3)


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of parts, or a folder of such files.")],
    as_json: Json = False,
) -> None:
    """Compare parts of your own with their data sheets.

    Simulates each disk as one would measure the real one. Exits with 1 if a figure is not met.
    """
    from destage.engine import catalog
    from destage.sweeps.keys.own_parts import read_parts
    from destage.tools.data_sheets.disk_comparison import PATHS

    compared = {}
    kinds: tuple[catalog.Kind, ...] = ("controllers", "disks")
    parts = read_parts(file)
    for kind in kinds:
        for name, fields in parts.get(kind, {}).items():
            entry = catalog.make_entry(kind, name, fields)
            cells = _compare(entry).values()
            compared[name] = [(cell, entry.mark(PATHS.get(cell.quantity, ""))) for cell in cells]
    if as_json:
        print_json({name: [_as_json(*cell) for cell in cells] for name, cells in compared.items()})
    else:
        print_data("\n".join(_as_text(name, cells) for name, cells in compared.items()))
    raise typer.Exit(int(any(not cell.is_met for cells in compared.values() for cell, _ in cells)))


def _compare(entry: "catalog.Entry") -> dict[str, "Cell"]:
    """Return the figures of a part beside its sheet; a controller has none."""
    from destage.tools.data_sheets.disk_comparison import compare_disk
    from destage.tools.data_sheets.ssd_comparison import compare_ssd

    if entry.kind == "controllers":
        return {}
    compare = compare_ssd if entry.config["kind"] == "ssd" else compare_disk
    return compare(entry.config, entry.sheet)


def _as_json(cell: "Cell", mark: str | None) -> dict[str, Any]:
    return {
        "quantity": cell.quantity,
        "sheet": cell.sheet,
        "mark": mark,
        "model": cell.model,
        "tolerance": cell.tolerance,
        "is_met": cell.is_met,
    }


def _as_text(name: str, cells: "Sequence[tuple[Cell, str | None]]") -> str:
    """Return the table of a part, from its cells and what marks a figure that no sheet states."""
    from destage.spec.printed_text import align_cells

    if not cells:
        return f"{name}: valid; a controller alone has no figure that a simulation could miss\n"
    rows = [["figure", "sheet", "model", "deviation", "within", "", ""]]
    for cell, mark in cells:
        deviation = cell.deviation
        rows.append(
            [
                cell.quantity,
                "-" if cell.sheet is None else f"{cell.sheet:.6g}",
                f"{cell.model:.6g}",
                "-" if deviation is None else f"{deviation:+.1%}",
                "-" if deviation is None else f"{cell.tolerance:.0%}",
                "" if deviation is None else "met" if cell.is_met else "NOT MET",
                mark or "",
            ]
        )
    return f"{name}\n{align_cells(rows, left=1)}"
