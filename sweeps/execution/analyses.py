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


def list_study_results(study: Study) -> list[str]:
    """Return the results whose sensitivity a study asks for: those it names, or that its design is for."""
    answer = study.answer
    if study.sensitivity is not None:
        named = study.sensitivity.of
        return list(dict.fromkeys(find_result(name, answer, "sensitivity.of") for name in named))
    return [choose_result(answer, study.scenario)]


def analyse_study(
    study: Study, layout: SweepLayout, head: Head, certificates: pa.Table | None
) -> dict[str, pa.Table]:
    """Return the tables of the sensitivity that a study asks for, once it has ended.

    A pure function of the study, its plan, and the rows of its runs.
    """
    plan = read_plan(layout, head)
    if plan is None:
        return {}
    return analyse_tables(
        list_study_results(study), plan, layout, certificates, _find_design(study), study.document
    )


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
