"""Rows sorted into the panels and lines of a chart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.report.drawing.chart import SeriesStyle
from destage.queries.text.presentation import format_count, format_number, name_value, title_axis

Row = dict[str, Any]

CAPACITY = "controller.cache.capacity"
BATTERY = "controller.battery.state"
RAID = "array.raid"
MOST_LINES = 8
MOST_PANELS = 12
_LABEL = "label"
_SHARED = frozenset({RAID, "array.disks"})
"""Axes whose values a named controller must share with a panel to be drawn in it."""
_TRACE = ".arrival.file"
_CACHE = ("controller.cache.", "controller.battery.")
"""Beginnings of the axes that have no effect without a cache."""
_SPLIT = "controller.cache.write"
"""The beginning of the axes that have no effect without a protected write cache."""


@dataclass(frozen=True, slots=True)
class Line:
    """Rows that are drawn as one series; `like` names the line whose colour it has, if not its own."""

    name: str
    style: SeriesStyle
    rows: tuple[Row, ...]
    like: str = ""


@dataclass(frozen=True, slots=True)
class Facets:
    """Rows sorted for a chart.

    Attributes:
        x: The column along x: a dotted path, `label` or a result column.
        panels: The panels: a title each, and its lines.
        remarks: What a reader must know about the choice, in sentences.
    """

    x: str
    panels: tuple[tuple[str, tuple[Line, ...]], ...]
    remarks: tuple[str, ...] = ()


def choose_facets(rows: Sequence[Row], session: Session, most_panels: int = MOST_PANELS) -> Facets | None:
    """Sort rows by the axes that vary; return None where no axis can run along x.

    RAID levels and traces have panels of their own. Points with a label are drawn apart from the grid, points
    without a working battery as a dashed line.
    """
    x = _choose_x(rows, session)
    if x is None:
        return None
    grid = [row for row in rows if row[_LABEL] is None] or list(rows)
    has_grid = grid[0][_LABEL] is None
    protected = [row for row in grid if row.get(BATTERY, "present") == "present"] or grid
    # Without a cache, its axes have no effect: such a point is the beginning of every line.
    protected = [row for row in protected if x != CAPACITY or row[x] != 0] or protected
    candidates = sorted(
        (path for path in session.axes if path not in {x, BATTERY} and varies(path, protected)),
        key=lambda path: (is_text(path, protected), -len(_values(path, protected))),
    )
    by_line = next((path for path in candidates if path != RAID and not path.endswith(_TRACE)), None)
    rest = [path for path in candidates if path != by_line]
    chosen, held = _choose_panels(rest, protected, session, most_panels)
    line_values = _values(by_line, protected)
    is_number = by_line is not None and not is_text(by_line, protected) and None not in line_values
    lines = spread(sorted(line_values) if is_number else line_values, MOST_LINES)
    kept = _agreeing(protected, held)
    bare = _agreeing(
        [row for row in grid if row.get(BATTERY, "present") != "present" and row not in protected],
        {path: value for path, value in held.items() if not path.startswith(_SPLIT)},
    )
    starts = [row for row in grid if row[x] == 0] if x == CAPACITY else []
    named = [row for row in rows if row[_LABEL] is not None] if has_grid else []
    named = _agreeing(named, {path: value for path, value in held.items() if path in _SHARED})
    panels = []
    for values in product(*chosen.values()):
        inside = dict(zip(chosen, values, strict=True))
        here = _agreeing(kept, inside)
        drawn = _grid_lines(here, by_line, lines, session, "line" if has_grid else "labelled")
        drawn = [_begin_without_cache(line, starts, x, session) for line in drawn]
        splits = by_line is not None and not by_line.startswith(_CACHE)
        drawn += _bare_lines(_agreeing(bare, inside), x, by_line if splits else None, lines, session)
        drawn += _named_lines(_agreeing(named, inside), named)
        title = ", ".join(name_value(path, value, session.units) for path, value in inside.items())
        panels.append((title, tuple(line for line in drawn if line.rows)))
    return Facets(
        x,
        tuple(panels),
        tuple(_explain_choice(panels, (rows, protected), held, chosen, (by_line, lines), session)),
    )


def request_facets(rows: Sequence[Row], session: Session, x: str, by: str | None) -> Facets:
    """Sort rows as a study asks: a line for each value of `by`.

    RAID levels have panels of their own, as have the values of other axes where the lines would be too many.
    Where other axes leave several marks at one x, each of their values has a line. Points with a label are
    drawn apart from the grid, unless the labels are what is drawn.
    """
    grid = [row for row in rows if row[_LABEL] is None]
    is_apart = bool(grid) and len(grid) < len(rows) and _LABEL not in {x, by} and not is_text(x, rows)
    drawn = grid if is_apart else list(rows)
    splitting = [
        path for path in session.axes if path not in {x, by} and _splits(path, drawn, session, x, by)
    ]
    chosen = {} if is_text(x, rows) else _request_panels(splitting, drawn, by)
    panels, most = [], 0
    remarks: list[str] = []
    for values in product(*chosen.values()):
        inside = dict(zip(chosen, values, strict=True))
        parts = _request_lines(_agreeing(drawn, inside), session, x, by, is_apart=is_apart)
        if len(parts) > MOST_LINES and is_text(x, rows):
            # All dots of a name in one line show at least its range.
            parts = [Line("", "scattered", tuple(drawn))]
            remarks.append(f"The dots of one line differ in {_list_axes(splitting)}.")
        most = max(most, len(parts))
        lines = parts[:MOST_LINES]
        if is_apart:
            named = _agreeing([row for row in rows if row not in grid], inside)
            lines.append(Line("named points", "labelled", tuple(named)))
        title = ", ".join(name_value(path, value, session.units) for path, value in inside.items())
        panels.append((title, tuple(line for line in lines if line.rows)))
    if most > MOST_LINES:
        remarks.append(f"Only the first {MOST_LINES} of {most} lines are shown.")
    return Facets(x, tuple(panel for panel in panels if panel[1]), tuple(remarks))


def varies(path: str, rows: Sequence[Row]) -> bool:
    """Whether a column has several values."""
    return len(_values(path, rows)) > 1


def is_text(path: str, rows: Sequence[Row]) -> bool:
    """Whether the values of a column are names rather than numbers."""
    return path == _LABEL or any(isinstance(row[path], str | bool) for row in rows)


def _choose_panels(
    paths: Sequence[str], rows: Sequence[Row], session: Session, most: int
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return the values of the axes that get panels, and the value at which each other axis is held."""
    chosen: dict[str, list[Any]] = {}
    held: dict[str, Any] = {}
    room = most
    order = sorted(
        paths, key=lambda path: (path != RAID, not path.endswith(_TRACE), len(_values(path, rows)))
    )
    for path in order:
        values = spread(_values(path, rows), room)
        if len(values) > 1:
            chosen[path] = values
            room //= len(values)
        else:
            # The value of the study's own scenario if it was measured, else the first.
            own, measured = find_own(path, session.spec.get("scenario")), _values(path, rows)
            held[path] = own if own in measured else measured[0]
    return chosen, held


def _request_panels(splitting: Sequence[str], rows: Sequence[Row], by: str | None) -> dict[str, list[Any]]:
    """Return the values of the axes that get panels in a chart that a study asks for."""
    values = {path: _values(path, rows) for path in splitting}
    chosen = {RAID: values[RAID]} if RAID in values and len(values[RAID]) <= MOST_PANELS else {}
    rest = sorted((path for path in splitting if path not in chosen), key=lambda path: len(values[path]))
    room = MOST_PANELS // max(1, len(chosen.get(RAID, ())))
    lines = len({tuple(row[path] for path in [*rest, *filter(None, [by])]) for row in rows})
    for path in rest:
        if lines > MOST_LINES and len(values[path]) <= room:
            chosen[path] = values[path]
            room //= len(values[path])
            lines //= len(values[path])
    return chosen


def _request_lines(
    rows: Sequence[Row], session: Session, x: str, by: str | None, *, is_apart: bool
) -> list[Line]:
    lines = []
    for value in _values(by, rows):
        name = "" if by is None else name_value(by, value, session.units)
        if by == _LABEL:
            name = "the grid" if value is None else str(value)
        inside = _agreeing(rows, {} if by is None else {by: value})
        varying = [
            path for path in session.axes if path not in {x, by} and _splits(path, inside, session, x, None)
        ]
        for key in dict.fromkeys(tuple(row[path] for path in varying) for row in inside):
            same = dict(zip(varying, key, strict=True))
            names = [name, *(name_value(path, shared, session.units) for path, shared in same.items())]
            part = tuple(_agreeing(inside, same))
            title = ", ".join(filter(None, names)) or ("the grid" if is_apart else "")
            # Marks follow each other if at most one axis varies along the line.
            is_walk = x in session.axes or sum(varies(path, part) for path in session.axes) <= 1
            lines.append(Line(title, "line" if is_walk else "scattered", part))
    return lines


def _list_axes(paths: Sequence[str]) -> str:
    *first, last = map(title_axis, paths)
    return f"{', '.join(first)} and {last}" if first else last


def _splits(path: str, rows: Sequence[Row], session: Session, x: str, by: str | None) -> bool:
    """Whether an axis is what leaves several rows at one place of a line."""
    if x not in {*session.axes, _LABEL} or not varies(path, rows):
        return False
    places = {(row[x], None if by is None else row[by]) for row in rows}
    return len(places) < len(rows)


def _grid_lines(
    rows: Sequence[Row], by: str | None, values: Sequence[Any], session: Session, style: SeriesStyle
) -> list[Line]:
    if by is not None:
        return [
            Line(name_value(by, value, session.units), style, tuple(_agreeing(rows, {by: value})))
            for value in values
        ]
    has_battery = bool(rows) and rows[0].get(BATTERY) == "present"
    return [Line("battery present" if has_battery else "measured", style, tuple(rows))]


def _begin_without_cache(line: Line, starts: Sequence[Row], x: str, session: Session) -> Line:
    """Return a line that begins at the point without cache, where the axes of the cache have no effect."""
    if not line.rows or any(row[x] == 0 for row in line.rows):
        return line
    outside = {path: line.rows[0][path] for path in session.axes if not path.startswith(_CACHE)}
    return Line(line.name, line.style, (*_agreeing(starts, outside)[:1], *line.rows), line.like)


def _named_lines(rows: Sequence[Row], every: Sequence[Row]) -> list[Line]:
    """Return the points with labels: each with its text, or in colours where a label stands for several."""
    labels = _values(_LABEL, every)
    if len(labels) == len(every) or len(labels) > MOST_LINES:
        return [Line("named points", "labelled", tuple(rows))]
    return [Line(label, "scattered", tuple(_agreeing(rows, {_LABEL: label}))) for label in labels]


def _bare_lines(
    rows: Sequence[Row], x: str, by: str | None, values: Sequence[Any], session: Session
) -> list[Line]:
    """Return a dashed line for each state without a working battery and each value of `by`."""
    lines = []
    for state, value in product(dict.fromkeys(row[BATTERY] for row in rows), values if by else [None]):
        inside = {BATTERY: state} if by is None else {BATTERY: state, by: value}
        first: dict[Any, Row] = {}
        for row in _agreeing(rows, inside):
            first.setdefault(row[x], row)
        like = "" if by is None else name_value(by, value, session.units)
        name = ", ".join(filter(None, [like, f"battery {state}"]))
        lines.append(Line(name, "reference", tuple(first.values()), like))
    return lines


def _explain_choice(
    panels: Sequence[tuple[str, Sequence[Line]]],
    rows: tuple[Sequence[Row], Sequence[Row]],
    held: Mapping[str, Any],
    chosen: Mapping[str, Sequence[Any]],
    by: tuple[str | None, Sequence[Any]],
    session: Session,
) -> list[str]:
    """Return which values are drawn, where not all are, and how many points are left out.

    Args:
        rows: All of them, and those with a protected cache.
        by: The axis of the lines, and the values that have one.
    """
    every, protected = rows
    remarks = []
    if held:
        held_text = ", ".join(name_value(path, value, session.units) for path, value in held.items())
        remarks.append(f"Shown for {held_text}.")
    for path, values in (*chosen.items(), by):
        count = len(_values(path, protected))
        if path is not None and len(values) < count:
            remarks.append(f"{len(values)} of {count} values of {title_axis(path)} are shown.")
    # Points with equal values of all axes that have an effect are one.
    drawn = [row for _, lines in panels for line in lines for row in line.rows]
    keys, shown = (
        {tuple(row[path] for path in (_LABEL, *session.axes)) for row in rows} for rows in (every, drawn)
    )
    if keys - shown:
        points = format_count(len(keys - shown), "point")
        where = "" if session.left_out else "; the table has them"
        remarks.append(f"{points} of {format_number(len(keys))} left out of this figure{where}.")
    return remarks


def _choose_x(rows: Sequence[Row], session: Session) -> str | None:
    numeric = [
        path
        for path in session.axes
        if varies(path, rows) and not is_text(path, rows) and all(row[path] is not None for row in rows)
    ]
    return CAPACITY if CAPACITY in numeric else next(iter(numeric), None)


def find_own(path: str, config: object) -> Any:
    """Return the value of a configuration at a dotted path; None without one."""
    for segment in path.split("."):
        config = config.get(segment) if isinstance(config, Mapping) else None
    return config


def _agreeing(rows: Sequence[Row], values: Mapping[str, Any]) -> list[Row]:
    return [row for row in rows if all(row[path] == value for path, value in values.items())]


def spread(values: Sequence[Any], most: int) -> list[Any]:
    """Return at most `most` values, evenly spaced and including both ends."""
    if len(values) <= most:
        return list(values)
    return [values[round(step * (len(values) - 1) / max(most - 1, 1))] for step in range(most)]


def _values(path: str | None, rows: Sequence[Row]) -> list[Any]:
    """Return the values of a column in the order of the rows; one None without a column."""
    return [None] if path is None else list(dict.fromkeys(row[path] for row in rows))
