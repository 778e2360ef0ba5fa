"""What a load's response would be without queues: of one user on each family of configurations.

An objective that not even this meets is out of reach of every number of users and of disks, so that a search
would only find out slowly.
"""

import copy
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from destage import engine
from destage.errors import ConfigError, DestageError
from destage.spec.objective import Objective
from destage.sweeps import parameters
from destage.sweeps.executors import count_processors
from destage.sweeps.users import USERS

DISKS = "array.disks"

_REQUESTS = 2_000
_MARGIN = 1.1
"""How far beyond a bound a response with the most disks must be, as it has the noise of a short run."""
_FEW_MARGIN = 3.0
"""The same with the fewest disks, whose seeks are longer than those of more, but not their rotations."""


@dataclass(frozen=True, slots=True)
class Unloaded:
    """The best response of one user, which misses an objective.

    Attributes:
        value: The response [us].
        family: The family that has it, by dotted path.
        disks: Its number of disks.
    """

    objective: Objective
    value: float
    family: Mapping[str, object]
    disks: int

    @property
    def excess(self) -> float:
        """The response divided by its bound."""
        return self.value / self.objective.bound if self.objective.bound > 0 else math.inf


def find_unreachable(
    scenario: Mapping[str, Any],
    families: Sequence[Mapping[str, object]],
    counts: Sequence[int],
    objectives: Sequence[Objective],
) -> Unloaded | None:
    """Return a response objective that one user misses in every family; None if one family may meet all.

    Args:
        scenario: The scenario of the search.
        families: What each family assigns, by dotted path.
        counts: The numbers of disks considered, ascending.
    """
    bounds = [one for one in objectives if one.is_upper and one.column.startswith("response_")]
    if not bounds:
        return None
    best: Unloaded | None = None
    with ThreadPoolExecutor(count_processors()) as threads:
        for missed in threads.map(lambda family: _examine(scenario, family, counts, bounds), families):
            if missed is None or missed.excess <= _MARGIN:
                threads.shutdown(cancel_futures=True)
                return None
            if best is None or missed.excess < best.excess:
                best = missed
    return best


def _examine(
    scenario: Mapping[str, Any],
    family: Mapping[str, object],
    counts: Sequence[int],
    bounds: Sequence[Objective],
) -> Unloaded | None:
    """Return the objective that a family misses by the most, with the fewest disks where that is clear."""
    missed = _find_missed(scenario, family, counts, bounds)
    if missed is not None and missed.excess <= _FEW_MARGIN:
        return _find_missed(scenario, family, counts[::-1], bounds)
    return missed


def _find_missed(
    scenario: Mapping[str, Any],
    family: Mapping[str, object],
    counts: Sequence[int],
    bounds: Sequence[Objective],
) -> Unloaded | None:
    """Return the objective that a family misses by the most with the first number of disks that is valid."""
    for count in counts:
        try:
            row = engine.simulate(_write(scenario, {**family, DISKS: count}))
        except ConfigError:
            continue
        except DestageError:
            return None
        if row["status"] != "ok":
            return None
        values = [(one, row[one.column]) for one in bounds]
        missed = [
            Unloaded(one, value, family, count)
            for one, value in values
            if value is not None and not one.is_met(value)
        ]
        return max(missed, key=lambda found: found.excess, default=None)
    return None


def _write(scenario: Mapping[str, Any], assigned: Mapping[str, object]) -> dict[str, Any]:
    written: dict[str, Any] = copy.deepcopy(dict(scenario))
    for path, value in {**assigned, USERS: 1}.items():
        parameters.assign(written, path, value)
    window = written["run"].get("window")
    if isinstance(window, dict) and "requests" in window:
        window["requests"] = min(window["requests"], _REQUESTS)
    return written
