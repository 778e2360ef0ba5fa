"""Sensitivity of one result of a sweep to its axes, by the estimator that fits the design of the points.

The tables are computed from the sweep's rows, or read if they are stored.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.sensitivity.estimators import (
    Shares,
    choose_basis,
    crossed_shares,
    elementary_effects,
    factorial_shares,
    given_data_shares,
    jackknife_error,
    saltelli_shares,
    summarize_effects,
)
from destage.sensitivity.point_values import MORRIS, DesignRows, PointValues, collect_values, write_out
from destage.sensitivity.sensitivity_table import (
    INTERACTIONS,
    INTERACTIONS_SCHEMA,
    SENSITIVITY,
    SENSITIVITY_SCHEMA,
    Estimate,
    combine_replicates,
    describe_cover,
    list_axis_rows,
    list_pair_rows,
)
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.stored_rows import read_rows
from destage.store.schemas.axis_codes import AxisCodes, encode_axis, encode_bound
from destage.store.state.plan import read_answer, read_axes

FACTORIAL, GIVEN_DATA = "factorial", "given_data"
PAIRS = "pairs"
Statistics = dict[str, np.ndarray]
_COMMON_ENOUGH = 0.9
"""Share of the points that must have a replicate for it to be used where few replicates are at all points."""
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class _Sample:
    """What an estimator is applied to.

    Attributes:
        axes: The axes that it has statistics of.
        places: The numbers of the points, in the shape that the estimator takes.
        rows: The axis of `places` along which the sample was drawn; None if the points are all there are.
        estimate: Returns statistics of the values at `places`, or at some rows of them.
        units: By row, the number of its independent unit, if rows are not independent.
    """

    method: str
    axes: Sequence[str]
    places: np.ndarray
    rows: int | None
    estimate: Callable[[np.ndarray, np.ndarray], Statistics]
    units: np.ndarray | None = None


def analyse(
    found: PointValues,
    axes: Sequence[str],
    design: DesignRows | None,
    sampled: Sequence[str] = (),
    conditional: Collection[str] = (),
) -> dict[str, pa.Table]:
    """Return the tables `sensitivity` and `interactions` of one result.

    Axes with one value are left out. Named points beside a grid are left out, too.

    Args:
        design: The sample of a Morris or Saltelli design, if the study has one.
        sampled: The axes that were sampled at random. Points that are equal in all of them, as those of a
            design that is crossed with a grid, are one unit of the sample.
        conditional: The axes without a value (null) where they have no effect, by their condition.
    """
    replicates, is_usable = _choose_replicates(found.values)
    labels = found.points["label"]
    if 0 < labels.null_count < len(labels):
        is_usable &= pc.is_null(labels).to_numpy()
    sample = _choose_sample(found, axes, is_usable, design, sampled, conditional)
    used = np.unique(sample.places)
    if not sample.axes or used.size < _FEWEST or not replicates.any():
        return {
            SENSITIVITY: SENSITIVITY_SCHEMA.empty_table(),
            INTERACTIONS: INTERACTIONS_SCHEMA.empty_table(),
        }
    values = found.values[:, replicates]
    estimates = _estimate(sample, values)
    count = int(replicates.sum())
    is_sampled = sample.rows is not None
    common = {"metric": found.metric, "n": count}
    rows = list_axis_rows(
        sample.axes,
        {name: estimate for name, estimate in estimates.items() if name != PAIRS},
        common
        | {
            "method": sample.method,
            "points": np.unique(found.configurations[used]).size,
            "excluded": len(np.setdiff1d(found.configurations, found.configurations[used])),
            "bounds": int(found.is_bound[used][:, replicates].any(axis=1).sum()),
            "deviation": float(values[used].mean(axis=1).std()),
            "covers": describe_cover(count, is_sampled=is_sampled),
        },
    )
    pairs = list_pair_rows(sample.axes, estimates[PAIRS], common) if PAIRS in estimates else []
    return {
        SENSITIVITY: pa.Table.from_pylist(rows, SENSITIVITY_SCHEMA),
        INTERACTIONS: pa.Table.from_pylist(pairs, INTERACTIONS_SCHEMA),
    }


def _choose_replicates(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which replicates are used, and which points have a value in all of them.

    A point with fewer replicates than others costs their additional ones; one that lacks a value in a few
    replicates is left out only if otherwise less than two replicates remain.
    """
    is_known = np.isfinite(values)
    is_valued = is_known.any(axis=1)
    if not is_valued.any():
        return np.zeros(values.shape[1], bool), is_valued
    shares = is_known[is_valued].mean(axis=0)
    replicates = shares == 1
    if replicates.sum() < min(_FEWEST, (shares > 0).sum()):
        replicates = shares >= min(_COMMON_ENOUGH, shares.max())
    return replicates, is_known[:, replicates].all(axis=1)


def _choose_sample(
    point_values: PointValues,
    axes: Sequence[str],
    is_usable: np.ndarray,
    design: DesignRows | None,
    sampled: Sequence[str],
    conditional: Collection[str],
) -> _Sample:
    if design is not None:
        sample = _from_design(point_values, axes, is_usable, design)
        if sample is not None:
            return sample
    usable = np.flatnonzero(is_usable)
    taken = point_values.points.take(pa.array(usable))
    encoded = {path: (encode_bound if path in conditional else encode_axis)(taken[path]) for path in axes}
    rows, codes = write_out(encoded, sampled)
    places = usable[rows]
    varied = _list_varied(codes)
    order = _order_grid(list(varied.values()))
    if order is not None and is_usable.sum() >= _count_planned(point_values):
        return _Sample(
            FACTORIAL, list(varied), places[order], None, lambda values, _: _name(factorial_shares(values))
        )
    units = [codes[path].codes for path in sampled if path in codes]
    # Rows of one point are not independent samples.
    return _from_points(varied, places, units or ([rows] if len(rows) > len(usable) else []))


def _list_varied(codes: Mapping[str, AxisCodes]) -> dict[str, AxisCodes]:
    return {path: coded for path, coded in codes.items() if coded.count > 1}


def _count_planned(point_values: PointValues) -> int:
    """Return the number of points of the grid, or of all points if they are named."""
    return int(point_values.points["label"].null_count or point_values.points.num_rows)


def _from_points(
    varied: Mapping[str, AxisCodes], places: np.ndarray, sampled: Sequence[np.ndarray]
) -> _Sample:
    def estimate(values: np.ndarray, rows: np.ndarray) -> Statistics:
        bases = [choose_basis(coded.codes[rows], is_ordered=coded.is_ordered) for coded in varied.values()]
        return {"first_order": given_data_shares(values, bases)}

    units = None
    if sampled and places.size:
        _, first, inverse = np.unique(np.stack(sampled), axis=1, return_index=True, return_inverse=True)
        # Numbered in the order of the points.
        units = first.argsort().argsort()[inverse.ravel()]
        units = None if units.max() == 0 else units
    return _Sample(GIVEN_DATA, list(varied), places, 0, estimate, units)


def _from_design(
    point_values: PointValues, axes: Sequence[str], is_usable: np.ndarray, design: DesignRows
) -> _Sample | None:
    """Return the sample of a design; None if less than two of its units have all values."""
    places, units = design.place(point_values.points["point_id"].combine_chunks(), is_usable)
    if not places.size or places.shape[1] < _FEWEST:
        return None
    if design.method == MORRIS:
        levels = design.levels.reshape(-1, design.rows_per_unit, len(design.axes))[units]

        def screen(values: np.ndarray, rows: np.ndarray) -> Statistics:
            effects = summarize_effects(elementary_effects(values, levels[rows]))
            return {"mu": effects.mu, "mu_star": effects.mu_star, "sigma": effects.sigma}

        return _Sample(MORRIS, design.axes, places, 1, screen)
    taken = point_values.points.take(pa.array(places[:, 0, 0]))
    crossed = _list_varied({path: encode_axis(taken[path]) for path in axes if path not in design.axes})
    order = _order_grid(list(crossed.values())) if crossed else None
    sampled = len(design.axes)
    if order is not None:
        places = places[order.ravel()]

    def estimate(values: np.ndarray, _: np.ndarray) -> Statistics:
        statistics = _name(saltelli_shares(values, sampled))
        if order is None:
            return statistics
        base = values[:, :, [0, sampled + 1]].reshape(len(values), -1)
        beside = _name(crossed_shares(base, order.shape))
        return {name: np.append(statistics[name], beside[name]) for name in ("first_order", "total_order")}

    return _Sample(
        design.method, [*design.axes, *(crossed if order is not None else ())], places, 1, estimate
    )


def _order_grid(axes: Sequence[AxisCodes]) -> np.ndarray | None:
    """Return the number of the point of each combination, a dimension per axis; None if it is not a grid."""
    shape = tuple(coded.count for coded in axes)
    if not axes or prod(shape) != len(axes[0].codes):
        return None
    cells = np.ravel_multi_index(tuple(coded.codes for coded in axes), shape)
    order = np.argsort(cells)
    return order.reshape(shape) if (cells[order] == np.arange(len(cells))).all() else None


def _name(shares: Shares) -> Statistics:
    named = {"first_order": shares.first, "total_order": shares.total, PAIRS: shares.pairs}
    return {name: share for name, share in named.items() if share is not None}


def _estimate(sample: _Sample, values: np.ndarray) -> dict[str, Estimate]:
    """Return each statistic with its interval over replicates and, for a random sample, over samples."""
    count = 0 if sample.rows is None else sample.places.shape[sample.rows]
    every = np.arange(count)
    names: list[str] = []
    shapes: list[tuple[int, ...]] = []

    def estimate_all(rows: np.ndarray) -> np.ndarray:
        """Return the statistics by replicate, all in a row."""
        places = sample.places if sample.rows is None else sample.places.take(rows, axis=sample.rows)
        replicates = [
            sample.estimate(values[:, replicate][places], rows) for replicate in range(values.shape[1])
        ]
        names[:] = list(replicates[0])
        shapes[:] = [statistic.shape for statistic in replicates[0].values()]
        return np.stack(
            [
                np.concatenate([statistic.ravel() for statistic in statistics.values()])
                for statistics in replicates
            ]
        )

    by_replicate = estimate_all(every)
    sampling = None
    if count >= _FEWEST:
        sampling = jackknife_error(lambda rows: estimate_all(rows).mean(axis=0), count, sample.units)
    combined = combine_replicates(by_replicate, sampling)
    ends = np.cumsum([prod(shape) for shape in shapes])[:-1]
    parts = [np.split(row, ends) for row in (combined.value, combined.low, combined.high)]
    return {
        name: Estimate(*(part[index].reshape(shape) for part in parts))
        for index, (name, shape) in enumerate(zip(names, shapes, strict=True))
    }


DISTRIBUTIONS = frozenset({"uniform", "log_uniform", "integer", "choice"})
"""The forms of an axis of a study that is sampled."""


def analyse_tables(
    results: Sequence[str],
    plan: pa.Table,
    layout: SweepLayout,
    certificates: pa.Table | None,
    design: DesignRows | None,
    spec: Mapping[str, Any],
    points: Collection[str] | None = None,
) -> dict[str, pa.Table]:
    """Return the tables `sensitivity` and `interactions` of results of a sweep.

    Args:
        results: Result columns, or the name of the answers.
        plan: The planned runs, all rounds together.
        certificates: Those of a seek; None for other sweeps.
        design: The sample of a Morris or Saltelli design, if the study has one.
        spec: The study as it was run, which says what axes are sampled, zipped and derived.
        points: The ids of the points to use (default: all).
    """
    answer, sampled = read_answer(plan.schema), list_sampled(spec)
    dependent, conditional = _list_dependent(spec), spec.get("when", {})
    axes = [path for path in read_axes(plan.schema) if path not in dependent]
    columns = [name for name in results if name != answer]
    rows = read_rows(layout, columns) if columns else None
    parts = []
    for name in results:
        point_values = collect_values(name, plan, axes, None if name == answer else rows, certificates)
        if points is not None:
            point_values = _restrict(point_values, points)
        parts.append(analyse(point_values, axes, design, sampled, conditional))
    return {name: pa.concat_tables([part[name] for part in parts]) for name in (SENSITIVITY, INTERACTIONS)}


def _restrict(point_values: PointValues, points: Collection[str]) -> PointValues:
    kept = pc.is_in(point_values.points["point_id"], pa.array(list(points), pa.string()))
    is_kept = kept.to_numpy()
    return replace(
        point_values,
        points=point_values.points.filter(kept),
        values=point_values.values[is_kept],
        is_bound=point_values.is_bound[is_kept],
        configurations=point_values.configurations[is_kept],
    )


def _list_dependent(spec: Mapping[str, Any]) -> set[str]:
    """Return the parameters without an effect of their own: derived ones, all but the first of a `zip`."""
    zipped = (path for group in spec.get("zip", []) for path in list(group)[1:])
    return {*spec.get("derived", {}), *zipped}


def list_sampled(spec: Mapping[str, Any]) -> list[str]:
    """Return the axes of a study that have a distribution."""
    axes = spec.get("axes", {})
    return [path for path, axis in axes.items() if isinstance(axis, Mapping) and axis.keys() & DISTRIBUTIONS]
