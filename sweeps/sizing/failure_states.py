"""The states of failure in which an array may have objectives of its own: a rebuild, and a dead battery.

During the rebuild, the first disk has failed, and a new one, or a hot spare, is filled from the others. The
window is at its beginning, when nearly all of the failed disk is missing. With a dead battery, a write cache
that needs one writes through.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from destage import engine
from destage.spec.objective import DEAD_BATTERY, DURING_REBUILD, NORMAL
from destage.sweeps.keys.objectives import parse_objective
from destage.sweeps.sizing.request import BATTERY, SizingRequest, make_scenario
from destage.sweeps.sizing.sizing_studies import write_capacities, write_search
from destage.sweeps.space import parameters
from destage.sweeps.study.valid_study import Study

UNPROTECTED = "0"
"""The RAID level without redundancy."""
_LONGEST_S = 60.0
"""Simulated time of a window in normal operation up to which that of a rebuild has as many requests.

A rebuild takes hours, and its I/Os far more computing time than those of a light load.
"""
_FEWEST = 1_000


@dataclass(frozen=True, slots=True)
class RebuildWindow:
    """When the disk fails, and how much of the rebuild is measured.

    Attributes:
        start_ns: The time of the failure: the start of the measured phase, if the load has phases.
        requests: The number of requests of the window; None for the window of the request.
    """

    start_ns: int = 0
    requests: int | None = None


_WHOLE = RebuildWindow()


def list_failures(objectives: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the objectives of each state that has some.

    Raises:
        ConfigError: One is invalid; its place is the name of the state.
    """
    for state, texts in objectives.items():
        for text in texts:
            parse_objective(text, state)
    return {state: list(texts) for state, texts in objectives.items() if texts}


def choose_window(scenario: Mapping[str, Any], *, is_stated: bool) -> RebuildWindow:
    """Return the window of a rebuild: of at most a minute, if the user leaves it open.

    Args:
        scenario: An array in normal operation.
        is_stated: Whether the user states its window.
    """
    window = scenario["run"]["window"]
    if isinstance(window, Mapping) and "phase" in window:
        phases = engine.normalise(scenario)["workload"]["phases"]
        names = [phase["name"] for phase in phases]
        before = phases[: names.index(window["phase"])]
        return RebuildWindow(start_ns=sum(phase["lasts"] for phase in before))
    if is_stated:
        return RebuildWindow()
    row = engine.simulate(scenario)
    requests, lasted_s = int(row["requests"]), float(row["window_s"] or 0.0)
    if lasted_s <= _LONGEST_S:
        return RebuildWindow()
    return RebuildWindow(requests=max(_FEWEST, round(requests * _LONGEST_S / lasted_s)))


def choose_window_of(request: SizingRequest, parts: Mapping[str, Any]) -> RebuildWindow:
    """Return the window of a rebuild for a request, as `choose_window`; the whole one if it has none.

    Args:
        parts: An array in normal operation: its parts and number of disks, by dotted path.
    """
    if DURING_REBUILD not in request.failures:
        return _WHOLE
    is_stated = any(path.partition(".")[0] == "run" for path in request.settings)
    return choose_window(make_scenario(request, parts), is_stated=is_stated)


def make_state_search(
    request: SizingRequest,
    state: str,
    families: Sequence[Mapping[str, Any]],
    *,
    window: RebuildWindow,
    least: int,
    found: int,
) -> Study:
    """Return the search for the cheapest arrays that meet the objectives of a state.

    Args:
        families: Controller, disk and RAID level of each, by dotted path.
        window: The window of a rebuild.
        least: The fewest disks.
        found: The number of cheapest arrays that are found.
    """
    objectives = request.objectives if state == NORMAL else request.failures[state]
    scenario = make_failed_scenario(make_scenario(request), state, window)
    name = f"{request.name}-{state.replace('_', '-')}"
    if len(families) == 1:
        # A study with other points of the same name continues its sweep.
        name = "-".join([name, *map(str, families[0].values())])
    return write_search(
        request, name, families, scenario=scenario, objectives=objectives, least=least, found=found
    )


def make_capacities(
    request: SizingRequest, found: Sequence[Mapping[str, Any]], state: str, window: RebuildWindow
) -> Study:
    """Return the search for the most users that each of some configurations carries in a state.

    Args:
        found: Controller, disk, RAID level and number of disks of each, by dotted path.
        window: The window of a rebuild.
    """
    return write_capacities(
        f"size-{request.name}-most{'' if state == NORMAL else '-' + state.replace('_', '-')}",
        make_failed_scenario(make_scenario(request), state, window),
        request.objectives if state == NORMAL else request.failures[state],
        found,
        prices=request.prices,
    )


def make_failed_scenario(
    normal: Mapping[str, Any], state: str, window: RebuildWindow = _WHOLE
) -> dict[str, Any]:
    """Return a scenario in a state."""
    scenario = copy.deepcopy(dict(normal))
    if state == DEAD_BATTERY:
        parameters.assign(scenario, BATTERY, "absent")
    elif state == DURING_REBUILD:
        start = window.start_ns
        scenario["faults"] = [
            *scenario.get("faults", ()),
            {"kind": "disk_fails", "at": start, "disk": 0},
            {"kind": "rebuild_starts", "at": start},
        ]
        if window.requests is not None:
            scenario["run"]["window"] = {"requests": window.requests}
    return scenario


def is_always_in(scenario: Mapping[str, Any], state: str) -> bool:
    """Return whether an array is always in a state, as it has no write cache that a battery protects."""
    failed = make_failed_scenario(scenario, state)
    return state == DEAD_BATTERY and engine.normalise(scenario) == engine.normalise(failed)
