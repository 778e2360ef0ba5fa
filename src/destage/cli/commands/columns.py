"""`destage columns`."""

from typing import Annotated

import typer

from destage.cli.completion import complete_columns
from destage.cli.options import Json
from destage.cli.output import print_data, print_json
from destage.errors import UsageError


def columns(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A column, or a part of its name (default: list all).",
            autocompletion=complete_columns,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the result columns with type, unit and meaning."""
    from destage import engine
    from destage.spec.near_names import suggest_names

    found = [
        {"name": column.name, "type": column.type, "unit": column.unit, "meaning": column.meaning}
        for column in engine.columns()
        if name is None or name in column.name
    ]
    if not found:
        meant = suggest_names(name, [column.name for column in engine.columns()])
        raise UsageError("usage.unknown-name", f"{name!r} is in no column's name{meant}", "NAME")
    if as_json:
        print_json(found)
        return
    width = max(len(column["name"]) for column in found)
    for column in found:
        kind = f"{column['type']} [{column['unit']}]" if column["unit"] else column["type"]
        print_data(f"{column['name']:<{width}}  {kind:<22}  {column['meaning']}\n")
