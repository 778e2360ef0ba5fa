"""Rows sorted into the panels and lines of a chart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from destage.queries.presentation import name_value
from destage.queries.report.chart import SeriesStyle
from destage.queries.session import Session

Row = dict[str, Any]

CAPACITY = "controller.cache.capacity"
MOST_LINES = 8
_LABEL = "label"
BATTERY = "controller.battery.state"
_SHARED = frozenset({"array.raid", "array.disks"})
"""Axes on which a named controller must agree with what is drawn."""
_MOST_PANELS = 4
_TRACE = ".arrival.file"


@dataclass(frozen=True, slots=True)
class Line:
    """Rows that are drawn as one series."""

    name: str
    style: SeriesStyle
    rows: tuple[Row, ...]


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


def choose_facets(rows: Sequence[Row], session: Session, *, split_panels: bool) -> Facets | None:
    """Sort rows by the axes that vary; return None where no axis can run along x.

    Points with a label are drawn apart from the grid, points without a working battery as a dashed line.

    Args:
        rows: The rows, with `label` and the axis columns.
        split_panels: Whether an axis may get a panel for each value rather than be held at one.
    """
    x = _choose_x(rows, session)
    if x is None:
        return None
    grid = [row for row in rows if row[_LABEL] is None] or list(rows)
    has_grid = grid[0][_LABEL] is None
    protected = [row for row in grid if row.get(BATTERY, "present") == "present"] or grid
    candidates = sorted(
        (path for path in session.axes if path not in {x, BATTERY} and varies(path, protected)),
        key=lambda path: (is_text(path, protected), -len(_values(path, protected))),
    )
    # A trace says nothing about another: traces have panels of their own.
    by_line = next((path for path in candidates if not path.endswith(_TRACE)), None)
    rest = [path for path in candidates if path != by_line]
    by_panel = next(
        (path for path in rest if split_panels and len(_values(path, protected)) <= _MOST_PANELS), None
    )
    held = {path: _held_value(path, protected, session) for path in rest if path != by_panel}
    kept = _agreeing(protected, held)
    bare = _agreeing(
        [row for row in grid if row not in protected],
        {path: value for path, value in held.items() if path.endswith(_TRACE)},
    )
    named = [row for row in rows if row[_LABEL] is not None] if has_grid else []
    named = _agreeing(named, {path: value for path, value in held.items() if path in _SHARED})
    panels = []
    for value in _values(by_panel, kept):
        inside = {} if by_panel is None else {by_panel: value}
        lines = _grid_lines(_agreeing(kept, inside), by_line, session, "line" if has_grid else "labelled")
        lines += _bare_lines(_agreeing(bare, inside), x)
        chosen = _agreeing(named, inside)
        if chosen:
            lines.append(Line("named controllers", "labelled", tuple(chosen)))
        title = "" if by_panel is None else name_value(by_panel, value, session.units)
        panels.append((title, tuple(lines)))
    remarks = tuple(f"Shown for {name_value(path, value, session.units)}." for path, value in held.items())
    return Facets(x, tuple(panels), remarks)


def request_facets(rows: Sequence[Row], session: Session, x: str, by: str | None) -> Facets:
    """Sort rows as a study asks: a line for each value of `by`.

    Where other axes leave several marks at one x, each of their values has a line. Points with a label are
    drawn apart from the grid, unless the labels are what is drawn.
    """
    grid = [row for row in rows if row[_LABEL] is None]
    is_apart = bool(grid) and len(grid) < len(rows) and _LABEL not in {x, by} and not is_text(x, rows)
    drawn = grid if is_apart else list(rows)
    parts: list[tuple[str, tuple[Row, ...]]] = []
    for value in _values(by, drawn):
        name = "" if by is None else _line_name(by, value, session)
        inside = _agreeing(drawn, {} if by is None else {by: value})
        is_split = x in {*session.axes, _LABEL} and len(_values(x, inside)) < len(inside)
        varying = [path for path in session.axes if is_split and path not in {x, by} and varies(path, inside)]
        keys = dict.fromkeys(tuple(row[path] for path in varying) for row in inside)
        for key in keys:
            names = [
                name,
                *(name_value(path, one, session.units) for path, one in zip(varying, key, strict=True)),
            ]
            same = _agreeing(inside, dict(zip(varying, key, strict=True)))
            parts.append((", ".join(filter(None, names)), tuple(same)))
    remarks = (
        () if len(parts) <= MOST_LINES else (f"Only the first {MOST_LINES} of {len(parts)} lines are shown.",)
    )
    lines = [
        Line(
            name or ("the grid" if is_apart else ""),
            "line" if x in session.axes or _is_one_walk(part, session) else "scattered",
            part,
        )
        for name, part in parts[:MOST_LINES]
    ]
    if is_apart:
        lines.append(Line("named points", "labelled", tuple(row for row in rows if row not in grid)))
    return Facets(x, (("", tuple(lines)),), remarks)


def varies(path: str, rows: Sequence[Row]) -> bool:
    """Whether a column has several values."""
    return len(_values(path, rows)) > 1


def is_text(path: str, rows: Sequence[Row]) -> bool:
    """Whether the values of a column are names rather than numbers."""
    return path == _LABEL or any(isinstance(row[path], str | bool) for row in rows)


def _grid_lines(rows: Sequence[Row], by: str | None, session: Session, style: SeriesStyle) -> list[Line]:
    if by is not None:
        return [
            Line(name_value(by, value, session.units), style, tuple(_agreeing(rows, {by: value})))
            for value in _values(by, rows)
        ]
    has_battery = bool(rows) and rows[0].get(BATTERY) == "present"
    return [Line("battery present" if has_battery else "measured", style, tuple(rows))]


def _bare_lines(rows: Sequence[Row], x: str) -> list[Line]:
    """Return a dashed line for each state of a battery that protects nothing."""
    lines = []
    for state in dict.fromkeys(row[BATTERY] for row in rows):
        first: dict[Any, Row] = {}
        for row in _agreeing(rows, {BATTERY: state}):
            first.setdefault(row[x], row)
        lines.append(Line(f"battery {state}", "reference", tuple(first.values())))
    return lines


def _line_name(by: str, value: object, session: Session) -> str:
    if by == _LABEL:
        return "the grid" if value is None else str(value)
    return name_value(by, value, session.units)


def _is_one_walk(rows: Sequence[Row], session: Session) -> bool:
    """Whether at most one axis varies along a line, so that its marks follow each other."""
    return sum(varies(path, rows) for path in session.axes) <= 1


def _choose_x(rows: Sequence[Row], session: Session) -> str | None:
    numeric = [
        path
        for path in session.axes
        if varies(path, rows) and not is_text(path, rows) and all(row[path] is not None for row in rows)
    ]
    return CAPACITY if CAPACITY in numeric else next(iter(numeric), None)


def _held_value(path: str, rows: Sequence[Row], session: Session) -> Any:
    """Return the value of the study's own scenario if it was measured, else the first."""
    here: Any = session.spec.get("scenario", {})
    for segment in path.split("."):
        here = here.get(segment) if isinstance(here, dict) else None
    values = _values(path, rows)
    return here if here in values else values[0]


def _agreeing(rows: Sequence[Row], values: dict[str, Any]) -> list[Row]:
    return [row for row in rows if all(row[path] == value for path, value in values.items())]


def _values(path: str | None, rows: Sequence[Row]) -> list[Any]:
    """Return the values of a column in the order of the rows; one None without a column."""
    return [None] if path is None else list(dict.fromkeys(row[path] for row in rows))
