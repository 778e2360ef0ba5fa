"""How long a sweep will take: from the engine time of stored runs, or of a few pilot runs.

The estimate is a range. Its middle is the number of runs times their mean engine time, divided by the number
of concurrent runs. Its width comes from the scatter of the times and, for a seek, from runs that are not
planned yet.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage import engine
from destage.objects import Location
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.stored_rows import is_transient, read_rows
from destage.store.state.lookup import default_store, list_sweeps
from destage.store.state.plan import join_configs
from destage.sweeps.execution.shared_runs import SharedRuns
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.forecast import combine_factors
from destage.sweeps.rounds.planner import Planner, list_needed_columns
from destage.sweeps.space.identity import pack_ids
from destage.sweeps.study.valid_study import Study
from destage.sweeps.workers.executors import count_processors

_TIME = "prov_engine_s"
_ENOUGH = 8
"""Stored runs from which their times count; fewer are no better than a pilot."""
_PILOT_RUNS = 8
_PILOT_S = 3.0
"""Time of all pilot runs together [s]."""
_MACHINE = 1.2
"""The factor by which a machine is faster or slower at another time."""
_SEEK = 1.9
"""The factor by which runs of a search differ from those of its first round: 0.4 to 2.2 in seven sweeps."""
_MOST_ERRORS = 1.5
_WIDEST = 3.0


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """How long a sweep will take.

    Attributes:
        runs_low: Runs left to execute, at least.
        runs_high: Runs left to execute, at most.
        low_s: The time, at least [s].
        high_s: The time, at most [s].
        slots: Runs executed at a time.
        basis: Where the engine time of a run comes from.
        samples: The runs that it was measured on.
    """

    runs_low: int
    runs_high: int
    low_s: float
    high_s: float
    slots: int
    basis: Literal["nothing left", "stored runs", "stored runs of the same study", "pilot runs"]
    samples: int


def estimate_time(
    study: Study,
    planner: Planner,
    first: pa.Table,
    sweep: Location,
    others: SharedRuns | None = None,
    *,
    workers: int | None = None,
) -> TimeEstimate:
    """Return how long the rest of a sweep will take on this machine; writes nothing.

    Args:
        planner: A planner of the study that has planned the first round.
        first: The first round.
        sweep: The sweep's directory, whether it exists or not.
        others: The other sweeps of its store, whose runs it takes over.
        workers: Runs executed at a time (default: one per processor).
    """
    slots = workers or count_processors()
    columns = list_needed_columns(study)
    rows = read_rows(SweepLayout(sweep), [*columns, _TIME])
    finished = FinishedRuns(columns, keeps_facts=study.is_adaptive)
    finished.add(rows.filter(pc.invert(is_transient(rows))))
    opened = _find_open_round(planner, first, finished, others or SharedRuns(sweep), columns)
    if opened is None:
        return TimeEstimate(0, 0, 0.0, 0.0, slots, "nothing left", 0)
    plan, missing = opened
    later = planner.forecast()
    seconds = _list_times(rows)
    factor = _MACHINE
    basis: Literal["stored runs", "stored runs of the same study", "pilot runs"] = "stored runs"
    if len(seconds) < _ENOUGH:
        basis, seconds = "stored runs of the same study", _find_earlier_times(study, sweep)
    if len(seconds) < _ENOUGH:
        basis, seconds = "pilot runs", list(_run_pilot(plan, missing))
        factor = combine_factors(factor, _SEEK if study.sought else 1.0)
    runs = len(missing) + later.runs
    mean = math.fsum(seconds) / len(seconds) if seconds else 0.0
    spread = combine_factors(factor, _scatter(seconds), later.factor)
    # A single run cannot be split over slots, so a sweep takes at least the time of one run.
    likely_s = max(runs * mean / slots, mean)
    return TimeEstimate(
        len(missing) + math.floor(later.low),
        len(missing) + math.ceil(later.high),
        likely_s / spread,
        likely_s * spread,
        slots,
        basis,
        len(seconds),
    )


def _find_open_round(
    planner: Planner,
    first: pa.Table,
    finished: FinishedRuns,
    others: SharedRuns,
    columns: Sequence[str],
) -> tuple[pa.Table, np.ndarray] | None:
    """Return the first round with missing runs, and the first row of each; None if all is answered."""
    plan: pa.Table | None = first
    while plan is not None:
        ids = pack_ids(plan["run_id"])
        _, rows = np.unique(ids.dictionary_encode().indices.to_numpy(), return_index=True)
        missing = rows[finished.find(ids.take(pa.array(rows))) < 0]
        for shared in others.read(ids.take(pa.array(missing)), columns):
            finished.add(shared)
        missing = rows[finished.find(ids.take(pa.array(rows))) < 0]
        if len(missing):
            return plan, np.sort(missing)
        plan = planner.next_round(finished.facts)
    return None


def _list_times(rows: pa.Table) -> list[float]:
    """Return the engine time of each stored run [s]."""
    return [seconds for seconds in rows[_TIME].to_pylist() if seconds is not None]


def _find_earlier_times(study: Study, sweep: Location) -> list[float]:
    """Return the times of the latest other sweep of this store with the study's name."""
    store = sweep.parent.parent if sweep.parent.name == "sweeps" else default_store()
    for path in reversed(list_sweeps(store)):
        if path.name != sweep.name and path.name.rpartition("-")[0] == study.name:
            seconds = _list_times(read_rows(SweepLayout(path), [_TIME], past_damage=True))
            if len(seconds) >= _ENOUGH:
                return seconds
    return []


def _run_pilot(plan: pa.Table, missing: np.ndarray) -> Iterator[float]:
    """Yield the time of some missing runs, spread over the plan [s]; one that takes too long is cut off."""
    began = time.monotonic()
    count = min(_PILOT_RUNS, len(missing))
    for index in _spread_out(count):
        place = int(missing[int((index + 0.5) * len(missing) / count)])
        left = _PILOT_S - (time.monotonic() - began)
        if left <= 0:
            return
        configs = join_configs(plan.slice(place, 1)).to_pylist()
        started = time.monotonic()
        done = engine.execute_canonical(configs, timeout_s=left)
        yield done.seconds[0] if done.seconds else time.monotonic() - started


def _spread_out(count: int) -> list[int]:
    """Return the numbers below `count` in an order whose beginnings are spread: the middle, then halves."""
    order: list[int] = []
    parts = [(0, count)]
    while parts:
        halves = []
        for low, high in parts:
            if low < high:
                middle = (low + high) // 2
                order.append(middle)
                halves += [(low, middle), (middle + 1, high)]
        parts = halves
    return order


def _scatter(seconds: Sequence[float]) -> float:
    """Return the factor by which the mean of these times may be wrong."""
    if not seconds:
        return _WIDEST
    mean = math.fsum(seconds) / len(seconds)
    if len(seconds) == 1 or not mean:
        return _WIDEST
    deviation = math.sqrt(math.fsum((duration - mean) ** 2 for duration in seconds) / (len(seconds) - 1))
    return min(1 + _MOST_ERRORS * deviation / mean / math.sqrt(len(seconds)), _WIDEST)
