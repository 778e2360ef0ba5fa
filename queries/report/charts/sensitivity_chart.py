"""What matters: a bar for each axis, as long as its share of the variance of a result, or its mean effect."""

from collections.abc import Sequence

from destage.queries.opening.session import Session
from destage.queries.report.drawing.chart import Dot, DotKind, DotPlot, DotRow, Figure
from destage.queries.text.presentation import find_scale, format_rounded, split_title, title_axis
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
    words, unit = split_title(metric)
    most: float | None = None
    scale, shown = find_scale(metric), {"": main}
    x_title = f"mean change over the range of the axis{f' [{unit}]' if unit else ''}"
    if main != "mu_star":
        most = scale = 100.0
        shown = {_ALONE: "first_order"} | ({_TOGETHER: main} if main == "total_order" else {})
        x_title = "share of the variance [%]"
    dots = tuple(
        DotRow(
            title_axis(row["axis"]),
            tuple(
                _bar(row, name, kind, scale, most, lane) for lane, (kind, name) in enumerate(shown.items())
            ),
        )
        for row in ranked[:_MOST_AXES]
    )
    return DotPlot(
        title=f"What matters for {words}",
        x_title=x_title,
        kinds=tuple(DotKind(kind, "column", f"c{lane}") for lane, kind in enumerate(shown)),
        rows=dots,
        x_most=most,
    )


def _bar(row: Row, name: str, kind: str, scale: float, most: float | None, lane: int) -> Dot:
    # A share below 0 is 0 by chance.
    value, low, high = (
        None if row[key] is None else max(row[key] * scale, 0.0)
        for key in (name, f"{name}_low", f"{name}_high")
    )
    value = value or 0.0
    label = format_rounded(value, 2)
    note = f"{title_axis(row['axis'])}: {label}"
    if low is not None and high is not None:
        high = high if most is None else min(high, most)
        note += f" ({format_rounded(low, 2)} to {format_rounded(high, 2)})"
    return Dot(kind, value, low, high, note, label, lane)


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
