"""The charts that a study asks for: each entry of `charts` becomes a figure over the points."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from destage.queries.presentation import axis_title, axis_value, interval, number, scale_of, title_of
from destage.queries.published import published_at
from destage.queries.report.chart import Chart, Figure, Mark, Panel, Series
from destage.queries.report.dots import Dot, DotKind, DotRow, Dots
from destage.queries.report.grouping import x_title
from destage.queries.session import Session
from destage.sql import quote

Row = dict[str, Any]

MOST_LINES = 8
_LABEL = "label"
_PUBLISHED = "published"
_GRID = "the grid"
_SECTIONS = ("published", "published_against_simulated", "timeline", "design_space", "provenance")
"""Names that other parts of a report have."""
_MOST_WORDY = 6
"""Published figures of a chart beyond which each bears its number alone."""
_CENSORED = {"at_least": "≥ ", "below": "≤ "}


@dataclass(frozen=True, slots=True)
class _Line:
    """Rows that are drawn as one."""

    name: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Picture:
    """One entry of `charts`, with the rows it is drawn from."""

    entry: Mapping[str, Any]
    session: Session
    rows: tuple[Row, ...]
    remarks: list[str] = field(default_factory=list)

    @property
    def x(self) -> str:
        return str(self.entry["x"])

    @property
    def y(self) -> str:
        return str(self.entry["y"])

    @property
    def by(self) -> str | None:
        return self.entry.get("by")

    @property
    def is_by_name(self) -> bool:
        """Whether x holds texts, so that each of its values is a row."""
        return self.x == _LABEL or any(isinstance(row[self.x], str | bool) for row in self.rows)

    @property
    def most(self) -> float | None:
        return 1.0 if self.y.endswith(("_ratio", "_fraction")) else None

    @property
    def x_title(self) -> str:
        if "x_title" in self.entry:
            return str(self.entry["x_title"])
        return x_title(self.x) if self.x in self.session.axes else title_of(self.x)

    @property
    def y_title(self) -> str:
        return str(self.entry.get("y_title", title_of(self.y)))

    def tell(self, path: str, value: object) -> str:
        """Return a value of an axis as a legend has it: an entry of the catalogue or a file by itself."""
        text = axis_value(path, value, self.session.units.get(path))
        return text if path.endswith((".use", ".file")) else f"{axis_title(path)} {text}"

    def place(self, row: Row) -> str:
        """Return where a row stands on an axis of names."""
        return axis_value(self.x, row[self.x], self.session.units.get(self.x))

    def note(self, row: Row) -> str:
        """Return what is told of one mark."""
        where = [
            self.tell(path, row[path])
            for path in self.session.axes
            if row[path] is not None and _varies(path, self.rows)
        ]
        bound = _bound(row, self.y)
        told = f"{title_of(self.y)} {bound}" if bound else interval(self.y, row)
        return ": ".join(filter(None, [", ".join(filter(None, [row[_LABEL], *where])), told]))


def charted(session: Session) -> list[Figure]:
    """Return the figures of the study's `charts` that the sweep's rows can fill, in the study's order.

    Args:
        session: The sweep.

    Raises:
        QueryError: An entry's condition fails over the rows that are there.
    """
    if not session.config:
        return []
    drawn: list[Figure] = []
    for entry in session.spec.get("charts", []):
        figure = _figure(entry, session, [one.name for one in drawn])
        if figure is not None:
            drawn.append(figure)
    return drawn


def _figure(entry: Mapping[str, Any], session: Session, taken: Sequence[str]) -> Figure | None:
    sql = _statement(entry, session)
    found: list[Row] = session.sql(sql).to_pylist()
    measured = tuple(row for row in found if row[entry["y"]] is not None)
    picture = _Picture(entry, session, tuple(row for row in measured if row[entry["x"]] is not None))
    if not picture.rows:
        return None
    if len(measured) < len(found):
        picture.remarks.append(f"{_points(len(found) - len(measured))} without such a figure: not drawn.")
    if len(picture.rows) < len(measured):
        missing = _points(len(measured) - len(picture.rows))
        picture.remarks.append(f"{missing} without {picture.x_title}: not drawn.")
    chart = _dots(picture) if picture.is_by_name else _chart(picture)
    caption = " ".join(filter(None, [entry.get("caption"), *picture.remarks, *_remarks(picture)]))
    return Figure(_name(entry["title"], taken), chart, caption, sql)


def _statement(entry: Mapping[str, Any], session: Session) -> str:
    y, x = entry["y"], entry["x"]
    axes = [quote(path) for path in session.axes]
    shown = ["point_id", quote(_LABEL), *axes]
    if x not in {*session.axes, _LABEL}:
        shown.append(quote(x))
    shown += [quote(name) for name in (y, f"{y}_low", f"{y}_high")]
    if session.metric is None:
        shown.append("NULL AS censored")
        source = ["FROM points"]
    else:
        shown.append("censored")
        carried = ["plan_row", quote(_LABEL), *axes]
        ends = [f"answer_{end} AS {quote(f'{session.metric}_{end}')}" for end in ("low", "high")]
        answered = ["point_id", *carried, "censored", f"answer_mean AS {quote(session.metric)}", *ends]
        source = [
            "FROM (",
            f"  SELECT {', '.join(answered)}",
            "  FROM answers",
            ")",
            "LEFT JOIN (",
            f"  SELECT * EXCLUDE ({', '.join(carried)})",
            "  FROM certified",
            ") USING (point_id)",
        ]
    return "\n".join(
        [
            f"SELECT {', '.join(shown)}",
            *source,
            *(["WHERE (", entry["where"], ")"] if "where" in entry else []),
            "ORDER BY plan_row",
        ]
    )


def _lines(picture: _Picture) -> list[_Line]:
    """A line for each value of `by`; where other axes leave several marks at one x, for each of theirs."""
    by, x = picture.by, picture.x
    lines: list[_Line] = []
    for value in _values(by, picture.rows):
        rows = [row for row in picture.rows if by is None or row[by] == value]
        name = "" if by is None else _by_name(picture, by, value)
        is_split = x in {*picture.session.axes, _LABEL} and len({row[x] for row in rows}) < len(rows)
        others = [path for path in picture.session.axes if is_split and path not in {x, by}]
        varying = [path for path in others if _varies(path, rows)]
        parts: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            parts.setdefault(tuple(row[path] for path in varying), []).append(row)
        lines += [
            _Line(", ".join(filter(None, [name, *map(picture.tell, varying, key)])), tuple(part))
            for key, part in parts.items()
        ]
    if len(lines) > MOST_LINES:
        picture.remarks.append(f"The first {MOST_LINES} of {len(lines)} lines.")
    return lines[:MOST_LINES]


def _by_name(picture: _Picture, by: str, value: object) -> str:
    if by == _LABEL:
        return _GRID if value is None else str(value)
    return picture.tell(by, value)


def _chart(picture: _Picture) -> Chart:
    x, y = picture.x, picture.y
    is_axis = x in picture.session.axes
    x_scale, y_scale = (1.0 if is_axis else scale_of(x)), scale_of(y)
    grid = [row for row in picture.rows if row[_LABEL] is None]
    stands_apart = bool(grid) and _LABEL not in {x, picture.by}
    named = [row for row in picture.rows if row[_LABEL] is not None] if stands_apart else []
    rest = _Picture(picture.entry, picture.session, tuple(grid), picture.remarks) if named else picture

    def mark(row: Row, label: str | None) -> Mark:
        return Mark(
            x=float(row[x]) * x_scale,
            y=row[y] * y_scale,
            low=_scaled(row[f"{y}_low"], y_scale),
            high=_scaled(row[f"{y}_high"], y_scale),
            note=picture.note(row),
            label=label,
        )

    series = []
    line_of: dict[str, str] = {}
    for line in _lines(rest):
        line_of |= {row["point_id"]: line.name for row in line.rows}
        # A result along x comes in the order of the plan: the line follows what the study varies.
        rows = sorted(line.rows, key=lambda row: float(row[x])) if is_axis else line.rows
        marks = tuple(mark(row, _bound(row, y)) for row in rows)
        style = "line" if is_axis or _is_one_walk(rest, line) else "scattered"
        series.append(Series(line.name or (_GRID if named else ""), style, marks))
    if named:
        marks = tuple(mark(row, " ".join(filter(None, [row[_LABEL], _bound(row, y)]))) for row in named)
        series.append(Series("named points", "labelled", marks))
    published = _published(picture)
    if published:
        is_wordy = len(published) <= _MOST_WORDY
        marks = tuple(
            Mark(
                x=float(row[x]) * x_scale,
                y=value * y_scale,
                low=None,
                high=None,
                note=f"published {number(value * y_scale)}",
                label=f"{'published ' if is_wordy else ''}{number(value * y_scale)}",
                line=line_of.get(row["point_id"]),
            )
            for row, value in published
        )
        series.append(Series(_PUBLISHED, "published", marks))
    return Chart(
        title=picture.entry["title"],
        x_title=picture.x_title,
        x_unit=picture.session.units.get(x),
        y_title=picture.y_title,
        y_log=picture.entry.get("y_log", False),
        y_most=picture.most,
        panels=(Panel("", tuple(series)),),
        ordered=tuple(one.name for one in series if one.name) if len(series) > 1 or series[0].name else (),
        x_log=picture.entry.get("x_log", False),
        x_at_values=is_axis,
    )


def _dots(picture: _Picture) -> Dots:
    y, scale = picture.y, scale_of(picture.y)
    lines = _lines(picture)
    drawn = [row for line in lines for row in line.rows]
    published = _published(picture)
    dots: dict[str, list[Dot]] = {picture.place(row): [] for row in picture.rows if row in drawn}
    for lane, line in enumerate(lines):
        for row in line.rows:
            label = _bound(row, y) or number(row[y] * scale)
            dots[picture.place(row)].append(
                Dot(
                    line.name,
                    row[y] * scale,
                    _scaled(row[f"{y}_low"], scale),
                    _scaled(row[f"{y}_high"], scale),
                    picture.note(row),
                    label,
                    lane,
                )
            )
            dots[picture.place(row)] += [
                Dot(_PUBLISHED, value * scale, None, None, text, text, lane)
                for one, value in published
                if one is row
                for text in [f"published {number(value * scale)}"]
            ]
    kinds = [DotKind(line.name, "circle", f"c{at}") for at, line in enumerate(lines)]
    if any(dot.kind == _PUBLISHED for row in dots.values() for dot in row):
        kinds.append(DotKind(_PUBLISHED, "diamond", _PUBLISHED))
    return Dots(
        title=picture.entry["title"],
        x_title=picture.y_title,
        x_log=picture.entry.get("y_log", False),
        x_most=picture.most,
        kinds=tuple(kinds),
        rows=tuple(DotRow(title, tuple(row)) for title, row in dots.items()),
        row_title="" if picture.x == _LABEL and "x_title" not in picture.entry else picture.x_title,
    )


def _published(picture: _Picture) -> list[tuple[Row, float]]:
    if not picture.entry.get("published", True):
        return []
    session = picture.session
    values = published_at(session.spec, picture.y, session.points, session.config)
    return [(row, value) for row in picture.rows for value in values.get(row["point_id"], [])]


def _remarks(picture: _Picture) -> list[str]:
    remarks = []
    if any(row[f"{picture.y}_low"] is not None for row in picture.rows):
        remarks.append("Bars are 95 % t-intervals over replicates.")
    if _published(picture):
        remarks.append("Hollow diamonds are published figures, in the colour of their line.")
    return remarks


def _is_one_walk(picture: _Picture, line: _Line) -> bool:
    """Whether at most one axis varies along a line, so that its marks follow each other."""
    return sum(_varies(path, line.rows) for path in picture.session.axes) <= 1


def _bound(row: Row, y: str) -> str | None:
    """The text of an answer that is only a bound."""
    bound = _CENSORED.get(row["censored"] or "")
    return f"{bound}{number(row[y])}" if bound and y.endswith("_supported") else None


def _values(path: str | None, rows: Sequence[Row]) -> list[Any]:
    return [None] if path is None else list(dict.fromkeys(row[path] for row in rows))


def _varies(path: str, rows: Sequence[Row]) -> bool:
    return len({row[path] for row in rows}) > 1


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _points(how_many: int) -> str:
    return "1 point" if how_many == 1 else f"{how_many} points"


def _name(title: str, taken: Sequence[str]) -> str:
    """Return a figure's name, made of the letters and digits of its title."""
    name = re.sub("[^a-z0-9]+", "_", title.lower()).strip("_") or "chart"
    used = {*taken, *_SECTIONS}
    return name if name not in used else next(f"{name}_{n}" for n in count(2) if f"{name}_{n}" not in used)
