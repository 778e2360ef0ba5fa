"""The tables of a sensitivity analysis: `sensitivity`, a row per result and axis, and `interactions`.

Each estimate is a mean over replicates with a 95 % interval. Replicates use common random numbers at all
points, so that only replicates are independent of each other: the statistic is computed within each, and a
t-interval taken over them. A statistic of a random sample of points would differ in another sample; that
error is common to the replicates and added: the half-width is sqrt((t_R s / sqrt(R))^2 + (t_G e)^2) for R
replicates with the standard deviation s and the sampling error e from G groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from destage.store.schemas.analysis_schema import analysis_column, analysis_schema
from destage.student import quantile


@dataclass(frozen=True, slots=True)
class Estimate:
    """Statistics with their intervals; NaN where one is unknown."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def combine_replicates(by_replicate: np.ndarray, sampling: tuple[np.ndarray, int] | None) -> Estimate:
    """Return the means of statistics over replicates.

    Args:
        by_replicate: By replicate and statistic.
        sampling: The standard error of each mean by the choice of points, and the number of groups that it is
            from; None if the points are all there are.
    """
    count = len(by_replicate)
    value = by_replicate.mean(axis=0)
    squares = np.zeros_like(value)
    if count > 1:
        squares += (quantile(count) * by_replicate.std(axis=0, ddof=1)) ** 2 / count
    if sampling is not None:
        error, groups = sampling
        squares += (quantile(groups) * error) ** 2
    half = np.sqrt(squares) if count > 1 or sampling is not None else np.full_like(value, np.nan)
    return Estimate(value, value - half, value + half)


def describe_cover(replicates: int, *, is_sampled: bool) -> str | None:
    """Return what intervals cover; None without intervals."""
    parts = ["replicates"] * (replicates > 1) + ["sampling"] * is_sampled
    return " and ".join(parts) or None


SENSITIVITY, INTERACTIONS = "sensitivity", "interactions"
INDICES = ("first_order", "total_order", "mu", "mu_star")
"""The statistics with an interval."""
_FLOAT, _INT, _TEXT = pa.float64(), pa.int64(), pa.string()
_MEANINGS = {
    "first_order": "share of the variance that the axis explains alone",
    "total_order": "share of the variance that the axis explains alone or together with other axes",
    "mu": "mean change of the result over the range of the axis (elementary effects)",
    "mu_star": "mean size of that change, whatever its sign",
}
_COUNTS = (
    analysis_column("n", _INT, "replicates that each statistic was computed in", "count"),
    analysis_column("points", _INT, "points used", "count"),
    analysis_column("excluded", _INT, "points left out: without a value, or not part of the design", "count"),
    analysis_column("bounds", _INT, "points whose answer is only a bound, used as its value", "count"),
    analysis_column("deviation", _FLOAT, "standard deviation of the result over the points [its unit]"),
    analysis_column(
        "covers", _TEXT, "what intervals cover: replicates, sampling (the choice of points), or both"
    ),
)
_COMMON = (
    analysis_column("metric", _TEXT, "result column, or name of the answers"),
    analysis_column("axis", _TEXT, "dotted path of the axis"),
)


def _with_ends(name: str, meaning: str) -> list[pa.Field]:
    ends = [
        analysis_column(f"{name}_{end}", _FLOAT, f"{word} end of the 95 % interval of {name}")
        for end, word in (("low", "lower"), ("high", "upper"))
    ]
    return [analysis_column(name, _FLOAT, meaning), *ends]


SENSITIVITY_SCHEMA = analysis_schema(
    "one row per result and axis: how much the axis matters",
    [
        *_COMMON,
        analysis_column("method", _TEXT, "estimator: factorial, saltelli, morris or given_data"),
        *(field for name in INDICES for field in _with_ends(name, _MEANINGS[name])),
        analysis_column("sigma", _FLOAT, "standard deviation of the elementary effects"),
        *_COUNTS,
    ],
    required=("metric", "axis", "method", "n", "points", "covers"),
)
INTERACTIONS_SCHEMA = analysis_schema(
    "one row per result and pair of axes: the share of the variance that only both together explain",
    [
        *_COMMON,
        analysis_column("other_axis", _TEXT, "dotted path of the other axis"),
        *_with_ends("share", "share of the variance that only both together explain"),
        _COUNTS[0],
    ],
    required=("metric", "axis", "other_axis"),
)


def list_axis_rows(
    axes: Sequence[str], found: Mapping[str, Estimate], common: Mapping[str, object]
) -> list[dict[str, object]]:
    """Return a row for each axis, those that matter most first.

    Args:
        found: Each statistic of all axes.
        common: Columns with the same value in all rows.
    """
    rows = []
    for index, axis in enumerate(axes):
        row: dict[str, object] = {"axis": axis, **common}
        for name, estimate in found.items():
            row[name] = _plain(estimate.value[index])
            if name in INDICES:
                row |= {
                    f"{name}_low": _plain(estimate.low[index]),
                    f"{name}_high": _plain(estimate.high[index]),
                }
        rows.append(row)
    main = next(name for name in ("total_order", "mu_star", "first_order") if name in found)
    order = np.argsort(-np.nan_to_num(found[main].value), kind="stable")
    return [rows[index] for index in order]


def list_pair_rows(
    axes: Sequence[str], found: Estimate, common: Mapping[str, object]
) -> list[dict[str, object]]:
    """Return a row for each pair of axes, those that matter most first.

    Args:
        axes: The axes; `found` has the first ones of them.
    """
    rows = [
        {
            **common,
            "axis": axes[first],
            "other_axis": axes[other],
            "share": _plain(found.value[first, other]),
            "share_low": _plain(found.low[first, other]),
            "share_high": _plain(found.high[first, other]),
        }
        for first in range(len(found.value))
        for other in range(first + 1, len(found.value))
    ]
    return sorted(rows, key=lambda row: -(row["share"] or 0.0))  # type: ignore[operator]


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
