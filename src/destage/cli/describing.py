"""The verbs that describe what goes in and what comes out: schema, columns."""

from typing import Annotated, Literal

import typer

from destage.cli.output import Json, print_data, print_json


def schema(
    of: Annotated[
        Literal["study", "scenario"],
        typer.Argument(help="Of a study, which embeds the configuration, or of one configuration."),
    ] = "study",
) -> None:
    """Print the JSON Schema that editors complete from."""
    if of == "study":
        from destage.sweeps import study_schema

        print_json(study_schema())
    else:
        from destage import engine

        print_json(engine.authoring_schema())


def columns(as_json: Json = False) -> None:
    """Print the columns of a result row: name, type, unit, meaning."""
    from destage import engine

    found = [
        {"name": column.name, "type": column.type, "unit": column.unit, "meaning": column.meaning}
        for column in engine.columns()
    ]
    if as_json:
        print_json(found)
        return
    width = max(len(column["name"]) for column in found)
    for column in found:
        kind = f"{column['type']} [{column['unit']}]" if column["unit"] else column["type"]
        print_data(f"{column['name']:<{width}}  {kind:<22}  {column['meaning']}\n")
