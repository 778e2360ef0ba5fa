"""Other names of columns, which a statement may write where they have no other meaning."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from destage.errors import QueryError
from destage.spec.axis_names import name_axes
from destage.sql.statements import quote

_NAME = r'(?:"(?:[^"]|"")+"|\w+)'
_REFERENCE = re.compile(rf"((?:{_NAME}\s*\.\s*)*)({_NAME})")
Aliases = Mapping[str, Sequence[str]]
"""The columns that each other name may mean."""


def alias_paths(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the short names of columns named by dotted paths: the last segment, and the name in tables."""
    paths = sorted(paths)
    aliases: dict[str, list[str]] = {}
    for path in paths:
        aliases.setdefault(path.rpartition(".")[2], []).append(path)
    return aliases | {name: [path] for path, name in name_axes(paths).items()}


def alias_names(names: Mapping[str, str]) -> dict[str, list[str]]:
    """Return other names of columns that have a name in place of their dotted path: path and last segment.

    Args:
        names: The column of each path.
    """
    aliases: dict[str, list[str]] = {path: [name] for path, name in names.items()}
    for path in sorted(names):
        aliases.setdefault(path.rpartition(".")[2], []).append(names[path])
    return aliases


def replace_alias(select: str, details: Mapping[str, Any], aliases: Aliases, offset: int) -> str | None:
    """Return a statement with the column that an unknown name means; None where it means none.

    Args:
        details: The error about the name, with its position in bytes.
        offset: The length of what stood before the statement.

    Raises:
        QueryError: The name may mean several columns.
    """
    if "position" not in details:
        return None
    start = len(select.encode()[: max(int(details["position"]) - offset, 0)].decode(errors="ignore"))
    reference = _REFERENCE.match(select, start)
    if reference is None:
        return None
    name = reference[2].strip('"')
    columns = aliases.get(name, ())
    if len(columns) > 1:
        candidates = " or ".join(map(quote, columns))
        raise QueryError(
            "query.ambiguous-axis",
            f"{name!r} is the end of several axes; write {candidates}, in double quotes",
            data={"candidates": list(columns)},
        )
    if not columns or columns[0] == name:
        return None
    return select[: reference.start(2)] + quote(columns[0]) + select[reference.end(2) :]
