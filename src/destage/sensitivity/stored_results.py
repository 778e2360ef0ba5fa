"""The sensitivity tables of a stored sweep."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from destage.sensitivity.analysis import analyse
from destage.sensitivity.design_rows import DesignRows
from destage.sensitivity.point_values import PointValues, collect_values
from destage.sensitivity.sensitivity_table import INTERACTIONS, SENSITIVITY
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.stored_rows import read_rows
from destage.store.state.plan import read_answer, read_axes

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
        found = collect_values(name, plan, axes, None if name == answer else rows, certificates)
        if points is not None:
            found = _restrict(found, points)
        parts.append(analyse(found, axes, design, sampled, conditional))
    return {name: pa.concat_tables([part[name] for part in parts]) for name in (SENSITIVITY, INTERACTIONS)}


def _restrict(found: PointValues, points: Collection[str]) -> PointValues:
    kept = pc.is_in(found.points["point_id"], pa.array(list(points), pa.string()))
    at = kept.to_numpy()
    return replace(
        found,
        points=found.points.filter(kept),
        values=found.values[at],
        is_bound=found.is_bound[at],
        configurations=found.configurations[at],
    )


def _list_dependent(spec: Mapping[str, Any]) -> set[str]:
    """Return the parameters without an effect of their own: derived ones, all but the first of a `zip`."""
    zipped = (path for group in spec.get("zip", []) for path in list(group)[1:])
    return {*spec.get("derived", {}), *zipped}


def list_sampled(spec: Mapping[str, Any]) -> list[str]:
    """Return the axes of a study that have a distribution."""
    axes = spec.get("axes", {})
    return [path for path, axis in axes.items() if isinstance(axis, Mapping) and axis.keys() & DISTRIBUTIONS]
