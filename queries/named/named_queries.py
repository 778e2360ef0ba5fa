"""Named queries: one SQL file each, whose header states its question, its parameters and its rows.

    -- name: next_megabyte
    -- studies: any
    -- purpose: What each step to the next larger cache gains.
    -- axis: controller.cache.capacity
    -- parameter: of [column] = result: what is gained
    -- column: gain_{of} [unit of {of}]: improvement by the step
    -- row: one per point
    SELECT ...

`studies` is the kind of studies that the query is for: `seek`, `minimum` (a seek for the smallest value),
`replay` (of a trace), `fixed` (all studies without a seek) or `any`. Of several files with the same name, the
one whose kind fits a study most closely is used.

`axis` is an axis that the study must have; `setting` is a parameter that must be an axis or have one value in
the scenario. `column` explains a column that is neither an axis nor a result; the ends of its interval,
`_low` and `_high`, need no line.

In the SQL, `$name` is replaced by the value of a parameter, and the word `answer` by the name of the study's
answers, such as `users_supported`. The value of a parameter with the unit `column` is the name of an axis or
of a result column, or `result` for the result of the study; with the unit `axis`, it is the name of an axis.
`{name}` is replaced by this name without quotes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from destage.errors import QueryError
from destage.queries.named.study_kinds import FixedLoad
from destage.spec.near_names import suggest

_HEADER = re.compile(r"--\s*(name|studies|purpose|axis|setting|parameter|column|row):\s*(.+)")
_LINES = {
    "column": (re.compile(r"(\S+)(?:\s*\[(.+?)\])?:\s+(.+)"), "gain [bytes]: improvement"),
    "parameter": (
        re.compile(r"(\w+)(?:\s*\[(.+?)\])?\s*=\s*(.+?):\s+(.+)"),
        "users [users] = 39: users to support",
    ),
}
"""The form of lines with several parts, and an example."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a named query, `$name` in its SQL; a numeric default makes it numeric."""

    name: str
    unit: str | None
    default: float | str
    meaning: str


@dataclass(frozen=True, slots=True)
class QueryColumn:
    """A column that a named query computes; `{of}` in its texts is the name of a column parameter."""

    name: str
    unit: str | None
    meaning: str


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A named query: the parts of its header, and its whole text as the statement.

    Attributes:
        axes: The dotted paths of the axes that it needs.
        settings: The dotted paths of the settings that it needs, which may be axes.
        columns: Its columns that are neither axes nor results.
    """

    name: str
    studies: str
    purpose: str
    parameters: tuple[Parameter, ...]
    row: str
    sql: str
    axes: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    columns: tuple["QueryColumn", ...] = ()

    def values(self, given: Mapping[str, str]) -> dict[str, float | str]:
        """Return the value of each parameter, from texts by name and the defaults.

        Raises:
            QueryError: A name is unknown, or a text is not of its parameter's type.
        """
        by_name = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in by_name:
                allowed = ", ".join(by_name) or "none"
                raise QueryError(
                    "query.unknown-parameter",
                    f"unknown parameter {name!r}; allowed: {allowed}",
                    self.name,
                    {"allowed": tuple(by_name)},
                )
        return {name: _read(self.name, parameter, given.get(name)) for name, parameter in by_name.items()}


@cache
def list_queries() -> tuple[NamedQuery, ...]:
    """Return all named queries, sorted by name."""
    folder = files("destage.queries") / "sql"
    queries = [parse_query(file.read_text()) for file in folder.iterdir() if file.name.endswith(".sql")]
    return tuple(sorted(queries, key=lambda query: (query.name, query.studies)))


def list_fitting(kind: FixedLoad) -> dict[str, NamedQuery]:
    """Return the queries for a kind of study, by name."""
    names = sorted({query.name for query in list_queries() if query.studies in kind.queries})
    return {name: find_query(name, kind) for name in names}


def find_query(name: str, kind: FixedLoad) -> NamedQuery:
    """Return the query of a name that fits a kind of study most closely."""
    named = {query.studies: query for query in list_queries() if query.name == name}
    for studies in kind.queries:
        if studies in named:
            return named[studies]
    if named:
        raise QueryError(
            "query.wrong-study-kind",
            f"the query is for studies of kind {' or '.join(named)}; this study is of kind {kind.name}",
            name,
            {"studies": tuple(named), "kind": kind.name},
        )
    fitting = sorted({query.name for query in list_queries() if query.studies in kind.queries})
    raise QueryError(
        "query.unknown-query",
        f"unknown query {name!r}{suggest(name, fitting)}; available: {', '.join(fitting)}",
        data={"available": fitting},
    )


def parse_query(text: str) -> NamedQuery:
    """Return the query of a file."""
    header: dict[str, list[str]] = {}
    for line in text.splitlines():
        match = _HEADER.match(line)
        if match is None:
            break
        header.setdefault(match[1], []).append(match[2].strip())
    return NamedQuery(
        name=header["name"][0],
        studies=header["studies"][0],
        purpose=header["purpose"][0],
        parameters=tuple(map(_parameter, header.get("parameter", []))),
        row=header["row"][0],
        sql=text,
        axes=tuple(header.get("axis", ())),
        settings=tuple(header.get("setting", ())),
        columns=tuple(QueryColumn(*_split(line, "column")) for line in header.get("column", [])),
    )


def _split(line: str, kind: str) -> tuple[str, ...]:
    """Return the parts of a line of a header."""
    pattern, example = _LINES[kind]
    match = pattern.fullmatch(line)
    if match is None:
        raise QueryError("query.bad-header", f"invalid {kind} line {line!r}; write it as `{example}`")
    return match.groups()


def _parameter(line: str) -> Parameter:
    name, unit, default, meaning = _split(line, "parameter")
    try:
        value: float | str = float(default)
    except ValueError:
        # Quotes make a text of what would be a number.
        value = default.strip("'")
    return Parameter(name, unit, value, meaning)


def _read(query: str, parameter: Parameter, given: str | None) -> float | str:
    if given is None or isinstance(parameter.default, str):
        return parameter.default if given is None else given
    try:
        return float(given)
    except ValueError:
        unit = f" [{parameter.unit}]" if parameter.unit else ""
        raise QueryError(
            "query.bad-parameter", f"{given!r} is not a number{unit}", f"{query}.{parameter.name}"
        ) from None
