"""Verification of a sweep: its files against their digests, its plan against its configurations, its rows."""

import copy
import json
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from destage import engine
from destage.errors import DestageError, Issue, StoreError
from destage.objects import Location
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.stored_rows import (
    count_stored_rows,
    find_missing_columns,
    find_present_runs,
    read_rows,
)
from destage.store.opened.file_checks import check_files
from destage.store.opened.sweep import open_sweep
from destage.store.state.lookup import open_head
from destage.store.state.plan import join_configs, read_axes, read_plan
from destage.sweeps.space import parameters

_MISSING = "planned, and no result is stored; `destage run SWEEP` executes it"


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification.

    Attributes:
        files: The number of files whose digests were compared.
        planned: The number of planned runs.
        checked: The number of runs that were executed again.
        repeated: The number of rows beside that of their run. Such a run failed first, or it was executed
            twice, as where a worker is lost between its commit and its answer. Readers take one row of a run.
        problems: What is wrong, each with the file or the run.
    """

    files: int
    planned: int
    checked: int
    repeated: int
    problems: tuple[Issue, ...]


def verify(
    sweep: Location,
    *,
    sample: float = 0.01,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Check a sweep: all files against their digests, all planned runs for a row, and a sample of the runs.

    A run of the sample is checked against its configuration (its id, the axes of its points), executed again
    and compared with its stored row bit for bit.

    Args:
        sample: The fraction of the runs to check (at least one run).
        progress: Called with the numbers of runs checked and to check.

    Raises:
        StoreError: There is no sweep, or its head is damaged and cannot be restored.
    """
    layout = SweepLayout(sweep)
    opened = open_head(layout)
    if opened is None:
        raise StoreError("store.not-a-sweep", "not a sweep: it has no generation of a plan", str(sweep))
    head = opened.head
    checked = check_files(layout, head)
    files, problems = checked.files, [*opened.warnings, *checked.problems]
    damaged = {problem.place for problem in problems}
    if any(str(layout.generations / name) in damaged for name in head.rounds):
        return Verification(files, head.planned, 0, 0, tuple(problems))
    plan = read_plan(layout, head)
    if plan is None:
        return Verification(files, 0, 0, 0, tuple(problems))
    rows = read_rows(layout, columns=[], past_damage=True)
    repeated = count_stored_rows(layout) - rows.num_rows
    present = find_present_runs(rows)
    planned = list(dict.fromkeys(plan["run_id"].to_pylist()))
    if len(planned) != head.planned:
        message = f"the plan has {len(planned)} runs, its head says {head.planned}"
        problems.append(Issue("sweep.wrong-plan", str(sweep), message))
    problems += [Issue("sweep.run-missing", run, _MISSING) for run in planned if run not in present]
    candidates = sorted(present.intersection(planned))
    count = min(len(candidates), max(1, round(sample * len(candidates))))
    chosen = random.Random(seed).sample(candidates, count)  # noqa: S311 - a sample, no secret
    for number, issues in enumerate(_check_runs(layout, plan, chosen), start=1):
        problems += issues
        if progress is not None:
            progress(number, count)
    return Verification(files, len(planned), count, repeated, tuple(problems))


def _check_runs(layout: SweepLayout, plan: pa.Table, chosen: Sequence[str]) -> Iterator[list[Issue]]:
    """Yield the problems of each chosen run: of its plan rows, and of its stored row."""
    axes = read_axes(plan.schema)
    conditional = set(open_sweep(layout.root).spec().get("when", {}))
    wanted = pa.array(chosen, pa.string())
    points: dict[str, list[dict[str, Any]]] = {run_id: [] for run_id in chosen}
    rows_of_plan = plan.filter(pc.is_in(plan["run_id"], wanted))
    for row, config in zip(rows_of_plan.to_pylist(), join_configs(rows_of_plan).to_pylist(), strict=True):
        points[row["run_id"]].append({**row, "config": config})
    names = engine.results_schema().names
    rows = read_rows(layout, names, past_damage=True)
    stored = {row["run_id"]: row for row in rows.filter(pc.is_in(rows["run_id"], wanted)).to_pylist()}
    lacking: dict[str, set[str]] | None = None
    for run_id in chosen:
        issues = list(_check_plan_rows(run_id, points[run_id], axes, conditional))
        if run_id not in stored:
            # The index has it, and its fragment cannot be read.
            yield [*issues, Issue("sweep.run-missing", run_id, _MISSING)]
            continue
        again = engine.simulate_canonical(points[run_id][0]["config"]).to_pylist()[0]
        # repr distinguishes any two floats, and equals for NaN.
        differing = {name for name in names if repr(again[name]) != repr(stored[run_id][name])}
        if differing and lacking is None:
            lacking = find_missing_columns(layout)
        if differing := differing.difference((lacking or {}).get(run_id, ())):
            message = f"the stored row differs from a new execution in {', '.join(sorted(differing))}"
            issues.append(Issue("sweep.row-differs", run_id, message, data={"columns": sorted(differing)}))
        yield issues


def _check_plan_rows(
    run_id: str, rows: Sequence[dict[str, Any]], axes: Sequence[str], conditional: Collection[str]
) -> Iterator[Issue]:
    """Compare a run's id, and the axes of its points, with its configuration.

    An axis may have another value than the configuration if it has no effect, as the write fraction of no
    cache, and none if it is conditional.
    """
    for row in rows:
        config = json.loads(row["config"])
        replicate = config["run"]["replicate"]
        again = engine.run_id(engine.canonical_json(config))
        if (again, replicate) != (run_id, row["replicate"]):
            yield Issue("sweep.wrong-plan", run_id, f"its configuration is that of run {again}")
        for path in axes:
            # The canonical form has no catalogue names.
            if path.rpartition(".")[2] == "use" or (row[path] is None and path in conditional):
                continue
            is_same = _is_same(parameters.read(config, path), row[path])
            if not is_same and not _has_no_effect(config, path, row[path], run_id):
                message = f"{path} is {row[path]} in the plan, and another in its configuration"
                yield Issue("sweep.wrong-plan", run_id, message, data={"axis": path})


def _has_no_effect(config: dict[str, Any], path: str, value: object, run_id: str) -> bool:
    """Whether a configuration with another value of an axis is the same run."""
    other = copy.deepcopy(config)
    try:
        parameters.assign(other, path, value)
        return engine.run_id(engine.canonical_json(other)) == run_id
    except DestageError:
        return False


def _is_same(value: object, column: object) -> bool:
    """Whether a value of a configuration is that of its column, which may have a wider type."""
    if isinstance(value, Mapping | list):
        value = engine.canonical_text(value)
    return value == column or str(value) == str(column)
