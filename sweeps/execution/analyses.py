"""Sensitivity of a sweep's results to its axes: at its end, if its study asks for it, and on demand."""

from collections.abc import Collection, Sequence

import pyarrow as pa

from destage.sensitivity.analysis import analyse_tables
from destage.sensitivity.point_values import MORRIS, SALTELLI, DesignRows
from destage.store import Sweep
from destage.store.files.layout import SweepLayout
from destage.store.state.head import Head
from destage.store.state.plan import read_plan
from destage.sweeps.keys.sensitivity_key import choose_result, find_result
from destage.sweeps.points.grid import tabulate_design
from destage.sweeps.reading.parsing import parse_study
from destage.sweeps.study.valid_study import Study


def analyse_study(
    study: Study, layout: SweepLayout, head: Head, certificates: pa.Table | None
) -> dict[str, pa.Table]:
    """Return the tables of the sensitivity that a study asks for by its key or its design, once it has ended.

    A pure function of the study, its plan, and the rows of its runs.
    """
    plan = read_plan(layout, head)
    if plan is None:
        return {}
    answer, asked = study.answer, study.sensitivity
    named = [] if asked is None else [find_result(name, answer, "sensitivity.of") for name in asked.of]
    results = list(dict.fromkeys(named)) or [choose_result(answer, study.scenario)]
    return analyse_tables(results, plan, layout, certificates, _find_design(study), study.document)


def analyse_sweep(
    sweep: Sweep, results: Sequence[str], points: Collection[str] | None = None
) -> dict[str, pa.Table]:
    """Return the tables `sensitivity` and `interactions` of a sweep, from its rows.

    Args:
        results: Result columns, or the name of the answers.
        points: The ids of the points to use (default: all).

    Raises:
        TraceError: The study has a Morris or Saltelli design, and replays a trace that cannot be read.
    """
    spec = sweep.spec()
    is_designed = spec.get("design", {}).get("method") in {MORRIS, SALTELLI}
    study = parse_study(sweep.study_text, name=sweep.name, is_stored=True) if is_designed else None
    certificates = None if sweep.answer is None else sweep.certificates()
    design = None if study is None else _find_design(study)
    return analyse_tables(results, sweep.plan(), SweepLayout(sweep.path), certificates, design, spec, points)


def _find_design(study: Study) -> DesignRows | None:
    design = study.design
    if design is None or design.is_even:
        return None
    return DesignRows(
        design.method,
        list(design.axes),
        design.sample_levels(),
        design.rows_per_point,
        tabulate_design(study),
    )
