"""The figures of a report: which query each shows, and how its rows become a chart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from destage.errors import QueryError
from destage.queries.named import FITTING, find_query
from destage.queries.presentation import scale_of, title_of
from destage.queries.report.chart import Chart, Figure, Mark, Panel, Series
from destage.queries.report.charted import charted
from destage.queries.report.grouping import CAPACITY, Grouping, group
from destage.queries.report.ratios import RATIOS, ratios
from destage.queries.report.timeline import lanes_of, remark_of
from destage.queries.session import Session
from destage.spec.validation import suggest

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure that a report may hold.

    Attributes:
        name: Its name.
        query: The named query whose rows it shows.
        studies: Which studies it is for: seek, replay, fixed or any.
        title: What it shows.
        columns: The columns drawn, a panel each; `answer` is what the study seeks.
        caption: What a reader must know of it.
        y_title: The y axis, where one column's heading will not do.
        y_log: Whether y is logarithmic.
    """

    name: str
    query: str
    studies: str
    title: str
    columns: tuple[str, ...]
    caption: str
    y_title: str | None = None
    y_log: bool = False


PLOTS = (
    Plot(
        "users_against_cache",
        "users_against_cache",
        "seek",
        "What each cache size carries",
        ("answer",),
        "The largest load that meets every objective, certified in each replicate by one run that meets them "
        "there and one that does not just above.",
    ),
    Plot(
        "completion_time_against_cache",
        "commits_against_cache",
        "replay",
        "How long the recorded work takes",
        ("completion_time_s",),
        "From the start to the last completion. In a dependent replay each process issues its next request "
        "when the last has completed, after the recorded pause: a faster array finishes sooner, but not "
        "sooner than the pauses allow.",
    ),
    Plot(
        "commit_latency_against_cache",
        "commits_against_cache",
        "replay",
        "How long a commit waits",
        ("commit_p50_us", "commit_p99_us"),
        "A commit is a synchronous write with the flush that ends it: median and 99th percentile.",
        y_title="time to commit [ms]",
        y_log=True,
    ),
    Plot(
        "commit_rate_against_cache",
        "commits_against_cache",
        "replay",
        "How many commits are sustained",
        ("commits_per_s",),
        "Commits a second over the whole replay.",
    ),
    Plot(
        "response_against_cache",
        "response_against_cache",
        "fixed",
        "How long a request takes",
        ("response_p50_us", "response_p95_us", "response_p99_us"),
        "Reads and writes together: median, 95th and 99th percentile.",
        y_title="response time [ms]",
        y_log=True,
    ),
    Plot(
        "hit_ratio_against_cache",
        "hit_ratio_against_cache",
        "any",
        "How often the cache serves a read or absorbs a write",
        ("read_hit_ratio", "write_hit_ratio"),
        "A write hit finds the lines that it writes dirty already: it takes no more room, and where it "
        "overwrites, the older data never go to the disks.",
        y_title="hit ratio",
    ),
)


TIMELINE = "timeline"
_MOST_NAMED = 8
"""Named points beyond which their texts hide a figure that a study's own charts can do without."""


def figures(session: Session) -> list[Figure]:
    """Return every figure that the sweep's rows can fill.

    Args:
        session: The sweep.
    """
    charts = charted(session)
    asked = {figure.name for figure in charts}
    plots = [plot for plot in _fitting(session) if plot.name not in asked]
    drawn = [*(_figure(session, plot) for plot in plots), _timeline(session)]
    return [*charts, *(figure for figure in drawn if figure is not None)]


def figure(session: Session, name: str) -> Figure:
    """Return one figure.

    Args:
        session: The sweep.
        name: Its name.

    Raises:
        QueryError: There is no such figure, or no row to fill it.
    """
    asked = {one.name: one for one in charted(session)}
    if name in asked:
        return asked[name]
    fitting = {plot.name: plot for plot in _fitting(session)}
    known = [*asked, *fitting, TIMELINE, RATIOS]
    if name not in known:
        raise QueryError(
            "query.unknown-plot",
            f"unknown plot {name!r}{suggest(name, known)}; available: {', '.join(known)}",
            data={"available": known},
        )
    others = {TIMELINE: _timeline, RATIOS: ratios}
    drawn = others[name](session) if name in others else _figure(session, fitting[name])
    if drawn is None:
        raise QueryError("query.no-rows", "the sweep has no rows for this plot yet", name)
    return drawn


def _fitting(session: Session) -> list[Plot]:
    """The plots for this kind of study; beside charts of its own, those of which none of these is."""
    plots = [plot for plot in PLOTS if plot.studies in FITTING[session.kind]]
    charts = session.spec.get("charts")
    if not charts:
        return plots
    named = {point["label"] for point in session.points} - {None}
    if CAPACITY not in session.axes or len(named) > _MOST_NAMED:
        return []
    drawn = {chart["y"] for chart in charts if chart["x"] == CAPACITY}
    return [plot for plot in plots if not {_column(name, session) for name in plot.columns} <= drawn]


def _column(name: str, session: Session) -> str:
    return session.metric or name if name == "answer" else name


def _figure(session: Session, plot: Plot) -> Figure | None:
    columns = tuple(_column(name, session) for name in plot.columns)
    rows: list[Row] = session.query(plot.query).to_pylist()
    columns = tuple(name for name in columns if any(row[name] is not None for row in rows))
    grouping = group(rows, session, split_panels=len(columns) == 1)
    if not columns or grouping is None:
        return None
    panels = (
        _panels_by_axis(grouping, columns[0]) if len(columns) == 1 else _panels_by_column(grouping, columns)
    )
    panels = tuple(panel for panel in panels if any(series.marks for series in panel.series))
    chart = Chart(
        title=plot.title,
        x_title=f"{grouping.x_title}",
        x_unit=session.units.get(grouping.x),
        y_title=plot.y_title or title_of(columns[0]),
        y_log=plot.y_log,
        y_most=1.0 if all(name.endswith("_ratio") for name in columns) else None,
        panels=panels,
        ordered=_legend(panels),
    )
    query = find_query(plot.query, session.kind)
    caption = " ".join([plot.caption, *grouping.remarks, *_remarks(chart)])
    return Figure(plot.name, chart, caption, query.sql)


def _timeline(session: Session) -> Figure | None:
    rows: list[Row] = session.query("states_over_time").to_pylist()
    lanes = lanes_of(rows, session, "What happened, and when")
    if lanes is None:
        return None
    caption = (
        "The first replicate of each configuration in which something happened: green is as it should be, "
        "red is not, amber is in between; what is rebuilt fills up. Dirty data are at risk while no battery "
        "holds them."
    )
    query = find_query("states_over_time", session.kind)
    return Figure(TIMELINE, lanes, " ".join(filter(None, [caption, remark_of(rows)])), query.sql)


def _legend(panels: Sequence[Panel]) -> tuple[str, ...]:
    """The series' names: lines first, marks from elsewhere last."""
    styles = {series.name: series.style for panel in panels for series in panel.series if series.marks}
    order = ("line", "reference", "labelled", "published")
    return tuple(sorted(styles, key=lambda name: order.index(styles[name])))


def _panels_by_axis(grouping: Grouping, column: str) -> tuple[Panel, ...]:
    return tuple(
        Panel(
            title,
            tuple(
                series
                for name, style, rows in lines
                for series in (
                    _series(grouping, name, style, rows, column),
                    _published(grouping, rows, column),
                )
                if series.marks
            ),
        )
        for title, lines in grouping.panels
    )


def _panels_by_column(grouping: Grouping, columns: Sequence[str]) -> tuple[Panel, ...]:
    (_, lines), *_ = grouping.panels
    return tuple(
        Panel(
            title_of(column).partition(" [")[0],
            tuple(_series(grouping, name, style, rows, column) for name, style, rows in lines),
        )
        for column in columns
    )


def _series(grouping: Grouping, name: str, style: str, rows: Sequence[Row], column: str) -> Series:
    scale = scale_of(column)

    def shown(value: float | None) -> float | None:
        return None if value is None else value * scale

    marks = [
        Mark(
            x=float(row[grouping.x]),
            y=row[column] * scale,
            low=shown(row.get(f"{column}_low")),
            high=shown(row.get(f"{column}_high")),
            note=grouping.note(row, column),
            label=row["label"] if style == "labelled" else None,
        )
        for row in sorted(rows, key=lambda row: float(row[grouping.x]))
        if row[column] is not None
    ]
    return Series(name, style, tuple(marks))


def _published(grouping: Grouping, rows: Sequence[Row], column: str) -> Series:
    marks = [
        Mark(
            x=float(row[grouping.x]),
            y=row["published"],
            low=None,
            high=None,
            note=f"published {row['published']:g} ({row['published_kind']})",
            label=f"published {row['published']:g}",
        )
        for row in rows
        if column.endswith("_supported") and row.get("published") is not None
    ]
    return Series("published", "published", tuple(marks))


def _remarks(chart: Chart) -> list[str]:
    series = [one for panel in chart.panels for one in panel.series]
    remarks = []
    if any(mark.low is not None for one in series for mark in one.marks):
        remarks.append("Bars are 95 % t-intervals over replicates.")
    if any(one.style == "published" for one in series):
        remarks.append("Hollow diamonds are published figures.")
    return remarks
