"""The studies behind `destage size`, which search the cheapest configurations for a load.

The first study searches the number of disks of each family; the second compares its cheapest configurations
with their battery and without, and with other numbers of destages in flight.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from destage import engine
from destage.engine.configuration import has_write_cache
from destage.errors import ConfigError, Issue
from destage.spec.axis_names import MAXIMIZE, MINIMIZE
from destage.sweeps.calibration.measured_study import (
    DESTAGE_DEPTH,
    find_most_destages,
)
from destage.sweeps.reading.parsing import parse_study
from destage.sweeps.sizing.families import Impossible, Outclassed, find_outclassed, list_families
from destage.sweeps.sizing.request import BATTERY, DISKS, SizingRequest, depends_on_users, make_scenario
from destage.sweeps.sizing.unloaded_response import Unloaded, find_unreachable
from destage.sweeps.space.parameters import find_parameter
from destage.sweeps.study.users import USERS, has_trace, has_users, list_streams
from destage.sweeps.study.valid_study import Study

FOUND = 2
"""The number of cheapest configurations that are found: the answer and the runner-up."""
_REPLICATES = {"min": 3, "max": 12}
_COMPARED = 5
FURTHEST = 10
"""Up to how many times a load the most that an array carries is sought."""


def make_search(
    request: SizingRequest, outclassed: Sequence[Outclassed] = (), *, found: int = FOUND
) -> tuple[Study, list[Impossible]]:
    """Return the study that searches the cheapest configurations, and the families that cannot be built.

    Args:
        outclassed: Families that it leaves out; not all.
        found: The number of cheapest configurations that are found.

    Raises:
        ConfigError: A part has no price or is not in the catalogue, no family is possible, or the load does
            not depend on the number of users.
    """
    families, impossible = list_families(request)
    if request.workload["users"] > 1 and not depends_on_users(request.workload):
        message = "no stream of the workload is per user: leave out the number of users"
        raise ConfigError([Issue("study.no-effect", "workload.users", message, request.workload["users"])])
    left_out = [missed.family for missed in outclassed]
    searched = [family for family in families if family not in left_out]
    return write_search(request, request.name, searched, found=found), impossible


def write_search(
    request: SizingRequest,
    name: str,
    families: Sequence[Mapping[str, Any]],
    *,
    scenario: Mapping[str, Any] | None = None,
    objectives: Sequence[str] | None = None,
    least: int | None = None,
    found: int = FOUND,
) -> Study:
    """Return the study that searches the cheapest configurations of some families.

    Args:
        name: The name of the load in that of the study.
        scenario: The scenario of its runs (default: that of the request).
        objectives: The objectives (default: those of the request).
        least: The fewest disks (default: those of the request).
        found: The number of cheapest configurations that are found.
    """
    objectives = request.objectives if objectives is None else objectives
    seek: dict[str, Any] = {
        MINIMIZE: DISKS,
        "subject_to": list(objectives),
        "min": request.fewest if least is None else least,
        "max": request.most,
        "cheapest": found,
    }
    if request.max_price is not None:
        seek["max_price"] = request.max_price
    document = {
        "name": f"size-{name}",
        "question": f"Which configurations have {' and '.join(objectives)} at the lowest price?",
        "scenario": make_scenario(request) if scenario is None else scenario,
        "points": list(families),
        "seek": seek,
        "prices": dict(request.prices),
        "replicates": _REPLICATES,
    }
    return parse_written(document)


def find_unreachable_objective(search: Study) -> Unloaded | None:
    """Return a response objective of a search that one user misses in every family, if there is one.

    The recorded requests of a trace have queues of their own.
    """
    streams = list_streams(search.scenario["workload"])
    if not has_users(streams) or has_trace(streams):
        return None
    families = [family for _, family in search.points]
    seek = search.found_seek
    counts = sorted([seek.written, *seek.alternatives])
    return find_unreachable(search.scenario, families, counts, seek.objectives)


def list_outclassed(search: Study) -> list[Outclassed]:
    """Return the families of a search whose largest array is far from carrying the load, the cheapest first.

    Of one or two families, and of a trace, the search itself finds out.
    """
    families, seek, prices = [family for _, family in search.points], search.found_seek, search.prices
    if prices is None or len(families) <= FOUND or has_trace(list_streams(search.scenario["workload"])):
        return []
    families.sort(key=lambda family: prices.price(family, seek.least))
    counts = [seek.written, *seek.alternatives]
    return find_outclassed(search.scenario, families, counts, seek.objectives, FOUND)


def make_comparison(request: SizingRequest, found: Sequence[Mapping[str, Any]]) -> Study:
    """Return the study that compares configurations with their battery and without, where they have one.

    One with a write cache is compared with the fewest and the most destages in flight, unless the request
    states their number.

    Args:
        found: Controller, disk, RAID level and number of disks of each, by dotted path.
    """
    points: list[dict[str, Any]] = []
    for values in found:
        config = engine.normalise(make_scenario(request, values))
        states = ("present", "absent") if _has_protected_cache(config) else ()
        points += [{**values, BATTERY: state} for state in states] or [dict(values)]
        is_cached = has_write_cache(config) and config["controller"]["battery"]["state"] != "absent"
        if is_cached and DESTAGE_DEPTH not in request.settings:
            depths = {1, find_most_destages(config["arrays"][0]["disk"])}
            depths -= {config["controller"]["cache"]["write"]["destage_depth"]}
            points += [{**points[-max(len(states), 1)], DESTAGE_DEPTH: depth} for depth in sorted(depths)]
    document = {
        "name": f"size-{request.name}-battery",
        "question": "What does a dead battery cost, what does a power cut lose, and do destages matter?",
        "scenario": make_scenario(request),
        "points": points,
        "replicates": _COMPARED,
    }
    return parse_written(document)


def make_curve(request: SizingRequest, found: Mapping[str, Any], loads: Sequence[int]) -> Study:
    """Return the study of the response of one configuration against the number of users."""
    document = {
        "name": f"size-{request.name}-curve",
        "question": "How does the response time grow with the number of users?",
        "scenario": make_scenario(request, found),
        "axes": {USERS: list(loads)},
        "replicates": _COMPARED,
    }
    return parse_written(document)


def write_capacities(
    name: str,
    scenario: Mapping[str, Any],
    objectives: Sequence[str],
    points: Sequence[Mapping[str, Any]],
    *,
    most: int | None = None,
    prices: Mapping[str, Any] | None = None,
) -> Study:
    """Return the search for the most users that each of some arrays carries.

    Args:
        name: The name of the study.
        scenario: The configuration, with the users at which the search starts.
        points: The arrays, by what they assign.
        most: The most users that are possible (default: as many as a workload can have).
        prices: The price table.
    """
    users = int(scenario["workload"]["users"])
    ends = [FURTHEST * users, find_parameter(USERS).most, most]
    document = {
        "name": name,
        "question": "How much of the load does each configuration carry?",
        "scenario": scenario,
        "points": list(points),
        "seek": {
            MAXIMIZE: USERS,
            "subject_to": list(objectives),
            "start": users,
            "max": min(int(end) for end in ends if end is not None),
        },
        **({} if prices is None else {"prices": dict(prices)}),
        "replicates": _COMPARED,
    }
    return parse_written(document)


def _has_protected_cache(config: Mapping[str, Any]) -> bool:
    """Return whether a configuration has a write cache that a charged battery protects."""
    controller = config["controller"]
    cache = controller["cache"]
    return bool(controller["battery"]["state"] == "present" and cache["capacity"] and cache["write_fraction"])


def parse_written(document: Mapping[str, Any]) -> Study:
    """Return the study of a document that a sizing has written."""
    try:
        return parse_study(json.dumps(dict(document)), name="size")
    except ConfigError as error:
        # The user has not written this text, so that its lines say nothing.
        raise ConfigError([replace(issue, line=None, column=None) for issue in error.issues]) from None
