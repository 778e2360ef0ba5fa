"""The unit and the meaning of each column in the result of DESCRIBE.

DuckDB's column comments are not used: DESCRIBE does not show them, views and subqueries do not inherit them,
and a sweep would need two thousand COMMENT statements when it is opened. Instead, unit and meaning are looked
up by column name after DESCRIBE, and replace its columns null, key, default and extra.
"""

import re
from collections.abc import Mapping

import pyarrow as pa

from destage import engine
from destage.queries.named.named_queries import NamedQuery
from destage.queries.named.table_columns import FIXED, Meaning

_UNIT_OF = re.compile(r"unit of (\S+)(.*)")
_ENDS = {"low": "lower", "high": "upper"}


def collect_meanings(axes: pa.Table, answer: str, sought: str | None) -> dict[str, Meaning]:
    """Return the unit and meaning of each column of a sweep's relations.

    Args:
        axes: The table of the axes.
        answer: The name of the answers.
        sought: The dotted path of the parameter that the study seeks, if any.
    """
    found: dict[str, Meaning] = dict(FIXED)
    found |= {column.name: (column.unit, column.meaning) for column in engine.columns()}
    value = "value" if sought is None else sought
    found[answer] = (None, f"{value} at which the first objective reaches its bound, mean over replicates")
    found[f"{answer}_half_width"] = (None, f"half of the width of the 95 % interval of {answer}")
    return found | {row["name"]: (row["unit"], row["meaning"] or row["path"]) for row in axes.to_pylist()}


def explain_columns(described: pa.Table, meanings: Mapping[str, Meaning]) -> pa.Table:
    """Return the rows of a DESCRIBE with the unit and the meaning of each column."""
    names: list[str] = described["column_name"].to_pylist()
    explained = [find_meaning(name, meanings) for name in names]
    return pa.table(
        {
            "column_name": described["column_name"],
            "column_type": described["column_type"],
            "unit": pa.array([unit for unit, _ in explained], pa.string()),
            "meaning": pa.array([meaning for _, meaning in explained], pa.string()),
        }
    )


def find_units(query: NamedQuery, units: Mapping[str, str]) -> dict[str, str]:
    """Return the base unit of each column of a named query that has that of an axis.

    Args:
        query: The query, with its parameters filled in.
        units: The base units of axes.
    """
    found = {column.name: _UNIT_OF.fullmatch(column.unit or "") for column in query.columns}
    return {name: units[of[1]] for name, of in found.items() if of is not None and of[1] in units}


def find_meaning(name: str, meanings: Mapping[str, Meaning]) -> tuple[str | None, str | None]:
    """Return the unit and meaning of a column; the end of an interval has those of its middle."""
    if name not in meanings:
        base, _, end = name.rpartition("_")
        if end not in _ENDS or base not in meanings:
            return None, None
        unit, _ = find_meaning(base, meanings)
        return unit, f"{_ENDS[end]} end of the 95 % interval of {base}"
    unit, meaning = meanings[name]
    of = _UNIT_OF.fullmatch(unit or "")
    if of is not None:
        unit = find_meaning(of[1], meanings)[0]
        unit = f"{unit}{of[2]}" if unit else of[2].strip() or None
    return unit, meaning
