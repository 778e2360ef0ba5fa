"""Points of a sweep, chosen by conditions on its axes such as `cache_capacity=64MiB`."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from destage.errors import QueryError
from destage.queries.opening.session import Session
from destage.queries.text.presentation import format_axis_value, name_value, title_axis
from destage.spec.validation import suggest
from destage.store.schemas.figure_places import LABEL

_SEPARATOR = re.compile(r",\s*(?=[A-Za-z_][\w.]*\s*=)")
_MOST_LISTED = 12
"""Values of an axis that a message lists."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Some points of a sweep.

    Attributes:
        named: The values that the conditions give, by dotted path (or `label`).
        probe: The value of the sought parameter that they give, if any.
        points: The ids of the points, in the order of the plan.
        written: The ids of the points as written, as they are in the plan.
    """

    named: Mapping[str, object]
    probe: int | None
    points: Sequence[str]
    written: Sequence[str]


def choose_points(session: Session, texts: Sequence[str], place: str) -> Choice:
    """Return the points that meet all conditions; all points without conditions.

    Args:
        texts: Conditions, also several in one text with commas between them. A text that is a value of the
            axis is that value, also with commas and `=` in it.
        place: The option or argument that gives them, for messages.

    Raises:
        QueryError: A condition has no `=`, or names no axis or no value of its axis.
    """
    named: dict[str, object] = {}
    for path, written in (each for text in texts for each in _read_conditions(session, text.strip(), place)):
        if path in named:
            name = session.names.get(path, path)
            message = f"{name} is given twice; separate conditions choose one value each"
            raise QueryError("query.bad-condition", message, place)
        named[path] = _read_value(session, path, written)
    probe = named.pop(session.seek, None) if session.seek is not None else None
    if probe is not None and not isinstance(probe, int):
        message = f"{probe}: must be a whole number"
        raise QueryError("query.bad-condition", message, place)
    for path, value in named.items():
        _check_value(session, path, value, place)
    found = session.points.find(named)
    if not found:
        listed = ", ".join(f"{session.names.get(path, path)}={value}" for path, value in named.items())
        raise QueryError("query.no-such-point", f"no point has {listed} together", place)
    return Choice(named, probe, found, session.points.find_written(named))


def describe_point(session: Session, values: Mapping[str, object], paths: Sequence[str]) -> str:
    """Return a point by its values on some axes, with its label if it has one."""
    parts = [name_value(path, values[path], session.units) for path in paths if values.get(path) is not None]
    listed = ", ".join(parts)
    label = values.get(LABEL)
    if label is None or LABEL not in paths:
        return listed
    rest = ", ".join(
        name_value(path, values[path], session.units)
        for path in paths
        if path != LABEL and values.get(path) is not None
    )
    return f"{label} ({rest})" if rest else str(label)


def list_values(session: Session) -> dict[str, dict[str, object]]:
    """Return the label and the axes of each point by its id, in the order of the plan."""
    rows = session.points.list_rows(session.points.find())
    return {str(row["point_id"]): row for row in rows}


def find_path(session: Session, name: str, place: str) -> str:
    """Return the dotted path of an axis, or of the sought parameter, by its name in SQL, or its end."""
    if name == LABEL:
        return LABEL
    known = {column: path for path, column in session.names.items()}
    if name in known:
        return known[name]
    if name in session.names:
        return name
    ends = [path for path in session.names if path.endswith(f".{name}")]
    if len(ends) == 1:
        return ends[0]
    if ends:
        message = f"{name!r} is the end of {' and of '.join(ends)}; give more of it"
        raise QueryError("query.ambiguous-axis", message, place)
    listed = ", ".join(known) or "none"
    message = f"no axis is named {name!r}{suggest(name, list(known))}; axes: {listed}"
    raise QueryError("query.unknown-axis", message, place)


def _read_conditions(session: Session, text: str, place: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the value of each condition in a text."""
    left: str | None = text
    while left is not None:
        name, separator, rest = (part.strip() for part in left.partition("="))
        if not separator or not name or not rest:
            message = f"{left!r}: must have the form AXIS=VALUE, as in cache_capacity=64MiB"
            raise QueryError("query.bad-condition", message, place)
        path = find_path(session, name, place)
        # The longest value of the axis; without one, what stands before the next condition.
        ends = [match.span() for match in _SEPARATOR.finditer(rest)]
        values = [rest, *(rest[:start] for start, _ in reversed(ends))]
        found = next((at for at, value in enumerate(values) if session.points.find({path: value})), None)
        at = len(ends) if found is None else found
        yield path, values[at].strip()
        left = rest[ends[-at][1] :] if at else None


def _read_value(session: Session, path: str, text: str) -> object:
    """Return a value of an axis; a text of the axis stays a text, also if it looks like a number."""
    if session.points.find({path: text}):
        return text
    if text in {"true", "false"}:
        return text == "true"
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if math.isfinite(number) and number.is_integer() else number


def _check_value(session: Session, path: str, value: object, place: str) -> None:
    if session.points.find({path: value}):
        return
    unit = session.units.get(path)
    distinct = dict.fromkeys(row[path] for row in list_values(session).values() if row.get(path) is not None)
    # A quantity is written without blanks; a text as it is.
    shown = [
        each if isinstance(each, str) else format_axis_value(path, each, unit).replace(" ", "")
        for each in distinct
    ]
    listed = ", ".join(shown[:_MOST_LISTED]) + (", ..." if len(shown) > _MOST_LISTED else "")
    title = path if path == LABEL else title_axis(path)
    message = f"no point has {title} {value}; it has {listed or 'no values'}"
    raise QueryError("query.no-such-point", message, place, {"values": shown})
