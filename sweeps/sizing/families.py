"""The families that a sizing considers: each is a controller, a disk and a RAID level.

More disks carry more, so that fewer disks of a family whose largest array is far from carrying a load need
no search. One run of each tells. A response must be far beyond its bound, as wide stripes may be slower than
narrow ones.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from destage import engine
from destage.engine import catalog
from destage.errors import ConfigError, DestageError, Issue
from destage.spec.near_names import suggest
from destage.spec.objective import Objective
from destage.sweeps.keys.prices import CONTROLLER, DISK
from destage.sweeps.keys.seek_key import SmallestSeek
from destage.sweeps.seek.smallest_search import FAR
from destage.sweeps.sizing.request import DISKS, RAID, SizingRequest, make_scenario, measure_usable
from destage.sweeps.sizing.stored_data import HELD
from destage.sweeps.space import parameters
from destage.sweeps.space.parameters import find_parameter
from destage.sweeps.workers.executors import count_processors

_BEYOND = "scenario.beyond-array"
"""The mistake of a workload that an array can make right: it is larger than this one."""


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


def list_families(request: SizingRequest) -> tuple[list[dict[str, str]], list[Impossible]]:
    """Return the families that are possible, and those that are not.

    Raises:
        ConfigError: A part, a RAID level, a number of disks or a setting of the request cannot be, or no
            family is possible.
    """
    _check(request)
    controllers = request.controllers or list(request.prices["controllers"])
    disks = request.disks or list(request.prices["disks"])
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
    if not families:
        mistakes = _find_mistakes_of_request(request, impossible[0].family)
        raise ConfigError(mistakes or [replace(impossible[0].issue, code="study.nothing-possible")])
    return families, impossible


def find_too_small(request: SizingRequest) -> Largest | None:
    """Return the largest configuration that is considered if it does not hold the data asked for."""
    _check(request)
    if request.capacity is None:
        return None
    largest = max(_list_largest(request), key=lambda largest: largest.capacity, default=None)
    return largest if largest is not None and largest.capacity < request.capacity * HELD else None


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


def check_levels(levels: Sequence[str]) -> None:
    """Raise an error if there is no such RAID level."""
    if issues := _find_unknown_levels(levels):
        raise ConfigError(issues)


def _find_unknown_levels(given: Sequence[str]) -> list[Issue]:
    levels = find_parameter(RAID).words
    message = f"unknown RAID level; allowed: {', '.join(sorted(levels, key=int))}"
    return [Issue("study.unknown-name", "raid", message, level) for level in given if level not in levels]


def _check(request: SizingRequest) -> None:
    """Raise an error if a family, a number of disks or a setting of a request cannot be."""
    issues = _find_unknown_levels(request.raid)
    if not 1 <= request.fewest <= request.most:
        message = f"must be from 1 to the most disks considered, {request.most}"
        issues.append(Issue("study.bounds-reversed", "seek.min", message, request.fewest))
    issues += [
        Issue("study.unknown-key", f"scenario.{path}", unknown)
        for path in request.settings
        if (unknown := parameters.explain_unknown(path)) is not None
    ]
    issues += _find_unpriced("controllers", request.controllers, request.prices)
    issues += _find_unpriced("disks", request.disks, request.prices)
    if issues:
        raise ConfigError(issues)


def _list_largest(request: SizingRequest) -> Iterator[Largest]:
    """Yield each array that is considered with the most disks that are valid."""
    controller = [*request.controllers, *request.prices["controllers"]][0]
    for disk in request.disks or request.prices["disks"]:
        for raid in request.raid:
            for disks in range(request.most, request.fewest - 1, -1):
                family = {CONTROLLER: controller, DISK: disk, RAID: raid}
                try:
                    yield Largest(measure_usable(request, {**family, DISKS: disks}), family, disks)
                except ConfigError:
                    # A RAID level may need an even number of disks.
                    continue
                break


def _find_unpriced(kind: catalog.Kind, wanted: Sequence[str], prices: Mapping[str, Any]) -> list[Issue]:
    """Return the mistakes of the parts that are considered: not in the catalogue, or without a price."""
    issues: list[Issue] = []
    for name in wanted:
        if unknown := catalog.check_name(kind, name):
            issues += [replace(issue, place=kind) for issue in unknown]
        elif name not in prices[kind]:
            message = f"no price for {name}{suggest(name, list(prices[kind]))}; add it to the price table"
            issues.append(Issue("study.no-price", kind, f"{message}, which --prices gives", name))
    return issues


def _find_mistake(request: SizingRequest, family: Mapping[str, str], counts: Sequence[int]) -> Issue | None:
    """Return why a family is invalid with every number of disks; None if it is valid with one."""
    controller, disk = family[CONTROLLER], family[DISK]
    if not catalog.may_connect(controller, disk):
        message = f"takes no NVMe drives, such as {disk}"
        return Issue("study.nothing-possible", "controllers", message, controller)
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


def _find_mistakes_of_request(request: SizingRequest, family: Mapping[str, str]) -> list[Issue]:
    """Return the mistakes of the workload and of the settings, each at its place, if no array is possible."""
    scenario = make_scenario(request)
    for path, value in {**family, DISKS: request.most}.items():
        parameters.assign(scenario, path, value)
    fields = ("workload", *request.settings)
    return [
        issue
        for issue in engine.validate(scenario)
        if issue.code != _BEYOND and any(f"{issue.place}.".startswith(f"{field}.") for field in fields)
    ]


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
    arrays: list[_FullArray | None] = []
    runs: dict[str, Future[dict[str, Any] | None]] = {}
    outclassed: list[Outclassed] = []
    with ThreadPoolExecutor(count_processors()) as threads:
        for family in families:
            arrays.append(array := _make_full_array(scenario, family, counts))
            # Products of the same hardware share a run.
            if array and array.canonical not in runs:
                runs[array.canonical] = threads.submit(_simulate, array.canonical)
        for index, (family, array) in enumerate(zip(families, arrays, strict=True), start=1):
            row = runs[array.canonical].result() if array else None
            if array and row:
                outclassed += _judge(family, array, row, upper)
            if index - len(outclassed) == enough:
                threads.shutdown(cancel_futures=True)
                break
    return outclassed


class _FullArray(NamedTuple):
    """An array with the most disks of its family, as written and in canonical form."""

    disks: int
    scenario: dict[str, Any]
    canonical: str


def _make_full_array(
    scenario: Mapping[str, Any], family: _Family, counts: Sequence[int]
) -> _FullArray | None:
    """Return the array with the most disks that is valid; None without one."""
    for count in sorted(counts, reverse=True):
        written: dict[str, Any] = copy.deepcopy(dict(scenario))
        for path, value in {**family, DISKS: count}.items():
            parameters.assign(written, path, value)
        with suppress(ConfigError):
            return _FullArray(count, written, engine.canonical_json(written))
    return None


def _simulate(scenario: str) -> dict[str, Any] | None:
    """Return the results of a configuration; None if its run fails, which the search reports."""
    try:
        return engine.simulate(scenario)
    except DestageError:
        return None


def _judge(
    family: _Family, array: _FullArray, row: Mapping[str, Any], upper: Sequence[Objective]
) -> list[Outclassed]:
    """Return an array that is overloaded or far above an objective; nothing if it may carry the load."""
    if row["status"] == "overloaded":
        return [Outclassed(family, array.disks, array.scenario, row)]
    missed = [
        (value / objective.bound, objective, value)
        for objective in upper
        if (value := row[objective.column]) is not None and value > FAR * objective.bound
    ]
    if row["status"] != "ok" or not missed:
        return []
    _, objective, value = max(missed, key=lambda miss: miss[0])
    return [Outclassed(family, array.disks, array.scenario, row, objective, value)]
