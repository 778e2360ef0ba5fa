"""`destage catalog check`: parts of your own beside their data sheets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.parameters.shared_options import Json
from destage.cli.terminal.output import print_data, print_json

if TYPE_CHECKING:
    from destage.engine import catalog
    from destage.tools.data_sheets.disk_comparison import Cell


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of parts, or a folder of such files.")],
    as_json: Json = False,
) -> None:
    """Compare parts of your own with their data sheets.

    Simulates each disk as one would measure the real one. Exits with 1 if a figure is not met.
    """
    from destage.engine import catalog
    from destage.sweeps.keys.own_parts import read_parts

    compared = {}
    kinds: tuple[catalog.Kind, ...] = ("controllers", "disks")
    parts = read_parts(file)
    for kind in kinds:
        for name, fields in parts.get(kind, {}).items():
            compared[name] = _compare(catalog.make_entry(kind, name, fields))
    if as_json:
        print_json({name: [_as_json(cell) for cell in cells.values()] for name, cells in compared.items()})
    else:
        print_data("\n".join(_as_text(name, cells) for name, cells in compared.items()))
    raise typer.Exit(int(any(not cell.is_met for cells in compared.values() for cell in cells.values())))


def _compare(entry: "catalog.Entry") -> dict[str, "Cell"]:
    """Return the figures of a part beside its sheet; a controller has none."""
    from destage.tools.data_sheets.disk_comparison import compare_disk
    from destage.tools.data_sheets.ssd_comparison import compare_ssd

    if entry.kind == "controllers":
        return {}
    compare = compare_ssd if entry.config["kind"] == "ssd" else compare_disk
    return compare(entry.config, entry.sheet)


def _as_json(cell: "Cell") -> dict[str, Any]:
    return {
        "quantity": cell.quantity,
        "sheet": cell.sheet,
        "model": cell.model,
        "tolerance": cell.tolerance,
        "is_met": cell.is_met,
    }


def _as_text(name: str, cells: dict[str, "Cell"]) -> str:
    """Return the table of a part."""
    from destage.spec.printed_text import align_cells

    if not cells:
        return f"{name}: valid; a controller alone has no figure that a simulation could miss\n"
    rows = [["figure", "sheet", "model", "deviation", "within", ""]]
    for cell in cells.values():
        deviation = cell.deviation
        rows.append(
            [
                cell.quantity,
                "-" if cell.sheet is None else f"{cell.sheet:.6g}",
                f"{cell.model:.6g}",
                "-" if deviation is None else f"{deviation:+.1%}",
                "-" if deviation is None else f"{cell.tolerance:.0%}",
                "" if deviation is None else "met" if cell.is_met else "NOT MET",
            ]
        )
    return f"{name}\n{align_cells(rows, left=1)}"
