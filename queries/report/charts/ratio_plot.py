"""Published against simulated: a row per published figure, simulated over published on a logarithmic axis."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.published.measurement import write_statement
from destage.queries.published.verdict_text import format_verdict
from destage.queries.published.verdicts import judge_figures
from destage.queries.report.drawing.canvas import Scale
from destage.queries.report.drawing.chart import Dot, DotKind, DotPlot, DotRow, Figure
from destage.queries.text.presentation import format_rounded
from destage.store.schemas.figure_classes import FigureClass
from destage.store.schemas.published_figures import read_figures

RATIOS = "published_against_simulated"

_KINDS = (
    DotKind(FigureClass.BLIND, "circle", "met"),
    DotKind(FigureClass.FITTED, "ring", "met"),
    DotKind(FigureClass.POST_HOC, "diamond", "met"),
    DotKind(FigureClass.MISSED, "triangle", "missed"),
    DotKind(FigureClass.UNINFORMATIVE, "ring", "open"),
    DotKind(FigureClass.PROPERTY, "square", "open"),
    DotKind(FigureClass.ARITHMETIC, "diamond", "open"),
    DotKind(FigureClass.INPUT, "square", "given"),
    DotKind(FigureClass.NOT_SIMULATED, "ring", "given"),
)
_LADDERS: tuple[tuple[float, ...], ...] = (
    (0.9, 0.95, 1.0, 1.05, 1.1),
    (0.8, 0.9, 1.0, 1.1, 1.25),
    (0.5, 0.7, 1.0, 1.4, 2.0),
    (0.2, 0.5, 1.0, 2.0, 5.0),
    (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
)
"""Ticks of the axis: the first that reach as far as the figures, else the last."""


def build_ratio_plot(session: Session) -> Figure | None:
    """Build the figure; return None where no published number has a simulated one."""
    rows = judge_figures(session).to_pylist()
    drawn = [_dot_row(row) for row in rows if _ratio(row) is not None]
    if not drawn:
        return None
    used = {row["class"] for row in rows}
    chart = DotPlot(
        title="Simulated against published figures",
        x_title="simulated / published",
        x_log=True,
        kinds=tuple(kind for kind in _KINDS if kind.name in used),
        rows=(*drawn, *(_text_row(row) for row in rows if _ratio(row) is None)),
        scale=_scale([dot for row in drawn for dot in row.dots]),
        rule_at=1.0,
    )
    caption = (
        "Ratio of the simulated to the published figure; 1 means equal. Thin bars are 95 % confidence "
        "intervals over replicates, thick bars are ranges over settings that the paper does not state; the "
        "table has the wider prediction intervals. Ratios above 10 or below 0.1 are drawn at the edge. "
        "Orderings and figures without a number are listed below as text."
    )
    return Figure(RATIOS, chart, caption, _statements(session))


def _dot_row(row: Mapping[str, Any]) -> DotRow:
    value = row["published_value"]
    ratio = row["simulated"] / value
    # Below zero, the ends of the interval change places.
    has_ends = row["simulated_low"] is not None
    ends = sorted(row[name] / value for name in ("simulated_low", "simulated_high")) if has_ends else []
    label = _label(*ends) if row["is_range"] and ends else _label(ratio, ratio)
    figure, published, simulated, *_ = format_verdict(row)
    note = f"{figure}: simulated {simulated}, published {published}"
    name, (low, high) = row["class"], ends or (None, None)
    dot = Dot(name, ratio, low, high, note, label, is_range=row["is_range"])
    return DotRow(row["figure"], (dot,), name, kind=name)


def _label(low: float, high: float) -> str:
    """Return a ratio or a range of it in three digits, with an arrow where it is beyond the axis."""
    text = " to ".join(dict.fromkeys(map(format_rounded, (low, high))))
    least, most = _LADDERS[-1][0], _LADDERS[-1][-1]
    return f"{'← ' if low < least else ''}{text}{' →' if high > most else ''}"


def _text_row(row: Mapping[str, Any]) -> DotRow:
    _, published, simulated, *_ = format_verdict(row)
    quoted = f"“{published}”" if row["published_value"] is None else published
    text = f"simulated {simulated}; published {quoted}" if simulated else f"published {quoted}"
    return DotRow(row["figure"], (), row["class"], text=text, kind=row["class"])


def _ratio(row: Mapping[str, Any]) -> float | None:
    """Return simulated over published, where both are numbers with the same sign that should be equal."""
    if row["error_fraction"] is None:
        return None
    ratio = float(row["simulated"] / row["published_value"])
    return ratio if ratio > 0 else None


def _scale(dots: Sequence[Dot]) -> Scale:
    """Return an axis with 1 in its middle."""
    ends = [end for dot in dots for end in (dot.low, dot.high) if end is not None and end > 0]
    reach = max(max(end, 1 / end) for end in (*ends, *(dot.value for dot in dots)))
    ticks = next((ladder for ladder in _LADDERS if ladder[-1] >= reach), _LADDERS[-1])
    half = math.log2(ticks[-1])
    return Scale(-half * 1.04, half * 1.04, is_log=True, ticks=ticks)


def _statements(session: Session) -> str:
    return "\n\n".join(
        f"-- {figure.name}\n{write_statement(session, figure.quantity)};"
        for figure in read_figures(session.spec)
        if figure.quantity is not None
    )
