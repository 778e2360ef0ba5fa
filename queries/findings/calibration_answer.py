"""The answer of a calibration in words: odds, predictions with their scores, what decides them."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from destage.queries.findings.missed_text import describe_missed, describe_ruled_out, list_widened
from destage.queries.findings.prediction_values import format_share, format_value
from destage.queries.opening.session import Session
from destage.queries.text.presentation import (
    CONFIDENCE,
    format_quantity,
    format_rounded,
    title_axis,
)
from destage.spec import quantities

TABLE = "predictive"
"""The table that a calibration has, and no other study."""
NEXT, MISSED = "next_measurements", "missed_figures"
"""The tables that calibrations of earlier versions lack."""
SCORE = "Score: continuous ranked probability score (CRPS), lower is better; baseline: that of a simple rule."
TABLES = ("calibration", "unknowns", TABLE, "odds", "worth_knowing")
"""The tables that are small enough to be printed whole."""
_STEPS: Mapping[str, Sequence[tuple[float, str]]] = {
    "bytes": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")),
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")),
}
"""The units of an unknown, the largest first; the largest that makes it at least 1 is shown."""
_ODDS = 10
"""The largest denominator of odds near one half."""
_RARE = 1e-3
_FEW = 30
"""Effective draws below which an answer is preliminary."""
_WORTH = 0.05
"""The share of a variance from which on it is worth a sentence."""
_CLEAR = 0.9
"""The share of the posterior from which on a choice is determined."""
_WIDE = 0.7
"""The width of a posterior from which on it says little, as a share of the prior's."""
_MOST_OPEN = 4
_NOTICEABLE = 0.1
"""The share of a variance from which on a measurement is worth its time; it narrows by 5 %."""
_UNKNOWN_FACTOR = 3.0
"""The factor between a median and an end of its interval from which on it is named."""
_VALID = 0.8
"""The share of held figures within their 90 % intervals from which on a fit counts as validated."""
Row = Mapping[str, Any]


def compose_calibration(session: Session) -> list[str]:
    """Return the sentences of the answer, fit by fit."""
    rows = {name: session.query(name).to_pylist() for name in list_tables(session)}
    sentences: list[str] = []
    for fit in rows["calibration"]:
        of_fit = {name: [row for row in listed if row["fit"] == fit["fit"]] for name, listed in rows.items()}
        sentences += _compose_fit(fit, of_fit, session.spec)
    return sentences


def list_tables(session: Session) -> list[str]:
    """Return the names of the tables that are small enough to be printed whole."""
    return [*TABLES, *(name for name in (NEXT, MISSED) if name in session.analyses)]


def _compose_fit(fit: Row, rows: Mapping[str, Sequence[Row]], spec: Mapping[str, Any]) -> Iterator[str]:
    name = f"Fitted on {fit['fit']}"
    missed, count = rows.get(MISSED, ()), sum(row["is_fitted"] for row in rows[TABLE])
    if fit["is_ruled_out"]:
        yield f"{name}: {describe_ruled_out(fit, missed, count, spec)}."
        return
    if missed:
        widened = list_widened(missed, rows[TABLE], spec["calibrate"])
        yield f"{name}: {describe_missed(missed, count, widened)}."
    if fit["effective_draws"] < _FEW:
        draws = format_rounded(fit["effective_draws"], 2)
        yield (
            f"{name}, the rest is preliminary: the {fit['not_ruled_out']} draws that are left are worth only "
            f"{draws}; add waves (calibrate.waves in the study)."
        )
    if poor := describe_poor_fit(rows[TABLE], missed):
        yield f"{name}: {poor}."
    for sentence in _compose_predictions(rows):
        yield f"{name}, {sentence}."
    yield f"{name}: {name_stage(rows[TABLE])}."
    for sentence in _compose_worth(rows):
        yield f"{name}, {sentence}"
    undetermined = name_undetermined(rows["unknowns"], rows["worth_knowing"])
    if undetermined:
        yield f"{name}, the figures leave open: {undetermined}."
    measured_next = rows.get(NEXT, ())
    if measured_next or "candidates" in spec["calibrate"]:
        yield f"{name}, {describe_next(measured_next, [row['figure'] for row in missed])}."


def _compose_predictions(rows: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    is_fitted = {row["figure"]: row["is_fitted"] for row in rows[TABLE]}
    for row in rows["odds"]:
        if not is_fitted[row["figure"]]:
            yield f"the odds of {row['figure']}: {row['statement']} are {format_odds(row)}"
    for row in rows[TABLE]:
        if not row["is_fitted"] and row["median"] is not None:
            yield f"{row['figure']} is predicted as {format_prediction(row)}"


def describe_poor_fit(predictions: Sequence[Row], missed: Sequence[Row] = ()) -> str:
    """Return which fitted figures are outside of their 90 % intervals if too many are; empty otherwise.

    Args:
        missed: The figures that no draw explains, which are described elsewhere.
    """
    described = {row["figure"] for row in missed}
    fitted = [row for row in predictions if row["is_fitted"] and row["inside_90"] is not None]
    fitted = [row for row in fitted if row["figure"] not in described]
    outside = [row for row in fitted if not row["inside_90"]]
    if len(fitted) - len(outside) >= _VALID * len(fitted):
        return ""
    ratios = sorted(row["median"] / row["published"] for row in outside if row["published"])
    ends = list(dict.fromkeys(format_rounded(ratio, 2) for ratio in (ratios[:1] + ratios[-1:])))
    factors = f", of which the medians are {' to '.join(ends)} times what was measured" if ends else ""
    return (
        f"the fit is poor: {len(outside)} of {len(fitted)} fitted figures are outside of their own 90 % "
        f"intervals ({', '.join(row['figure'] for row in outside)}){factors}; predictions may be as wrong"
    )


def name_stage(predictions: Sequence[Row]) -> str:
    """Return how far a fit can be trusted: by the figures of this system that it has not seen."""
    held = [row for row in predictions if not row["is_fitted"] and row["inside_90"] is not None]
    if not held:
        return (
            "calibrated on this system; no measured figure was held back to validate it, as --where with "
            "--on or other fits in the study do"
        )
    inside = sum(row["inside_90"] for row in held)
    figures = f"{inside} of {len(held)} held figures are within their 90 % intervals"
    is_valid = inside >= _VALID * len(held)
    return f"{'validated' if is_valid else 'calibrated, not validated'}: {figures}"


def _compose_worth(rows: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """Yield what decides each prediction most, and what to measure next."""
    for figure in dict.fromkeys(row["figure"] for row in rows["worth_knowing"]):
        telling = [
            row
            for row in rows["worth_knowing"]
            if row["figure"] == figure and row["variance_removed"] >= _WORTH
        ]
        # The first of the most telling ones of a kind.
        telling.sort(key=lambda row: -row["variance_removed"])
        best = {
            row["kind"]: (row["known"], format_share(row["variance_removed"])) for row in reversed(telling)
        }
        parts = []
        if "unknown" in best:
            known, share = best["unknown"]
            parts.append(
                f"{title_axis(known)} decides {figure} most: knowing it removes {share} of the variance"
            )
        if "figure" in best:
            known, share = best["figure"]
            parts.append(f"measuring {known} removes {share}")
        if parts and "model" in best:
            parts.append(f"{best['model'][1]} are the model's own error and stay")
        if parts:
            yield f"{'; '.join(parts)}."


def name_undetermined(unknowns: Sequence[Row], worth: Sequence[Row]) -> str:
    """Return the unknowns of a fit that its figures do not determine; empty if there is none.

    First come those that decide a prediction most.
    """
    decides = {
        row["known"]: row["variance_removed"]
        for row in sorted(worth, key=lambda row: row["variance_removed"])
    }
    by_unknown: dict[str, list[Row]] = {}
    for row in unknowns:
        by_unknown.setdefault(row["unknown"], []).append(row)
    names = [unknown for unknown, rows in by_unknown.items() if _is_undetermined(rows)]
    names.sort(key=lambda unknown: -decides.get(unknown, 0.0))
    shown = [_describe_open(by_unknown[unknown]) for unknown in names[:_MOST_OPEN]]
    more = len(names) - len(shown)
    return ", ".join([*shown, *[f"and {more} more"] * (more > 0)])


def _is_undetermined(rows: Sequence[Row]) -> bool:
    """Return whether the posterior of an unknown is nearly as wide as its prior, or has no clear choice."""
    first = rows[0]
    if first["value"] is not None:
        return len(rows) > 1 and max(row["posterior_share"] or 0.0 for row in rows) < _CLEAR
    widths = [_measure_width(first, name) for name in ("prior", "posterior")]
    return widths[0] > 0 and widths[1] >= _WIDE * widths[0]


def _measure_width(row: Row, name: str) -> float:
    """Return the width of an interval, of ratios where all values of the prior are above 0."""
    low, high = row[f"{name}_q05"], row[f"{name}_q95"]
    if low is None:
        return 0.0
    is_ratio = (row["prior_q05"] or 0.0) > 0 and 0 < low <= high
    return math.log(high / low) if is_ratio else float(high - low)


def _describe_open(rows: Sequence[Row]) -> str:
    name = str(rows[0]["unknown"])
    if rows[0]["value"] is None:
        return name
    shares = [f"{row['value']} {format_share(row['posterior_share'] or 0.0)}" for row in rows]
    return f"{name} ({', '.join(shares)})"


def describe_next(rows: Sequence[Row], missed: Sequence[str] = ()) -> str:
    """Return what to measure next, from the measurements of a fit with the best first.

    Args:
        missed: The figures that no draw explains; no measurement narrows what these widen.
    """
    if not rows:
        return (
            "there is no further measurement to choose from: the study has no candidate that is not measured"
        )
    best = min(rows, key=lambda row: row["rank"])
    before, after = (format_share(best[name]) for name in ("deviation", "deviation_after"))
    what, figure = best["measurement"], best["figure"]
    if best["variance_removed"] < _NOTICEABLE:
        if missed:
            return (
                "no further measurement would narrow the predictions noticeably while "
                f"{' and '.join(missed)} {'is' if len(missed) == 1 else 'are'} missed, which widens them"
            )
        return (
            f"no further measurement would narrow the predictions noticeably: the best of {len(rows)}, "
            f"{what}, would narrow that of {figure} from ±{before} to ±{after}"
        )
    return f"measure next: {what}: it would narrow the prediction of {figure} from ±{before} to ±{after}"


def format_odds(row: Row) -> str:
    """Return a probability with its interval, as in `1 in 9 (11 %, 95 % CI 6 to 19 %)`."""
    ends = [format_share(row[f"probability_{end}"]).removesuffix(" %") for end in ("low", "high")]
    percent = format_share(row["probability"])
    return f"{name_odds(row['probability'])} ({percent}, {CONFIDENCE} {ends[0]} to {ends[1]} %)"


def name_odds(probability: float) -> str:
    """Return a probability as odds, as in `1 in 9`, `2 in 3` or `8 in 9`."""
    if probability < _RARE:
        return "less than 1 in 1000"
    if probability > 1 - _RARE:
        return "more than 999 in 1000"
    rarer = min(probability, 1 - probability)
    if rarer < 1 / _ODDS:
        count = round(1 / rarer)
        return f"1 in {count}" if rarer == probability else f"{count - 1} in {count}"
    near = Fraction(probability).limit_denominator(_ODDS)
    return f"{near.numerator} in {near.denominator}"


def format_prediction(row: Row) -> str:
    """Return a prediction with its interval, and how it was scored.

    An interval that reaches 0 has one side; of a wide one, the factor is given.
    """
    low, middle, high = row["low_90"], row["median"], row["high_90"]
    text = f"{format_value(row, 'median')} (90 %: {format_value(row, 'low_90', '')} to "
    text += f"{format_value(row, 'high_90', '')}"
    if low <= 0:
        text = f"{format_value(row, 'median')} (95 %: at most {format_value(row, 'high_90', '')}"
    elif (factor := max(middle / low, high / middle)) >= _UNKNOWN_FACTOR:
        text += f", unknown within a factor of {format_rounded(factor, 2)}"
    text += ")"
    if row["published"] is None:
        return text
    where = "within the 50 % interval" if row["inside_50"] else "within the 90 % interval"
    where = where if row["inside_90"] else "outside of the 90 % interval"
    text += f"; measured: {format_value(row, 'published')}, {where}; score {format_value(row, 'crps')}"
    if row["rule_crps"] is not None:
        text += f", baseline {format_value(row, 'rule_crps')}"
    return text


def tabulate_unknowns(session: Session) -> list[tuple[str, ...]]:
    """Return prior and posterior of each unknown as text: headings, then a row for each."""
    rows = session.query("unknowns").to_pylist()
    fits = list(dict.fromkeys(row["fit"] for row in rows))
    by_unknown: dict[str, dict[str, Row]] = {}
    for row in rows:
        name = row["unknown"] if row["value"] is None else f"{row['unknown']} = {row['value']}"
        by_unknown.setdefault(name, {})[row["fit"]] = row
    table = [("unknown", "prior", *(f"fitted on {fit}" for fit in fits))]
    for name, by_fit in by_unknown.items():
        prior = _format_range(by_fit[fits[0]], "prior")
        table.append((name, prior, *(_format_range(by_fit[fit], "posterior") for fit in fits)))
    return table


def tabulate_predictions(session: Session) -> list[tuple[str, ...]]:
    """Return the predictions as text: headings, then a row for each fit and figure."""
    missed = list_missed(session)
    headings = ("figure", "fitted on", "median", "50 %", "90 %", "measured", "score", "baseline")
    table: list[tuple[str, ...]] = [headings]
    for row in session.query(TABLE).to_pylist():
        seen = "missed" if (row["fit"], row["figure"]) in missed else "with it"
        fit = f"{row['fit']} ({seen})" if row["is_fitted"] else row["fit"]
        ends = [
            "–"
            if row["median"] is None
            else f"{format_value(row, f'low_{share}', '')} to {format_value(row, f'high_{share}', '')}"
            for share in (50, 90)
        ]
        values = [format_value(row, name, "") for name in ("published", "crps", "rule_crps")]
        table.append((row["figure"], fit, format_value(row, "median"), *ends, *values))
    return table


def list_missed(session: Session) -> set[tuple[str, str]]:
    """Return the fits with the figures that each does not explain."""
    if MISSED not in session.analyses:
        return set()
    return {(row["fit"], row["figure"]) for row in session.query(MISSED).to_pylist()}


def format_prior(prior: Mapping[str, Any], unit: str | None) -> str:
    """Return a prior as a study states it in words: `log-uniform, 7.39 to 9.78 ms`.

    Args:
        unit: The base unit of its values; None if they have none.
    """
    ((form, values),) = prior.items()
    if form == "choice":
        return (
            f"one of {', '.join(value if isinstance(value, str) else json.dumps(value) for value in values)}"
        )
    low, high, *steps = (
        str(value) if unit is None else _format_rounded(quantities.parse(value, unit), unit)
        for value in values
    )
    low = low.removesuffix(high.lstrip("0123456789.,\u202f"))
    text = f"{form.replace('_', '-')}, {low} to {high}"
    return f"{text} in steps of {steps[0]}" if steps else text


def _format_range(row: Row, name: str) -> str:
    if row[f"{name}_share"] is not None:
        return format_share(row[f"{name}_share"])
    if row[f"{name}_median"] is None:
        return "–"
    ends = ("q05", "median", "q95")
    low, middle, high = (_format_rounded(row[f"{name}_{key}"], row["unit"]) for key in ends)
    return f"{middle} ({low} to {high})"


def _format_rounded(value: float, unit: str | None) -> str:
    if unit is not None and unit in _STEPS:
        scale, shown = next((step for step in _STEPS[unit] if value >= step[0]), _STEPS[unit][-1])
        return f"{format_rounded(value / scale)} {shown}"
    return format_quantity(float(f"{value:.3g}"), unit)
