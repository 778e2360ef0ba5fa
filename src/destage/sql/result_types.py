"""The types of DuckDB that Arrow lacks or whose values it changes: their values become texts.

Without this, the largest UHUGEINT is -1, a time loses its zone, and BIT, GEOMETRY and VARIANT are bytes.
"""

import duckdb
from duckdb import sqltypes

from destage.sql.statements import quote

_TEXTS = frozenset({"bignum", "bit", "geometry", "time with time zone", "uhugeint", "variant"})


def replace_types(rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return rows whose columns all have types of Arrow, within nested types too."""
    replaced = [_replace(kind) for kind in rows.types]
    if not any(replaced):
        return rows
    columns = (
        f"{f'CAST(#{at} AS {kind})' if kind else f'#{at}'} AS {quote(name)}"
        for at, (name, kind) in enumerate(zip(rows.columns, replaced, strict=True), 1)
    )
    return rows.project(", ".join(columns))


def _replace(kind: sqltypes.DuckDBPyType) -> str | None:
    """Return the SQL type to cast a type to, if any."""
    if kind.id in _TEXTS:
        return "VARCHAR"
    if kind.id not in ("list", "array", "struct", "tuple", "map", "union"):
        return None
    members = [(name, member) for name, member in kind.children if isinstance(member, sqltypes.DuckDBPyType)]
    if kind.id == "union":
        members = members[1:]  # the first is its tag
    replaced = [_replace(member) for _, member in members]
    if not any(replaced):
        return None
    kinds = [new or str(member) for new, (_, member) in zip(replaced, members, strict=True)]
    if kind.id == "list":
        written = f"{kinds[0]}[]"
    elif kind.id == "array":
        written = f"{kinds[0]}[{dict(kind.children)['size']}]"
    elif kind.id in ("struct", "union"):
        named = (f"{quote(name)} {new}" for (name, _), new in zip(members, kinds, strict=True))
        written = f"{kind.id}({', '.join(named)})"
    else:
        written = f"{kind.id}({', '.join(kinds)})"
    return written
