"""Sizing: the studies behind `destage size`, which search the cheapest configurations for a load.

The first study searches the number of disks of each family, which is a controller, a disk and a RAID level;
the second compares its cheapest configurations with their battery and without.
"""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

from destage import engine
from destage.engine import catalog
from destage.errors import ConfigError, Issue
from destage.spec.axis_names import MINIMIZE
from destage.spec.documents import parse_document
from destage.spec.typed_tables import table_schema
from destage.spec.validation import suggest, validate_document
from destage.sweeps.keys.objectives import parse_objective
from destage.sweeps.keys.prices import CONTROLLER, DISK, Prices
from destage.sweeps.keys.seek_key import SmallestSeek
from destage.sweeps.reading.parsing import parse_study
from destage.sweeps.sizing.largest_arrays import Outclassed, find_outclassed
from destage.sweeps.sizing.stored_data import HELD, measure_data, scale_data
from destage.sweeps.sizing.unloaded_response import Unloaded, find_unreachable
from destage.sweeps.space import parameters
from destage.sweeps.space.parameters import find_parameter
from destage.sweeps.study.users import USERS, has_trace, has_users, list_streams
from destage.sweeps.study.valid_study import Study

RAID, DISKS, BATTERY = "array.raid", "array.disks", "controller.battery.state"
BUSIEST = "disk_busy_max <= 0.9"
"""The objective that holds unless another bound is given: beyond it, queues grow fast."""
RAID_LEVELS = ("10", "5", "6")
"""The RAID levels considered by default: those that survive the failure of a disk."""
FEWEST, MOST = 2, 24
"""The numbers of disks considered by default."""
FOUND = 2
"""The number of cheapest configurations that are found: the answer and the runner-up."""
_REPLICATES = {"min": 3, "max": 12}
_COMPARED = 5
_SETTINGS: Mapping[str, Any] = {
    "run": {"warm_up": "auto", "window": {"requests": 20_000}},
    # A run of 20,000 requests covers whole cycles of filling and destaging even of a large cache.
    "controller": {"cache": {"write": {"low_water": 0.795}}},
}


@dataclass(frozen=True, slots=True)
class SizingRequest:
    """What is to be sized.

    Attributes:
        workload: The workload, as in a scenario, with its load.
        name: The name of the workload in the names of studies.
        objectives: The objectives, such as `response_p95 <= 30ms`.
        prices: The price table, valid by `check_prices`.
        controllers: The controllers considered; empty for all that have a price.
        disks: The disks considered; empty for all that have a price.
        raid: The RAID levels considered.
        fewest: The fewest disks considered.
        most: The most disks considered.
        max_price: The most that a configuration may cost [currency]; None for no limit.
        settings: Other fields of the scenario.
        capacity: The data that the array must hold, over which those of the load are spread [bytes]; None for
            those of the workload.
        spares: The hot spares, which have a price and hold no data.
        unit: What the number of users counts.
        remarks: Sentences on what the load assumes.
    """

    workload: Mapping[str, Any]
    name: str
    objectives: Sequence[str]
    prices: Mapping[str, Any]
    controllers: Sequence[str] = ()
    disks: Sequence[str] = ()
    raid: Sequence[str] = RAID_LEVELS
    fewest: int = FEWEST
    most: int = MOST
    max_price: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    capacity: int | None = None
    spares: int = 0
    unit: str = "users"
    remarks: Sequence[str] = ()

    @property
    def least_load(self) -> str:
        """The load of one user in words."""
        return "one user alone" if self.unit == "users" else f"1 {self.unit}"


@dataclass(frozen=True, slots=True)
class Largest:
    """The configuration that holds the most data of all considered.

    Attributes:
        capacity: Its usable capacity [bytes].
        family: Controller, disk and RAID level, by dotted path.
    """

    capacity: int
    family: Mapping[str, str]
    disks: int


@dataclass(frozen=True, slots=True)
class Impossible:
    """A family that cannot be built with any of the numbers of disks considered, and why."""

    family: Mapping[str, str]
    issue: Issue


def list_objectives(response_p95: str, subject_to: Sequence[str]) -> list[str]:
    """Return the objectives of a request: those given, and `BUSIEST` unless one bounds the same column.

    Raises:
        ConfigError: One is invalid; its place is that in `seek`.
    """
    given = [f"response_p95 <= {response_p95}", *subject_to]
    objectives = [parse_objective(text, f"seek.subject_to.{index}") for index, text in enumerate(given)]
    if objectives[0].bound <= 0:
        issue = Issue("study.out-of-range", "seek.subject_to.0", "must be more than 0", response_p95)
        raise ConfigError([issue])
    busiest = parse_objective(BUSIEST, "seek.subject_to")
    return given if any(objective.column == busiest.column for objective in objectives) else [*given, BUSIEST]


def read_prices_file(text: str | bytes, name: str) -> dict[str, Any]:
    """Return a price table from YAML; raises as `check_prices` does."""
    return check_prices(parse_document(text, name, "study"), name)


def check_prices(document: object, name: str) -> dict[str, Any]:
    """Return a document that is a price table.

    Raises:
        ConfigError: It is not, with every mistake.
    """
    issues = validate_document(document, table_schema(Prices), "study")
    if isinstance(document, dict) and not issues:
        issues = [
            replace(issue, place=f"{kind}.{part}")
            for kind in ("controllers", "disks")
            for part in document[kind]
            for issue in catalog.check_name(kind, part)
        ]
    if issues or not isinstance(document, dict):
        raise ConfigError(issues, name)
    return document


def example_prices() -> str:
    """Return the dated example of a price table, as YAML."""
    return (resources.files("destage.sweeps.sizing") / "example_prices.yaml").read_text(encoding="utf-8")


def make_search(
    request: SizingRequest, outclassed: Sequence[Outclassed] = ()
) -> tuple[Study, list[Impossible]]:
    """Return the study that searches the cheapest configurations, and the families that cannot be built.

    Args:
        outclassed: Families that it leaves out; not all.

    Raises:
        ConfigError: A part has no price or is not in the catalogue, no family is possible, or the load does
            not depend on the number of users.
    """
    _check(request)
    families, impossible = _list_families(request)
    if not families:
        raise ConfigError([replace(impossible[0].issue, code="study.nothing-possible")])
    if request.workload["users"] > 1 and not depends_on_users(request.workload):
        message = "no stream of the workload is per user: leave out the number of users"
        raise ConfigError([Issue("study.no-effect", "workload.users", message, request.workload["users"])])
    left_out = [missed.family for missed in outclassed]
    objectives = " and ".join(request.objectives)
    seek: dict[str, Any] = {
        MINIMIZE: DISKS,
        "subject_to": list(request.objectives),
        "min": request.fewest,
        "max": request.most,
        "cheapest": FOUND,
    }
    if request.max_price is not None:
        seek["max_price"] = request.max_price
    document = {
        "name": f"size-{request.name}",
        "question": f"Which configurations have {objectives} at the lowest price?",
        "scenario": make_scenario(request),
        "points": [family for family in families if family not in left_out],
        "seek": seek,
        "prices": dict(request.prices),
        "replicates": _REPLICATES,
    }
    return _parse(document), impossible


def list_unpriced(request: SizingRequest) -> dict[str, list[str]]:
    """Return the parts of the catalogue that are not considered, as they have no price, by kind.

    A kind whose parts the request names has none.
    """
    named: Mapping[catalog.Kind, Sequence[str]] = {
        "controllers": request.controllers,
        "disks": request.disks,
    }
    return {
        kind: [part.name for part in catalog.entries(kind) if part.name not in request.prices[kind]]
        for kind, parts in named.items()
        if not parts
    }


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


def find_too_small(request: SizingRequest) -> Largest | None:
    """Return the largest configuration that is considered if it does not hold the data asked for."""
    _check(request)
    if request.capacity is None:
        return None
    largest = max(_list_largest(request), key=lambda largest: largest.capacity, default=None)
    return largest if largest is not None and largest.capacity < request.capacity * HELD else None


def measure_usable(request: SizingRequest, found: Mapping[str, Any]) -> int:
    """Return the size of the data that a configuration can hold [bytes].

    Args:
        found: Disk, RAID level and number of disks, by dotted path.
    """
    scenario = make_scenario(request)
    for path, value in found.items():
        parameters.assign(scenario, path, value)
    return engine.usable_capacity(scenario["array"])


def is_battery_absent(request: SizingRequest) -> bool:
    """Return whether a request is for arrays without a battery, which cannot fail."""
    return parameters.read(make_scenario(request), BATTERY) == "absent"


def measure_own_data(request: SizingRequest) -> int | None:
    """Return the size of the workload's own data [bytes]; None for the whole array or a trace."""
    return measure_data(make_scenario(replace(request, capacity=None))["workload"])


def make_comparison(request: SizingRequest, found: Sequence[Mapping[str, Any]]) -> Study:
    """Return the study that compares configurations with their battery and without, where they have one.

    Args:
        found: Controller, disk, RAID level and number of disks of each, by dotted path.
    """
    points = []
    for values in found:
        states = ("present", "absent") if _has_protected_cache(request, values) else ()
        points += [{**values, BATTERY: state} for state in states] or [dict(values)]
    document = {
        "name": f"size-{request.name}-battery",
        "question": "What does a dead battery cost, and what does a power cut lose?",
        "scenario": make_scenario(request),
        "points": points,
        "replicates": _COMPARED,
    }
    return _parse(document)


def make_curve(request: SizingRequest, found: Mapping[str, Any], loads: Sequence[int]) -> Study:
    """Return the study of the response of one configuration against the number of users."""
    scenario = make_scenario(request)
    for path, value in found.items():
        parameters.assign(scenario, path, value)
    document = {
        "name": f"size-{request.name}-curve",
        "question": "How does the response time grow with the number of users?",
        "scenario": scenario,
        "axes": {USERS: list(loads)},
        "replicates": _COMPARED,
    }
    return _parse(document)


def depends_on_users(workload: Mapping[str, Any]) -> bool:
    """Return whether the number of users changes a load."""
    return has_users(list_streams(workload))


def list_phases(workload: Mapping[str, Any]) -> list[str]:
    """Return the names of the phases of a workload, of which a sizing measures the first by default."""
    phases = workload.get("phases") or _read_preset(workload).get("phases") or ()
    return [str(phase["name"]) for phase in phases]


def _read_preset(workload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the workload of the catalogue that a workload uses; an empty one if it uses none."""
    name = workload.get("use")
    return {"streams": ()} if name is None else catalog.entry("workloads", str(name)).config


def _parse(document: Mapping[str, Any]) -> Study:
    try:
        return parse_study(json.dumps(dict(document)), name="size")
    except ConfigError as error:
        # The user has not written this text, so that its lines say nothing.
        raise ConfigError([replace(issue, line=None, column=None) for issue in error.issues]) from None


def _check(request: SizingRequest) -> None:
    """Raise an error if a family, a number of disks or a setting of a request cannot be."""
    issues = []
    levels = find_parameter(RAID).words
    for level in request.raid:
        if level not in levels:
            message = f"unknown RAID level; allowed: {', '.join(sorted(levels, key=int))}"
            issues.append(Issue("study.unknown-name", "raid", message, level))
    if not 1 <= request.fewest <= request.most:
        message = f"must be from 1 to the most disks considered, {request.most}"
        issues.append(Issue("study.bounds-reversed", "seek.min", message, request.fewest))
    issues += [
        Issue("study.unknown-key", f"scenario.{path}", unknown)
        for path in request.settings
        if (unknown := parameters.explain_unknown(path)) is not None
    ]
    if issues:
        raise ConfigError(issues)


def _has_protected_cache(request: SizingRequest, values: Mapping[str, Any]) -> bool:
    """Return whether a configuration has a write cache that a charged battery protects."""
    scenario = make_scenario(request)
    for path, value in values.items():
        parameters.assign(scenario, path, value)
    controller = engine.normalise(scenario)["controller"]
    cache = controller["cache"]
    return bool(controller["battery"]["state"] == "present" and cache["capacity"] and cache["write_fraction"])


def make_scenario(request: SizingRequest) -> dict[str, Any]:
    """Return the scenario of a request, whose parts and number of disks are those of its points."""
    scenario = {
        "workload": copy.deepcopy(dict(request.workload)),
        "array": {"disks": request.most} | ({"hot_spares": request.spares} if request.spares else {}),
        **copy.deepcopy(dict(_SETTINGS)),
    }
    if phases := list_phases(request.workload):
        scenario["run"] = {"warm_up": "auto", "window": {"phase": phases[0]}}
    data = {} if request.capacity is None else scale_data(request.workload, request.capacity)
    for path, value in {**data, **request.settings}.items():
        parameters.assign(scenario, path, value)
    return scenario


def _list_families(request: SizingRequest) -> tuple[list[dict[str, str]], list[Impossible]]:
    """Return the families that are possible, and those that are not."""
    controllers = _choose("controllers", request.controllers, request.prices)
    disks = _choose("disks", request.disks, request.prices)
    families: list[dict[str, str]] = []
    impossible = []
    counts = SmallestSeek(minimize=DISKS, objectives=(), least=request.fewest, most=request.most)
    for controller in controllers:
        for disk in disks:
            for raid in request.raid:
                family = {CONTROLLER: controller, DISK: disk, RAID: raid}
                issue = _find_mistake(request, family, [counts.written, *counts.alternatives])
                if issue is None:
                    families.append(family)
                else:
                    impossible.append(Impossible(family, issue))
    return families, impossible


def _list_largest(request: SizingRequest) -> Iterator[Largest]:
    """Yield each array that is considered with the most disks that are valid."""
    controller = _choose("controllers", request.controllers, request.prices)[0]
    for disk in _choose("disks", request.disks, request.prices):
        for raid in request.raid:
            for disks in range(request.most, request.fewest - 1, -1):
                family = {CONTROLLER: controller, DISK: disk, RAID: raid}
                try:
                    yield Largest(measure_usable(request, {**family, DISKS: disks}), family, disks)
                except ConfigError:
                    # A RAID level may need an even number of disks.
                    continue
                break


def _choose(kind: catalog.Kind, wanted: Sequence[str], prices: Mapping[str, Any]) -> Sequence[str]:
    """Return the parts of a kind that are considered.

    Raises:
        ConfigError: A part is not in the catalogue, or has no price.
    """
    issues: list[Issue] = []
    for name in wanted:
        if unknown := catalog.check_name(kind, name):
            issues += [replace(issue, place=kind) for issue in unknown]
        elif name not in prices[kind]:
            message = f"no price for {name}{suggest(name, list(prices[kind]))}; add it to the price table"
            issues.append(Issue("study.no-price", kind, message, name))
    if issues:
        raise ConfigError(issues)
    return wanted or list(prices[kind])


def _find_mistake(request: SizingRequest, family: Mapping[str, str], counts: Sequence[int]) -> Issue | None:
    """Return why a family is invalid with every number of disks; None if it is valid with one."""
    first: Issue | None = None
    for count in counts:
        scenario = make_scenario(request)
        for path, value in {**family, DISKS: count}.items():
            parameters.assign(scenario, path, value)
        try:
            engine.assemble(scenario)
        except ConfigError as error:
            first = first or error.issues[0]
        else:
            return None
    return first
