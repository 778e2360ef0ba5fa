"""Published against simulated: a row per published figure, simulated over published on a logarithmic axis."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from destage.queries.measuring import statement
from destage.queries.presentation import number
from destage.queries.report.axis import Scale
from destage.queries.report.chart import Dot, DotKind, DotPlot, DotRow, Figure
from destage.queries.session import Session
from destage.queries.verdict_sheet import short_verdict, verdict_cells
from destage.queries.verdicts import verdict_table
from destage.store.published_figures import read_figures

RATIOS = "published_against_simulated"

_HELD = DotKind("comes out", "circle", "held")
_GIVEN_THAT = DotKind("comes out, given what was fitted", "ring", "held")
_MISSED = DotKind("does not come out", "triangle", "missed")
_OPEN = DotKind("undecided, or no answer", "ring", "open")
_PAPER = DotKind("the paper against itself", "diamond", "open")
_PUT_IN = DotKind("fitted on, or put in", "square", "given")
_KINDS = (_HELD, _GIVEN_THAT, _MISSED, _OPEN, _PAPER, _PUT_IN)
_BY_VERDICT: Mapping[str, DotKind] = {
    "exact": _HELD,
    "predicted": _HELD,
    "ordering holds": _HELD,
    "not exact": _MISSED,
    "not predicted": _MISSED,
    "ordering does not hold": _MISSED,
    "calibrated, missed": _MISSED,
    "input differs": _MISSED,
    "paper inconsistent": _PAPER,
    "consistent": _PAPER,
    "calibrated": _PUT_IN,
    "input": _PUT_IN,
}
_LADDERS: tuple[tuple[float, ...], ...] = (
    (0.9, 0.95, 1.0, 1.05, 1.1),
    (0.8, 0.9, 1.0, 1.1, 1.25),
    (0.5, 0.7, 1.0, 1.4, 2.0),
    (0.2, 0.5, 1.0, 2.0, 5.0),
    (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
)
"""Ticks of the axis; it takes the first that reach as far as the figures do, else the last."""


def ratios(session: Session) -> Figure | None:
    """Return the figure, or None where no published figure has a number beside a simulated one.

    Args:
        session: The sweep.

    Raises:
        QueryError: A figure's expression does not bind.
    """
    rows = verdict_table(session).to_pylist()
    drawn = [_drawn(row) for row in rows if _ratio(row) is not None]
    if not drawn:
        return None
    used = {row.kind for row in drawn} | {_kind(row["verdict"]).name for row in rows}
    chart = DotPlot(
        title="Published against simulated",
        x_title="simulated over published",
        x_log=True,
        kinds=tuple(kind for kind in _KINDS if kind.name in used),
        rows=(*drawn, *(_told(row) for row in rows if _ratio(row) is None)),
        scale=_scale([dot for row in drawn for dot in row.dots]),
        rule_at=1.0,
    )
    caption = (
        "Each published figure beside what came out: at 1 they are the same. "
        "Thin bars are 95 % t-intervals over replicates, thick ones the range over points where the paper "
        "leaves open which it means; what is beyond ten times, or below a tenth, stands at the edge. "
        "Orderings and figures in words stand below, as text."
    )
    return Figure(RATIOS, chart, caption, _statements(session))


def _drawn(row: Mapping[str, Any]) -> DotRow:
    value = row["published_value"]
    ratio = row["simulated"] / value
    low, high = _ends(row)
    label = _label(ratio, ratio)
    if row["is_range"] and low is not None and high is not None:
        label = _label(low, high)
    kind = _kind(row["verdict"]).name
    dot = Dot(kind, ratio, low, high, _note(row), label, is_range=row["is_range"])
    return DotRow(row["figure"], (dot,), short_verdict(row["verdict"]), kind=kind)


def _ends(row: Mapping[str, Any]) -> tuple[float, float] | tuple[None, None]:
    """Return the ends of the interval over the published figure; below zero, the ends change places."""
    if row["simulated_low"] is None:
        return None, None
    low, high = sorted(row[name] / row["published_value"] for name in ("simulated_low", "simulated_high"))
    return low, high


def _label(low: float, high: float) -> str:
    """Return a ratio or a range of it in three digits; an arrow says where it goes on beyond the axis."""
    text = " to ".join(dict.fromkeys(number(float(f"{ratio:.3g}")) for ratio in (low, high)))
    least, most = _LADDERS[-1][0], _LADDERS[-1][-1]
    return f"{'← ' if low < least else ''}{text}{' →' if high > most else ''}"


def _told(row: Mapping[str, Any]) -> DotRow:
    _, published, simulated, *_ = verdict_cells(row)
    told = f"“{published}”" if row["published_value"] is None else published
    text = f"simulated {simulated}; published {told}" if simulated else f"published {told}"
    return DotRow(
        row["figure"],
        (),
        short_verdict(row["verdict"]),
        text=text,
        kind=_kind(row["verdict"]).name,
    )


def _note(row: Mapping[str, Any]) -> str:
    figure, published, simulated, *_ = verdict_cells(row)
    return f"{figure}: simulated {simulated}, published {published}"


def _ratio(row: Mapping[str, Any]) -> float | None:
    """Return simulated over published, where both are numbers on one side of zero that are to be alike."""
    if row["error_fraction"] is None:
        return None
    ratio = float(row["simulated"] / row["published_value"])
    return ratio if ratio > 0 else None


def _kind(verdict: str) -> DotKind:
    if verdict.startswith("calibrated on "):
        return _GIVEN_THAT if verdict.endswith(", predicts") else _MISSED
    return _BY_VERDICT.get(verdict, _OPEN)


def _scale(dots: Sequence[Dot]) -> Scale:
    """Return an axis with 1 in its middle."""
    ends = [end for dot in dots for end in (dot.low, dot.high) if end is not None and end > 0]
    reach = max(_reach(end) for end in (*ends, *(dot.value for dot in dots)))
    ticks = next((ladder for ladder in _LADDERS if ladder[-1] >= reach), _LADDERS[-1])
    half = math.log2(ticks[-1])
    return Scale(-half * 1.04, half * 1.04, is_log=True, ticks=ticks)


def _reach(ratio: float) -> float:
    return max(ratio, 1 / ratio)


def _statements(session: Session) -> str:
    return "\n\n".join(
        f"-- {figure.name}\n{statement(session, figure.quantity)};"
        for figure in read_figures(session.spec)
        if figure.quantity is not None
    )
