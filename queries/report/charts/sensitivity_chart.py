"""What matters: a bar for each axis, as long as its share of the variance of a result, or its mean effect."""

from collections.abc import Sequence

from destage.queries.opening.session import Session
from destage.queries.report.drawing.chart import Dot, DotKind, DotPlot, DotRow, Figure
from destage.queries.text.presentation import find_scale, format_number, title_axis, title_column
from destage.queries.text.sensitivity_text import (
    Row,
    choose_main,
    describe_method,
    describe_sensitivity,
    has_shares,
)
from destage.sensitivity.analysis import analyse_tables
from destage.sensitivity.sensitivity_table import SENSITIVITY
from destage.store.files.layout import SweepLayout
from destage.store.opened.recorded_progress import status

WHAT_MATTERS = "what_matters"
_ALONE, _TOGETHER = "alone (first order)", "with its interactions (total order)"
_SAMPLED = ("morris", "saltelli")
"""Designs whose tables the sweep itself writes."""
_MOST_POINTS = 20_000
"""Points up to which a report computes what the sweep has not stored."""
_MOST_AXES = 12


def build_what_matters(session: Session) -> list[Figure]:
    """Build a figure for each result in the sweep's sensitivity table, or for its result."""
    rows = _find_rows(session)
    figures = []
    for index, metric in enumerate(dict.fromkeys(row["metric"] for row in rows)):
        own = [row for row in rows if row["metric"] == metric]
        sentences = describe_sensitivity(own)
        if has_shares(own):
            caption = " ".join([*sentences, f"Method: {describe_method(own)}."])
            name = WHAT_MATTERS if not index else f"{WHAT_MATTERS}_{metric}"
            figures.append(Figure(name, build_sensitivity_chart(own), caption, _statement(session, metric)))
    return figures


def build_sensitivity_chart(rows: Sequence[Row]) -> DotPlot:
    """Build the chart of the first result in rows of the table `sensitivity`."""
    metric = rows[0]["metric"]
    own = [row for row in rows if row["metric"] == metric]
    main = choose_main(own)
    ranked = sorted((row for row in own if row[main] is not None), key=lambda row: -row[main])
    result = title_column(metric)
    words = result.partition(" [")[0]
    if main == "mu_star":
        unit = result.partition(" [")[2].rstrip("]")
        return DotPlot(
            title=f"What matters for {words}",
            x_title=f"mean change over the range of the axis{f' [{unit}]' if unit else ''}",
            kinds=(DotKind("", "column", "c0"),),
            rows=tuple(
                DotRow(title_axis(row["axis"]), (_bar(row, "mu_star", "", find_scale(metric)),))
                for row in ranked[:_MOST_AXES]
            ),
        )
    shown = {_ALONE: "first_order", _TOGETHER: "total_order"}
    if main == "first_order":
        del shown[_TOGETHER]
    colours = {_ALONE: "c0", _TOGETHER: "c1"}
    return DotPlot(
        title=f"What matters for {words}",
        x_title="share of the variance [%]",
        kinds=tuple(DotKind(kind, "column", colours[kind]) for kind in shown),
        rows=tuple(
            DotRow(
                title_axis(row["axis"]),
                tuple(_bar(row, name, kind, 100.0, lane) for lane, (kind, name) in enumerate(shown.items())),
            )
            for row in ranked[:_MOST_AXES]
        ),
        x_most=100.0,
    )


def _bar(row: Row, name: str, kind: str, scale: float, lane: int = 0) -> Dot:
    # A share below 0 is 0 by chance.
    value, low, high = (
        None if row[key] is None else max(row[key] * scale, 0.0)
        for key in (name, f"{name}_low", f"{name}_high")
    )
    if scale == 100.0 and high is not None:  # noqa: PLR2004 - percent
        high = min(high, 100.0)
    label = format_number(float(f"{value:.2g}"))
    note = f"{title_axis(row['axis'])}: {label}" + (
        ""
        if low is None
        else f" ({format_number(float(f'{low:.2g}'))} to {format_number(float(f'{high:.2g}'))})"
    )
    return Dot(kind, value or 0.0, low, high, note, label, lane)


def _find_rows(session: Session) -> Sequence[Row]:
    if SENSITIVITY in session.queries:
        stored: Sequence[Row] = session.query(SENSITIVITY).to_pylist()
        return stored
    is_sampled = session.spec.get("design", {}).get("method") in _SAMPLED
    if len(session.axes) < 2 or is_sampled or session.point_count > _MOST_POINTS:  # noqa: PLR2004 - pairs
        return ()
    # Some of the points of a grid are not a grid.
    if not status(session.sweep.path).finished:
        return ()
    certificates = None if session.metric is None else session.sweep.certificates()
    layout = SweepLayout(session.sweep.path)
    tables = analyse_tables([session.result], session.sweep.plan(), layout, certificates, None, session.spec)
    computed: Sequence[Row] = tables[SENSITIVITY].to_pylist()
    return computed


def _statement(session: Session, metric: str) -> str:
    if SENSITIVITY in session.queries:
        return f"SELECT * FROM {SENSITIVITY} WHERE metric = '{metric}'"  # noqa: S608 - a column's name
    return f"-- destage explain axes {session.sweep.name} --of {metric}"
