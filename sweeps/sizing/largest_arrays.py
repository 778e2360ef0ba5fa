"""Families of configurations whose largest array is far from carrying a load.

More disks carry more, so that fewer disks of such a family need no search. One run of each tells. A response
must be far beyond its bound, as wide stripes may be slower than narrow ones.
"""

import copy
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from destage import engine
from destage.errors import ConfigError, DestageError
from destage.spec.objective import Objective
from destage.sweeps.seek.smallest_search import FAR
from destage.sweeps.space import parameters
from destage.sweeps.workers.executors import count_processors

DISKS = "array.disks"

_Family = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Outclassed:
    """A family whose largest array does not carry the load.

    Attributes:
        family: What it assigns, by dotted path.
        disks: The largest number of disks.
        scenario: The configuration that was run.
        row: Its results.
        objective: The objective that is missed by the most; None if the array is overloaded.
        value: What the objective bounds [the column's unit]; None if the array is overloaded.
    """

    family: _Family
    disks: int
    scenario: Mapping[str, Any]
    row: Mapping[str, Any]
    objective: Objective | None = None
    value: float | None = None


def find_outclassed(
    scenario: Mapping[str, Any],
    families: Sequence[_Family],
    counts: Sequence[int],
    objectives: Sequence[Objective],
    enough: int,
) -> list[Outclassed]:
    """Return the families that cannot carry a load, in order, until others are found.

    Args:
        scenario: The scenario of the search.
        families: What each family assigns, by dotted path: those that would be searched first are first.
        counts: The numbers of disks considered.
        enough: The number of families that may carry the load after which the rest is not examined.
    """
    upper = [objective for objective in objectives if objective.is_upper and objective.bound > 0]
    outclassed: list[Outclassed] = []
    with ThreadPoolExecutor(count_processors()) as threads:
        runs = threads.map(lambda family: _examine(scenario, family, counts, upper), families)
        for index, missed in enumerate(runs, start=1):
            if missed is not None:
                outclassed.append(missed)
            if index - len(outclassed) == enough:
                threads.shutdown(cancel_futures=True)
                break
    return outclassed


def _examine(
    scenario: Mapping[str, Any], family: _Family, counts: Sequence[int], upper: Sequence[Objective]
) -> Outclassed | None:
    for count in sorted(counts, reverse=True):
        written: dict[str, Any] = copy.deepcopy(dict(scenario))
        for path, value in {**family, DISKS: count}.items():
            parameters.assign(written, path, value)
        try:
            row = engine.simulate(written)
        except ConfigError:
            continue
        except DestageError:
            return None
        if row["status"] == "overloaded":
            return Outclassed(family, count, written, row)
        missed = [
            (value / objective.bound, objective, value)
            for objective in upper
            if (value := row[objective.column]) is not None and value > FAR * objective.bound
        ]
        if row["status"] != "ok" or not missed:
            return None
        _, objective, value = max(missed, key=lambda miss: miss[0])
        return Outclassed(family, count, written, row, objective, value)
    return None
