"""The values of one result by point and replicate, and the rows of a design that the points are.

Where the condition of an axis is false, the axis has no effect, and one point stands for all of its values.
Taken for a value of its own, this lack would have the effect of whatever the condition depends on. So the
rows of a design give each axis a value, and several of them may be one point.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.spec.axis_names import is_minimum
from destage.store.schemas.axis_codes import AxisCodes

MORRIS, SALTELLI = "morris", "saltelli"


@dataclass(frozen=True, slots=True)
class DesignRows:
    """The sample of a design, once for each combination of the axes that it is crossed with (stratum).

    Attributes:
        method: `MORRIS` or `SALTELLI`.
        axes: The sampled axes, in the order of the columns of `levels`.
        levels: The sample in the unit cube, a row each.
        rows_per_unit: The rows of a trajectory (Morris) or of a base sample (Saltelli).
        points: `stratum`, `row` and `point_id`, stratum by stratum.
    """

    method: str
    axes: Sequence[str]
    levels: np.ndarray
    rows_per_unit: int
    points: pa.Table

    def place(self, point_ids: pa.Array, is_usable: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of the point of each row, by stratum, unit and row of the unit, and the units.

        Units with a point that is not usable are left out, as are strata without a usable point.

        Args:
            is_usable: Whether each has the values that are needed.
        """
        places = pc.fill_null(pc.index_in(self.points["point_id"], point_ids), -1).to_numpy()
        places = places.reshape(-1, len(self.levels) // self.rows_per_unit, self.rows_per_unit)
        is_there = (places >= 0) & is_usable[places]
        strata = is_there.any(axis=(1, 2))
        units = np.flatnonzero(is_there[strata].all(axis=(0, 2)))
        return places[strata][:, units], units


_SEED = 0


def write_out(
    axes: Mapping[str, AxisCodes], sampled: Collection[str]
) -> tuple[np.ndarray, dict[str, AxisCodes]]:
    """Return rows in which each axis has a value: the place of the point of each, and the axes by row.

    A point without a value (code -1) has a row for each value of the axis, as in the grid as written. On a
    sampled axis it keeps one row: such points share the values of the axis evenly, in an order by chance, as
    if the design had drawn them.

    Args:
        sampled: The axes that were sampled at random.
    """
    count = max((len(coded.codes) for coded in axes.values()), default=0)
    rows = np.arange(count)
    columns = {path: coded.codes for path, coded in axes.items()}
    for path, coded in axes.items():
        is_inert = columns[path] < 0
        if not is_inert.any() or coded.count == 0:
            continue
        if path in sampled:
            filled = columns[path].copy()
            spread = np.arange(is_inert.sum()) * coded.count // is_inert.sum()
            filled[is_inert] = np.random.default_rng(_SEED).permutation(spread)
            columns[path] = filled
            continue
        repeats = np.where(is_inert, coded.count, 1)
        ends = np.cumsum(repeats)
        within = np.arange(ends[-1]) - np.repeat(ends - repeats, repeats)
        rows = np.repeat(rows, repeats)
        columns = {name: np.repeat(codes, repeats) for name, codes in columns.items()}
        columns[path] = np.where(columns[path] < 0, within, columns[path])
    return rows, {path: replace(coded, codes=columns[path]) for path, coded in axes.items()}


_BOUNDS = ("at_least", "below", "above")
"""States of a replicate's search whose value is only a bound of the answer."""
_ANSWERED = ("certified", *_BOUNDS)


@dataclass(frozen=True, slots=True)
class PointValues:
    """One result of a sweep.

    Attributes:
        points: The points in the order of the plan: `point_id`, `label`, and the axes by dotted path.
        values: By point and replicate; NaN where there is none.
        configurations: By point, the number of its configuration; points that differ only in axes without
            effect share one.
        is_bound: By point and replicate, whether the value is only a bound of a seek's answer.
    """

    metric: str
    points: pa.Table
    values: np.ndarray
    is_bound: np.ndarray
    configurations: np.ndarray


def collect_values(
    metric: str,
    plan: pa.Table,
    axes: Sequence[str],
    rows: pa.Table | None,
    certificates: pa.Table | None,
) -> PointValues:
    """Return the values of a result.

    A point that has several runs of one replicate has their mean.

    Args:
        metric: A column of `rows`, or the name of the seek's answers.
        plan: The planned runs, with the axes.
        rows: The stored runs with `run_id`, `status` and the column; None for the answers.
        certificates: Those of a seek; a column is then that of the runs next below the answers.
    """
    coded = plan["point_id"].combine_chunks().dictionary_encode()
    _, first = np.unique(coded.indices.to_numpy(), return_index=True)
    points = plan.select(["point_id", "label", *axes]).take(pa.array(first))
    configurations = _number_configurations(plan, coded.indices.to_numpy(), points)
    if certificates is None:
        places, replicates, runs = coded.indices.to_numpy(), plan["replicate"], plan["run_id"]
    else:
        planned = pc.index_in(certificates["point_id"], coded.dictionary)
        places, replicates = planned.to_numpy(), certificates["replicate"]
        runs = certificates["run_id_pass"]
    states = None
    if rows is None:
        if certificates is None:
            raise AssertionError("answers are those of a seek")
        states = certificates["state"]
        values = pc.if_else(pc.is_in(states, pa.array(_ANSWERED)), certificates["n"], None)
        if is_minimum(metric):
            # One answer for all replicates: its repetitions are not a sample.
            values = pc.if_else(pc.equal(replicates, 0), values, None)
    else:
        results = pc.if_else(pc.equal(rows["status"], "ok"), rows[metric].cast(pa.float64()), None)
        values = pc.take(results, pc.index_in(runs, rows["run_id"].combine_chunks()))
    shape = points.num_rows, int(pc.max(plan["replicate"]).as_py() or 0) + 1
    cells = places.astype(np.int64) * shape[1] + replicates.to_numpy()
    numbers = np.asarray(pc.fill_null(values.cast(pa.float64()), np.nan).to_numpy())
    is_known = np.isfinite(numbers)
    sums = np.bincount(cells[is_known], numbers[is_known], minlength=shape[0] * shape[1])
    counts = np.bincount(cells[is_known], minlength=shape[0] * shape[1])
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0).reshape(shape)
    is_bound = np.zeros(shape[0] * shape[1], bool)
    if states is not None:
        is_bound[cells] = pc.is_in(states, pa.array(_BOUNDS)).to_numpy(zero_copy_only=False)
    return PointValues(metric, points, means, is_bound.reshape(shape) & np.isfinite(means), configurations)


def _number_configurations(plan: pa.Table, places: np.ndarray, points: pa.Table) -> np.ndarray:
    """Return the number of the configuration of each point; equal ones have equal runs.

    Args:
        places: The place of the point of each run of the plan.
    """
    runs = plan["run_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    least = np.full(points.num_rows, len(runs), runs.dtype)
    np.minimum.at(least, places, runs)
    labels = points["label"].combine_chunks().dictionary_encode(null_encoding="encode").indices
    _, numbers = np.unique(np.stack([least, labels.to_numpy()]), axis=1, return_inverse=True)
    return np.ravel(numbers)
