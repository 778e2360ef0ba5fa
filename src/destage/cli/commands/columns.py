"""`destage columns`."""

from destage.cli.options import Json
from destage.cli.output import print_data, print_json


def columns(as_json: Json = False) -> None:
    """List the result columns with type, unit and meaning."""
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
