"""The SQL of a named query for one sweep: with its parameters and what they stand for filled in."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from destage.errors import QueryError
from destage.queries.named.named_queries import NamedQuery, Parameter
from destage.spec.near_names import suggest
from destage.sql import quote, quote_text

RESULT = "result"
"""The value of a parameter of the unit `column` that selects the result of the study."""
_LITERALS = {"column", "axis"}
"""The units of parameters that name a column rather than give a value."""
_ANSWER = re.compile(r"\banswer(?=(?:_low|_high|_half_width)?\b)")


@dataclass(frozen=True, slots=True)
class Subject:
    """What the SQL of a named query depends on.

    Attributes:
        axes: The column in SQL of each axis' dotted path.
        result: The column with the study's result: an answer, a completion time or a response time.
        answer: The name of the answers; `answer` where there are none.
        config: A resolved configuration, for what no axis changes.
    """

    axes: Mapping[str, str]
    columns: Collection[str]
    result: str
    answer: str
    config: Mapping[str, object]


def write_query(query: NamedQuery, given: Mapping[str, str], subject: Subject) -> str:
    """Return the SQL of a query.

    Args:
        given: Texts of parameters by name; the others have their defaults.

    Raises:
        QueryError: A parameter is unknown or has no valid value, or the study lacks an axis or a setting.
    """
    for path in query.axes:
        if path not in subject.axes:
            listed = ", ".join(subject.axes) or "none"
            message = f"the study has no axis {path}, which the query compares; its axes: {listed}"
            raise QueryError("query.missing-axis", message, query.name, {"axis": path})
    values = query.values(given)
    settings = {path: _find_setting(query.name, path, subject) for path in query.settings}
    columns = {
        parameter.name: _find_column(query.name, parameter, str(values[parameter.name]), subject)
        for parameter in query.parameters
        if parameter.unit in _LITERALS
    }
    literals = {
        name: quote(columns[name]) if name in columns else _write_literal(value)
        for name, value in values.items()
    }

    def fill(line: str) -> str:
        for name, column in columns.items():
            line = line.replace(f"{{{name}}}", column)
        if line.lstrip().startswith("--"):
            return line
        for path, value in settings.items():
            line = line.replace(quote(path), value)
        line = re.sub(r"\$(\w+)", lambda match: literals[match[1]], line)
        return _ANSWER.sub(subject.answer, line)

    return "\n".join(map(fill, query.sql.splitlines()))


def _find_column(query: str, parameter: Parameter, text: str, subject: Subject) -> str:
    """Return the column that a parameter names: of the axes by path or name, or a result."""
    by_name = {name: path for path, name in subject.axes.items()}
    path = by_name.get(text, text)
    columns: Sequence[str] = [*subject.axes]
    if parameter.unit == "column":
        if text == RESULT:
            return subject.result
        columns = [*columns, *subject.columns, subject.answer]
    if path in columns:
        return path
    words = [*by_name, *columns]
    message = f"unknown {parameter.unit} {text!r}{suggest(text, words)}; axes: {', '.join(by_name) or 'none'}"
    if parameter.unit == "column":
        message += "; `destage catalog list columns` lists the results"
    raise QueryError("query.unknown-column", message, f"{query}.{parameter.name}", {"value": text})


def _find_setting(query: str, path: str, subject: Subject) -> str:
    """Return the column of a setting that is an axis, or its value as a literal."""
    if path in subject.axes:
        return quote(path)
    parents = {path.rsplit(".", count)[0] for count in range(1, path.count(".") + 1)}
    deciding = [axis for axis in subject.axes if axis.removesuffix(".use") in parents]
    config = dict(subject.config)
    arrays = config.get("arrays")
    if isinstance(arrays, list) and len(arrays) == 1:
        config["array"] = arrays[0]
    value: object = None if deciding else config
    for segment in path.split("."):
        value = value.get(segment) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        cause = f"it depends on axis {', '.join(deciding)}" if deciding else "the scenario does not set it"
        message = f"the query needs one value of {path}, but {cause}; make {path} an axis"
        raise QueryError("query.missing-setting", message, query, {"setting": path})
    return _write_literal(value)


def _write_literal(value: float | str) -> str:
    return quote_text(value) if isinstance(value, str) else repr(value)
