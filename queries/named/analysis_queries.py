"""The analysis tables of a sweep as named queries, so that all commands read them as they read these."""

from collections.abc import Mapping

import pyarrow as pa

from destage.queries.named.named_queries import NamedQuery, QueryColumn
from destage.sql import quote
from destage.store.schemas.analysis_schema import UNIT_OF, find_purpose, list_meanings


def name_table(analysis: str) -> str:
    """Return the name of the table of an analysis; the view that users read has the analysis' own."""
    return f"stored_{analysis}"


def list_analysis_queries(
    analyses: Mapping[str, pa.Table], names: Mapping[str, str]
) -> dict[str, NamedQuery]:
    """Return the query for all rows of each analysis table, by name.

    Args:
        names: The name in SQL of each axis, for units such as `unit of array.disks`.
    """
    return {
        name: NamedQuery(
            name=name,
            studies="any",
            purpose=find_purpose(table.schema),
            parameters=(),
            row="see purpose",
            sql=f"SELECT * FROM {quote(name_table(name))}",  # noqa: S608 - a table of the sweep
            columns=tuple(
                QueryColumn(column, _name_unit(unit, names), meaning)
                for column, (unit, meaning) in list_meanings(table.schema).items()
            ),
        )
        for name, table in analyses.items()
    }


def _name_unit(unit: str | None, names: Mapping[str, str]) -> str | None:
    path = (unit or "").removeprefix(UNIT_OF)
    return unit if unit is None or path == unit else f"{UNIT_OF}{names.get(path, path)}"
