"""The class of each published figure of a study: the printed number against the simulated one.

One rule for all simulated numbers: a figure is reproduced if it lies inside the 95 % prediction interval, and
the interval tests something only up to a width of a factor of 2. The interval holds the noise of one more
replicate, the range over the settings that the study varies, and the rounding of the printed figure; no other
tolerance applies. `destage.store.schemas.figure_classes` defines the classes and the kinds that lead to them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import pyarrow as pa

from destage.queries.published.measurement import Measurement, Parts, SweepRows, find_parts, measure
from destage.queries.text.presentation import format_number, format_rounded
from destage.store.schemas.figure_classes import MOST_WIDTH, FigureClass, classify, find_width
from destage.store.schemas.published_figures import PublishedFigure, read_figures

VERDICTS_SCHEMA = pa.schema(
    [
        pa.field("figure", pa.string()),
        pa.field("source", pa.string()),
        pa.field("kind", pa.string()),
        pa.field("published", pa.string()),
        pa.field("published_value", pa.float64()),
        pa.field("unit", pa.string()),
        pa.field("simulated", pa.float64()),
        pa.field("simulated_low", pa.float64()),
        pa.field("simulated_high", pa.float64()),
        pa.field("is_range", pa.bool_()),
        pa.field("predicted_low", pa.float64()),
        pa.field("predicted_high", pa.float64()),
        pa.field("predicted_width", pa.float64()),
        pa.field("replicates", pa.int64()),
        pa.field("error_fraction", pa.float64()),
        pa.field("class", pa.string()),
        pa.field("why", pa.string()),
        pa.field("follows_from", pa.string()),
        pa.field("headline", pa.string()),
        pa.field("note", pa.string()),
    ]
)
SIMULATED = frozenset({"predicted", "ordering", "calibrated"})
"""The kinds of figures that are compared with simulated ones."""
NO_ANSWER = "no answer"
FOLLOWS = "follows from the paper's own figures"
CONTRADICTS = "contradicts the paper's own figures"
_SETTING = "a setting of the study"
_CLOSE = 1e-9
_ORDER = (
    FigureClass.BLIND,
    FigureClass.FITTED,
    FigureClass.POST_HOC,
    FigureClass.PROPERTY,
    FigureClass.UNINFORMATIVE,
    FigureClass.MISSED,
)
"""The classes of what is compared, the best first."""
_RANKS = frozenset(_ORDER)
_BASES = frozenset({FigureClass.FITTED, FigureClass.POST_HOC, FigureClass.PROPERTY})
"""Of these, those that say what a figure rests on."""
_judged: "WeakKeyDictionary[SweepRows, pa.Table]" = WeakKeyDictionary()
"""The tables of open sessions; the rows of a session do not change while it is open."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The class of a figure and the reason for it in a few words."""

    figure_class: FigureClass
    why: str


def judge_figures(session: SweepRows) -> pa.Table:
    """Return a row per published figure, in the study's order."""
    if session not in _judged:
        figures = read_figures(session.spec)
        measured = {figure.name: measure(session, figure.quantity) for figure in figures}
        own = {figure.name: judge(figure, measured[figure.name]) for figure in figures}
        parts = find_parts(figures)
        rows = []
        for figure in figures:
            of = parts.get(figure.name)
            verdict = own[figure.name] if of is None else limit_class(figure, of, own)
            names = ", ".join(of.names) if of is not None and of.is_complete else None
            rows.append(_row(figure, measured[figure.name], verdict) | {"follows_from": names})
        _judged[session] = pa.Table.from_pylist(rows, VERDICTS_SCHEMA)
    return _judged[session]


def limit_class(figure: PublishedFigure, parts: Parts, own: Mapping[str, Verdict]) -> Verdict:
    """Return the verdict on a figure that is computed from others: its class is not better than theirs.

    A comparison in words needs no exact parts: only what they rest on limits it.

    Args:
        own: The verdict on each figure by itself.
    """
    verdict = own[figure.name]
    is_simulated = figure.kind in {"predicted", "ordering"} and verdict.figure_class in _RANKS
    if not is_simulated or parts.is_repeated:
        return verdict
    allowed = _RANKS if figure.bounds is None else _BASES
    ranked = [(_find_rank(own[part]), part) for part in parts.names]
    limits = [(rank, part) for rank, part in ranked if rank is not None and _ORDER[rank] in allowed]
    rank, name = max(limits, default=(-1, ""))
    if rank <= _ORDER.index(verdict.figure_class):
        return verdict
    return Verdict(_ORDER[rank], f'follows from "{name}", which is {_ORDER[rank].value}')


def _find_rank(verdict: Verdict) -> int | None:
    """Return the place of a part's class in `_ORDER`; None if it limits nothing."""
    if verdict.figure_class is FigureClass.INPUT and verdict.why != _SETTING:
        return _ORDER.index(FigureClass.FITTED)
    return _ORDER.index(verdict.figure_class) if verdict.figure_class in _RANKS else None


def _row(figure: PublishedFigure, measured: Measurement | None, verdict: Verdict) -> dict[str, object]:
    value = figure.value
    number = None if isinstance(value, str) else float(value)
    row: dict[str, object] = {
        "figure": figure.name,
        "source": figure.source,
        "kind": figure.kind,
        "published": str(value),
        "published_value": number,
        "unit": figure.unit,
        "class": verdict.figure_class.value,
        "why": verdict.why,
        "headline": figure.headline,
        "note": figure.note,
        "is_range": False,
    }
    if measured is None:
        return row
    row |= {
        "simulated": measured.mean,
        "simulated_low": measured.low,
        "simulated_high": measured.high,
        "is_range": measured.is_range,
        "replicates": measured.count,
    }
    if figure.kind in SIMULATED or figure.kind == "property":
        low, high = find_interval(figure, measured)
        width = find_width(low, high)
        row |= {"predicted_low": low, "predicted_high": high}
        row |= {"predicted_width": width if math.isfinite(width) else None}
    if number and figure.bounds is None:
        row["error_fraction"] = _nearest(measured, number) / number - 1
    return row


def _nearest(measured: Measurement, number: float) -> float:
    """Return the mean, or of a range the value nearest to a number."""
    if not measured.is_range or measured.low is None or measured.high is None:
        return measured.mean
    return min(max(number, measured.low), measured.high)


def find_interval(figure: PublishedFigure, measured: Measurement) -> tuple[float, float]:
    """Return the prediction interval of a figure, which includes its rounding; of a comparison, without."""
    low, high = measured.predicted
    rounding = figure.rounding if figure.bounds is None else 0.0
    return low - rounding, high + rounding


def judge(figure: PublishedFigure, measured: Measurement | None) -> Verdict:
    """Classify a figure; `measured` is None where the rows do not give its quantity."""
    if measured is None:
        return _judge_without_rows(figure)
    if figure.kind in {"predicted", "ordering"}:
        return _judge_simulated(figure, measured)
    if figure.kind in {"arithmetic", "inconsistent"}:
        follows = _is_inside(figure, measured)
        why = FOLLOWS if follows else f"{CONTRADICTS}: {format_number(measured.mean)}"
        return Verdict(FigureClass.ARITHMETIC, why)
    return _judge_stated(figure, measured)


def _judge_stated(figure: PublishedFigure, measured: Measurement) -> Verdict:
    """Classify a figure that the study put in or has by construction."""
    figure_class, why, otherwise = {
        "calibrated": (FigureClass.INPUT, "a parameter was fitted on it", "the fit misses it"),
        "property": (FigureClass.PROPERTY, "true by construction", "not what the construction should give"),
        "input": (FigureClass.INPUT, _SETTING, "the study's setting differs"),
    }[figure.kind]
    in_words = figure.kind == "input" and isinstance(figure.value, str)
    if in_words or _is_inside(figure, measured):
        return Verdict(figure_class, why)
    return Verdict(FigureClass.MISSED, f"{otherwise}; {_distance(figure, measured)}")


def _judge_without_rows(figure: PublishedFigure) -> Verdict:
    if figure.quantity is not None:
        return Verdict(FigureClass.NOT_SIMULATED, NO_ANSWER)
    if figure.kind == "inconsistent":
        return Verdict(FigureClass.ARITHMETIC, CONTRADICTS)
    if figure.kind == "input":
        return Verdict(FigureClass.INPUT, _SETTING)
    return Verdict(FigureClass.NOT_SIMULATED, "see the note")


def _judge_simulated(figure: PublishedFigure, measured: Measurement) -> Verdict:
    low, high = find_interval(figure, measured)
    is_inside = _is_inside(figure, measured)
    width = find_width(low, high)
    if figure.bounds is not None:
        least, most = figure.bounds
        if not is_inside and low < most and high > least:
            return Verdict(FigureClass.UNINFORMATIVE, "the interval includes the bound")
        width = 1.0
    figure_class = classify(
        is_inside=is_inside,
        width=width,
        is_post_hoc=figure.post_hoc is not None,
        is_fitted=bool(figure.given),
    )
    return Verdict(figure_class, _explain(figure_class, figure, measured))


def _explain(figure_class: FigureClass, figure: PublishedFigure, measured: Measurement) -> str:
    given = " and ".join(f'"{name}"' for name in figure.given)
    fitted = f"fitted on {given}" if given else ""
    if figure_class is FigureClass.MISSED:
        basis = f"; {fitted}" if fitted else ""
        return f"{_distance(figure, measured)}{basis}"
    if figure_class is FigureClass.UNINFORMATIVE:
        return "the interval is wider than a factor of 2"
    if figure_class is FigureClass.POST_HOC:
        return figure.post_hoc or ""
    return fitted or (
        "inside the interval" if figure.bounds is None else "the whole interval is within the bounds"
    )


def _distance(figure: PublishedFigure, measured: Measurement) -> str:
    """Say how far the interval's nearer end is from the figure."""
    low, high = find_interval(figure, measured)
    value = figure.value
    if isinstance(value, str) or figure.bounds is not None:
        return "the whole interval is outside the bounds"
    side, end = ("above", low) if value < low else ("below", high)
    if not value:
        return f"the interval lies {side} the figure"
    ratio = end / value
    if ratio <= 0 or 0.5 < ratio < MOST_WIDTH:  # noqa: PLR2004 - percentages up to a factor of 2
        return f"the interval ends {format_rounded(abs(ratio - 1) * 100, 2)} % {side} the figure"
    return f"the interval ends at {format_rounded(ratio, 2)} times the figure"


def _is_inside(figure: PublishedFigure, measured: Measurement) -> bool:
    low, high = find_interval(figure, measured)
    if figure.bounds is not None:
        least, most = figure.bounds
        return least < low and high < most
    if isinstance(figure.value, str):
        return False
    value = float(figure.value)
    slack = _CLOSE * abs(value)
    return low - slack <= value <= high + slack
