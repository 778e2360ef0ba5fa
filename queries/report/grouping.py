"""Sorting rows into panels and lines: which axis runs along x, which tells lines apart, which panels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from destage.queries.presentation import axis_title, axis_value, interval
from destage.queries.session import Session

Row = dict[str, Any]
Line = tuple[str, str, list[Row]]
"""A line's name, style and rows."""

CAPACITY = "controller.cache.capacity"
_BATTERY = "controller.battery.state"
_SHARED = frozenset({"array.raid", "array.disks"})
"""Axes on which a named controller must agree with what is drawn."""
_MOST_PANELS = 4
_TRACE = ".arrival.file"


@dataclass(frozen=True, slots=True)
class Grouping:
    """Rows sorted for a chart.

    Attributes:
        x: The dotted path of the axis along x.
        x_title: Its heading.
        panels: The panels: a title each, and its lines.
        remarks: Which axes were held at one value, in words.
        axes: The axes told of in a note.
        units: The base unit of each axis that has one.
    """

    x: str
    x_title: str
    panels: tuple[tuple[str, list[Line]], ...]
    remarks: tuple[str, ...]
    axes: tuple[str, ...]
    units: dict[str, str]

    def note(self, row: Row, column: str) -> str:
        """Return what is told of one mark.

        Args:
            row: Its row.
            column: The column drawn.
        """
        where = ", ".join(
            f"{axis_title(path)} {axis_value(path, row[path], self.units.get(path))}"
            for path in self.axes
            if row[path] is not None
        )
        name = f"{row['label']}: " if row["label"] else ""
        return f"{name}{where}: {interval(column, row)}"


def group(rows: Sequence[Row], session: Session, *, split_panels: bool) -> Grouping | None:
    """Sort rows into panels and lines; None where there is no axis to draw against.

    Points with a label stand apart from the grid; points without a working battery make one dashed line.

    Args:
        rows: The rows, with `label` and the axis columns.
        session: The sweep.
        split_panels: Whether panels may tell an axis apart; otherwise it is held at one value.
    """
    grid = [row for row in rows if row["label"] is None] or list(rows)
    has_grid = grid[0]["label"] is None if grid else False
    x = _x_axis(rows, session)
    if x is None:
        return None
    protected = [row for row in grid if row.get(_BATTERY, "present") == "present"] or grid
    candidates = sorted(
        (path for path in session.axes if path not in {x, _BATTERY} and len(_values(protected, path)) > 1),
        key=lambda path: (_is_text(protected, path), -len(_values(protected, path))),
    )
    # What one trace does says nothing of another: traces stand in panels of their own.
    by_line = next((path for path in candidates if not path.endswith(_TRACE)), None)
    rest = [path for path in candidates if path != by_line]
    by_panel = next(
        (path for path in rest if split_panels and len(_values(protected, path)) <= _MOST_PANELS), None
    )
    held = {path: _held_value(protected, path, session) for path in rest if path != by_panel}
    kept = [row for row in protected if all(row[path] == value for path, value in held.items())]
    traces = {path: value for path, value in held.items() if path.endswith(_TRACE)}
    bare = [
        row
        for row in grid
        if row not in protected and all(row[path] == value for path, value in traces.items())
    ]
    named = [row for row in rows if row["label"] is not None] if has_grid else []
    named = [
        row for row in named if all(row[path] == value for path, value in held.items() if path in _SHARED)
    ]
    panels = []
    for value in _values(kept, by_panel) if by_panel else [None]:
        inside = [row for row in kept if by_panel is None or row[by_panel] == value]
        lines = _lines(inside, by_line, session.units, style="line" if has_grid else "labelled")
        lines += _bare_lines([row for row in bare if by_panel is None or row[by_panel] == value], x)
        chosen = [row for row in named if by_panel is None or row[by_panel] == value]
        if chosen:
            lines.append(("named controllers", "labelled", chosen))
        title = "" if by_panel is None else _tell(by_panel, value, session.units)
        panels.append((title, lines))
    remarks = [f"Drawn at {_tell(path, value, session.units)}." for path, value in held.items()]
    return Grouping(x, x_title(x), tuple(panels), tuple(remarks), tuple(session.axes), session.units)


def _lines(rows: Sequence[Row], by: str | None, units: dict[str, str], style: str) -> list[Line]:
    if by is None:
        return [
            (
                "battery present" if rows and rows[0].get(_BATTERY) == "present" else "measured",
                style,
                list(rows),
            )
        ]
    return [
        (_tell(by, value, units), style, [row for row in rows if row[by] == value])
        for value in _values(rows, by)
    ]


def _bare_lines(rows: Sequence[Row], x: str) -> list[Line]:
    """One dashed line per state of a battery that protects nothing: there is no write cache to split."""
    lines: list[Line] = []
    for state in _values(rows, _BATTERY):
        first: dict[Any, Row] = {}
        for row in rows:
            if row[_BATTERY] == state:
                first.setdefault(row[x], row)
        lines.append((f"battery {state}", "reference", list(first.values())))
    return lines


def _x_axis(rows: Sequence[Row], session: Session) -> str | None:
    numeric = [
        path
        for path in session.axes
        if len(_values(rows, path)) > 1
        and not _is_text(rows, path)
        and all(row[path] is not None for row in rows)
    ]
    return CAPACITY if CAPACITY in numeric else next(iter(numeric), None)


def x_title(path: str) -> str:
    """Return the heading of an axis that runs along x.

    Args:
        path: Its dotted path.
    """
    return "cache capacity (nominal)" if path == CAPACITY else axis_title(path)


def _held_value(rows: Sequence[Row], path: str, session: Session) -> Any:
    """The value the study's own scenario has, if it is among those measured, else the first."""
    here: Any = session.spec.get("scenario", {})
    for segment in path.split("."):
        here = here.get(segment) if isinstance(here, dict) else None
    values = _values(rows, path)
    return here if here in values else values[0]


def _values(rows: Sequence[Row], path: str | None) -> list[Any]:
    return [] if path is None else list(dict.fromkeys(row[path] for row in rows))


def _is_text(rows: Sequence[Row], path: str) -> bool:
    return any(isinstance(row[path], str | bool) for row in rows)


def _tell(path: str, value: Any, units: dict[str, str]) -> str:
    return f"{axis_title(path)} {axis_value(path, value, units.get(path))}"
