"""Verification of a sweep: a sample of its runs is repeated and compared with the stored rows bit for bit."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from destage import engine
from destage.objects import Location
from destage.store.layout import SweepLayout
from destage.store.plan import join_configs, read_plan
from destage.store.rows import find_missing_columns, find_present_runs, read_rows


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of a verification.

    Attributes:
        checked: The number of runs repeated.
        different: The runs whose result columns differ.
    """

    checked: int
    different: tuple[str, ...]


def verify(
    sweep: Location,
    *,
    sample: float = 0.01,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Repeat a sample of a sweep's runs and compare their result columns.

    Args:
        sample: The fraction of the runs to check (at least one run).
        progress: Called with the numbers of runs checked and to check.
    """
    layout = SweepLayout(sweep)
    plan, rows = read_plan(layout), read_rows(layout)
    if plan is None:
        return Verification(0, ())
    positions = {run_id: index for index, run_id in enumerate(plan["run_id"].to_pylist())}
    candidates = sorted(find_present_runs(rows) & positions.keys())
    count = min(len(candidates), max(1, round(sample * len(candidates))))
    chosen = random.Random(seed).sample(candidates, count)  # noqa: S311 - a sample, no secret
    names = engine.results_schema().names
    stored = {
        row["run_id"]: row
        for row in rows.select(["run_id", *names]).to_pylist()
        if row["run_id"] in set(chosen)
    }
    lacking: dict[str, set[str]] | None = None
    different = []
    for number, run_id in enumerate(chosen, start=1):
        again = engine.simulate_canonical(
            join_configs(plan.slice(positions[run_id], 1))[0].as_py()
        ).to_pylist()[0]
        # repr distinguishes any two floats, and equals for NaN.
        differing = {name for name in names if repr(again[name]) != repr(stored[run_id][name])}
        if differing and lacking is None:
            lacking = find_missing_columns(layout)
        if differing.difference((lacking or {}).get(run_id, ())):
            different.append(run_id)
        if progress is not None:
            progress(number, count)
    return Verification(count, tuple(different))
