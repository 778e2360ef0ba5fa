"""The values of one result by point and replicate, from the tables of a sweep."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.spec.axis_names import is_minimum

_BOUNDS = ("at_least", "below", "above")
"""States of a replicate's search whose value is only a bound of the answer."""
_ANSWERED = ("certified", *_BOUNDS)


@dataclass(frozen=True, slots=True)
class PointValues:
    """One result of a sweep.

    Attributes:
        metric: The name of the result.
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
        found = pc.if_else(pc.equal(rows["status"], "ok"), rows[metric].cast(pa.float64()), None)
        values = pc.take(found, pc.index_in(runs, rows["run_id"].combine_chunks()))
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
