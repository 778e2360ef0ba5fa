"""What a load's response would be without queues: of one user on each family of configurations.

An objective that not even this meets is out of reach of every number of users and of disks, so that a search
would only find out slowly.
"""

import copy
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from destage import engine
from destage.errors import ConfigError, DestageError
from destage.spec.objective import Objective
from destage.sweeps.keys.prices import CONTROLLER
from destage.sweeps.space import parameters
from destage.sweeps.study.users import USERS
from destage.sweeps.workers.executors import count_processors

DISKS = "array.disks"

_REQUESTS, _UNCACHED_REQUESTS = 2_000, 500
_MARGIN = 1.1
"""How far beyond a bound a response with the most disks must be, as it has the noise of a short run."""
_FEW_MARGIN = 3.0
"""The same with the fewest disks, whose seeks are longer than those of more, but not their rotations. Large
requests are spread over more disks, so that it is multiplied by the ratio of most to fewest."""
_UNCACHED = {"controller.cache.write_fraction": 0.0, "run.warm_up": "none"}
_RESPONSES = ("response_", "read_response_", "write_response_")
_COMPARED = ("response_mean_us", "read_response_mean_us", "write_response_mean_us")
_ALIKE = 1.1
"""How much faster without a cache an array may be that another one stands for, as both have noise."""
_IDLE = 0.5
"""How busy the disks may be where hits are the same with other disks: the write cache never fills up."""

_Family = Mapping[str, object]
_Array = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Unloaded:
    """A response of one user, which misses an objective.

    Attributes:
        value: The response [us].
        family: The family that has it, by dotted path.
        disks: Its number of disks.
        disk_busy: The busy fraction of its busiest disk.
    """

    objective: Objective
    value: float
    family: Mapping[str, object]
    disks: int
    disk_busy: float

    @property
    def excess(self) -> float:
        """The response divided by its bound."""
        return self.value / self.objective.bound if self.objective.bound > 0 else math.inf


@dataclass(frozen=True, slots=True)
class _Uncached:
    """The responses of an array with the fewest disks and without a write cache, by column [us]."""

    missed: Unloaded | None
    values: Mapping[str, float | None]

    @property
    def sum(self) -> float:
        return sum(value or 0 for value in self.values.values())

    def is_as_slow_as(self, other: "_Uncached") -> bool:
        pairs = [(self.values[column], value) for column, value in other.values.items()]
        return all(
            mine is value if mine is None or value is None else mine * _ALIKE >= value
            for mine, value in pairs
        )


def find_unreachable(
    scenario: Mapping[str, Any],
    families: Sequence[_Family],
    counts: Sequence[int],
    objectives: Sequence[Objective],
) -> Unloaded | None:
    """Return a response objective that one user misses in every family; None if one family may meet all.

    Its response is the nearest of those examined: some of them are of the fewest disks, where that is clear.
    Filling caches takes most of the time, so that of each controller, only the fastest arrays have filled
    caches. While the disks are idle, others have the same hits, and misses that take at least as long.

    Args:
        scenario: The scenario of the search.
        families: What each family assigns, by dotted path.
        counts: The numbers of disks considered, ascending.
    """
    bounds = [bound for bound in objectives if bound.is_upper and bound.column.startswith(_RESPONSES)]
    if not bounds:
        return None
    search = _Search(scenario, counts, bounds)
    arrays = {_array_of(family): family for family in reversed(families)}
    uncached: dict[_Array, _Uncached | None] = {}
    with ThreadPoolExecutor(count_processors()) as threads:
        for array, run in zip(arrays, threads.map(search.run_uncached, arrays.values()), strict=True):
            if run is not None and run.missed is None:
                threads.shutdown(cancel_futures=True)
                return None
            uncached[array] = run
        groups = search.group_by_controller(families)
        fastest = [_find_fastest({array: uncached[array] for array in group}) for group in groups]
        misses: list[list[Unloaded]] = [[] for _ in groups]

        def may_be_met(chosen: Sequence[Sequence[_Array]]) -> bool:
            """Examine arrays of all groups beside each other; return whether one of them may meet all."""
            tasks = [(group, array) for group, arrays in enumerate(chosen) for array in arrays]
            examined = threads.map(
                lambda task: search.examine(groups[task[0]][task[1]], uncached[task[1]]), tasks
            )
            for (group, _), missed in zip(tasks, examined, strict=True):
                if missed is None or missed.excess <= _MARGIN:
                    threads.shutdown(cancel_futures=True)
                    return True
                misses[group].append(missed)
            return False

        if may_be_met(fastest) or may_be_met(
            [
                [] if _stand_for_others(missed) else [array for array in group if array not in arrays]
                for group, arrays, missed in zip(groups, fastest, misses, strict=True)
            ]
        ):
            return None
    return min(itertools.chain(*misses), key=lambda missed: missed.excess, default=None)


def _stand_for_others(misses: Sequence[Unloaded]) -> bool:
    """Return whether arrays that are at least as slow without a cache miss their objectives too."""
    return all(miss.excess > _MARGIN * _ALIKE and miss.disk_busy < _IDLE for miss in misses)


def _array_of(family: _Family) -> _Array:
    """Return what a family assigns besides its controller."""
    return tuple(sorted((path, value) for path, value in family.items() if path != CONTROLLER))


def _find_fastest(uncached: Mapping[_Array, _Uncached | None]) -> list[_Array]:
    """Return arrays such that every other array is at least as slow as one of them.

    An array without a result is among them.
    """
    fastest = [array for array, run in uncached.items() if run is None]
    chosen: list[_Uncached] = []
    runs = [(run, array) for array, run in uncached.items() if run is not None]
    for run, array in sorted(runs, key=lambda pair: pair[0].sum):
        if not any(run.is_as_slow_as(other) for other in chosen):
            chosen.append(run)
            fastest.append(array)
    return fastest


@dataclass(frozen=True, slots=True)
class _Search:
    """A search: its scenario, the numbers of disks considered, ascending, and the bounds of responses."""

    scenario: Mapping[str, Any]
    counts: Sequence[int]
    bounds: Sequence[Objective]

    def run_uncached(self, family: _Family) -> _Uncached | None:
        """Return the responses of a family without a write cache; None if it does not run."""
        run = self._run({**family, **_UNCACHED}, self.counts, _UNCACHED_REQUESTS)
        if run is None:
            return None
        count, row = run
        columns = {*_COMPARED, *(objective.column for objective in self.bounds)}
        return _Uncached(self._find_missed(family, count, row), {column: row[column] for column in columns})

    def group_by_controller(self, families: Sequence[_Family]) -> list[dict[_Array, _Family]]:
        """Return the families of controllers that differ, of equal ones those of the first, by array."""
        groups: dict[str, dict[_Array, _Family]] = {}
        described: dict[object, str] = {}
        for family in families:
            controller = family[CONTROLLER]
            if controller not in described:
                described[controller] = self._describe_controller(family)
            groups.setdefault(described[controller], {}).setdefault(_array_of(family), family)
        return list(groups.values())

    def examine(self, family: _Family, uncached: _Uncached | None) -> Unloaded | None:
        """Return the objective that a family misses by the most; with the fewest disks if that is clear."""
        clear = _FEW_MARGIN * self.counts[-1] / self.counts[0]
        if uncached is None or uncached.missed is None or uncached.missed.excess > clear:
            missed = self._run_missed(family, self.counts)
            if missed is None or missed.excess > clear:
                return missed
        return self._run_missed(family, self.counts[::-1])

    def _run_missed(self, family: _Family, counts: Sequence[int]) -> Unloaded | None:
        run = self._run(family, counts, _REQUESTS)
        return None if run is None else self._find_missed(family, *run)

    def _find_missed(self, family: _Family, count: int, row: Mapping[str, Any]) -> Unloaded | None:
        """Return the objective that a run misses by the most."""
        values = [(objective, row[objective.column]) for objective in self.bounds]
        missed = [
            Unloaded(objective, value, family, count, row["disk_busy_max_fraction"] or 0.0)
            for objective, value in values
            if value is not None and not objective.is_met(value)
        ]
        return max(missed, key=lambda unloaded: unloaded.excess, default=None)

    def _run(
        self, assigned: _Family, counts: Sequence[int], requests: int
    ) -> tuple[int, Mapping[str, Any]] | None:
        """Return the first number of disks that is valid, and its row; None without a valid run."""
        for count in counts:
            try:
                row = engine.simulate(self._write({**assigned, DISKS: count}, requests))
            except ConfigError:
                continue
            except DestageError:
                return None
            return (count, row) if row["status"] == "ok" else None
        return None

    def _describe_controller(self, family: _Family) -> str:
        """Return the controller of a family with all defaults."""
        for count in self.counts:
            try:
                config = engine.normalise(self._write({**family, DISKS: count}, _REQUESTS))
            except ConfigError:
                continue
            return json.dumps(config["controller"], sort_keys=True)
        return str(family[CONTROLLER])

    def _write(self, assigned: _Family, requests: int) -> dict[str, Any]:
        written: dict[str, Any] = copy.deepcopy(dict(self.scenario))
        for path, value in {**assigned, USERS: 1}.items():
            parameters.assign(written, path, value)
        window = written["run"].get("window")
        if isinstance(window, dict) and "requests" in window:
            window["requests"] = min(window["requests"], requests)
        return written
