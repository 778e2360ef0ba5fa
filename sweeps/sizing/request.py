"""What `destage size` is asked: a load and what is considered for it, and the scenario of its runs."""

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from destage import engine
from destage.engine import catalog
from destage.errors import ConfigError, Issue
from destage.sweeps.keys.objectives import parse_objective
from destage.sweeps.keys.prices import CONTROLLER, DISK
from destage.sweeps.sizing.stored_data import measure_data, scale_data
from destage.sweeps.space import parameters
from destage.sweeps.study.users import has_users, list_streams

RAID, DISKS, BATTERY = "array.raid", "array.disks", "controller.battery.state"
RESPONSE = "response_p95 <= 30ms"
BUSIEST = "disk_busy_max <= 0.9"
"""The objectives that hold unless other bounds are given; with busier disks, queues grow fast."""
RAID_LEVELS = ("10", "5", "6")
"""The RAID levels considered by default: those that survive the failure of a disk."""
WORKLOAD = "workload"
"""The place of mistakes in a load, and in the first of several of an array to be found."""
USERS = "users"
"""The input that is a whole number; the others are `iops`, `read_share`, `read_iops` and `write_iops`."""
_STRATA = 100
"""The parts of equal probability into which a range is divided."""
FEWEST, MOST = 2, 24
"""The numbers of disks considered by default."""
_SETTINGS: Mapping[str, Any] = {
    "run": {"warm_up": "auto", "window": {"requests": 20_000}},
    # A run of 20,000 requests covers whole cycles of filling and destaging even of a large cache.
    "controller": {"cache": {"write": {"low_water": 0.795}}},
}


@dataclass(frozen=True, slots=True)
class InputRange:
    """An input of a load, from one value to another; a single value has no width.

    Attributes:
        text: As it was given, such as `250..350`.
    """

    name: str
    low: float
    high: float
    text: str = ""

    @property
    def middle(self) -> float:
        """The middle; a whole number of users."""
        return round((self.low + self.high) / 2) if self.name == USERS else (self.low + self.high) / 2

    @property
    def has_width(self) -> bool:
        """Whether it is a range."""
        return self.low < self.high

    def list_strata(self) -> list[float]:
        """Return the middles of parts of equal probability."""
        if not self.has_width:
            return [self.low]
        step = (self.high - self.low) / _STRATA
        return [self.low + (index + 0.5) * step for index in range(_STRATA)]

    def __str__(self) -> str:
        return self.text


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
        unit: `users`, or a percentage of the load where users are not what is asked for.
        remarks: Sentences on what the load assumes.
        failures: The objectives in states of failure (`failure_states`), by state.
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
    failures: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def least_load(self) -> str:
        """The load of one user in words."""
        return f"{self.count(1):.3g} {self.unit}" if self.unit != USERS else "one user alone"

    def count(self, users: int) -> float:
        """Return a number of users in the unit of the load."""
        return users if self.unit == USERS else 100 * users / self.workload[USERS]


def list_objectives(response_p95: str | None, subject_to: Sequence[str]) -> list[str]:
    """Return the objectives of a request: those given, and the usual ones unless one bounds the same column.

    Args:
        response_p95: The bound of the 95th percentile of response times.

    Raises:
        ConfigError: One is invalid; its place is that in `seek`.
    """
    bounded = {
        parse_objective(text, f"seek.subject_to.{index}").column for index, text in enumerate(subject_to)
    }
    if response_p95 is None:
        response = _list_unbounded(RESPONSE, bounded)
    else:
        response = [f"response_p95 <= {response_p95}"]
        if parse_objective(response[0], "response_p95").bound <= 0:
            issue = Issue("study.out-of-range", "response_p95", "must be more than 0", response_p95)
            raise ConfigError([issue])
    return [*response, *subject_to, *_list_unbounded(BUSIEST, bounded)]


def _list_unbounded(usual: str, bounded: Collection[str]) -> list[str]:
    """Return an objective; none if its column has another bound."""
    return [] if parse_objective(usual, "seek").column in bounded else [usual]


def narrow(request: SizingRequest, parts: Mapping[str, str]) -> SizingRequest:
    """Return the request for one controller, disk and RAID level, by dotted path."""
    return replace(request, controllers=(parts[CONTROLLER],), disks=(parts[DISK],), raid=(parts[RAID],))


def make_scenario(request: SizingRequest, found: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the scenario of a request.

    Args:
        found: Parts and number of disks by dotted path (default: those of the points of a study).
    """
    scenario = {
        "workload": copy.deepcopy(dict(request.workload)),
        "array": {"disks": request.most} | ({"hot_spares": request.spares} if request.spares else {}),
        **copy.deepcopy(dict(_SETTINGS)),
    }
    if phases := list_phases(request.workload):
        scenario["run"] = {"warm_up": "auto", "window": {"phase": phases[0]}}
    data = {} if request.capacity is None else scale_data(request.workload, request.capacity)
    for path, value in {**data, **request.settings, **(found or {})}.items():
        parameters.assign(scenario, path, value)
    return scenario


def measure_usable(request: SizingRequest, found: Mapping[str, Any]) -> int:
    """Return the size of the data that a configuration can hold [bytes].

    Args:
        found: Disk, RAID level and number of disks, by dotted path.
    """
    return engine.usable_capacity(make_scenario(request, found)["array"])


def measure_own_data(request: SizingRequest) -> int | None:
    """Return the size of the workload's own data [bytes]; None for the whole array or a trace."""
    return measure_data(make_scenario(replace(request, capacity=None))["workload"])


def is_battery_absent(request: SizingRequest) -> bool:
    """Return whether a request is for arrays without a battery, which cannot fail."""
    return parameters.read(make_scenario(request), BATTERY) == "absent"


def depends_on_users(workload: Mapping[str, Any]) -> bool:
    """Return whether the number of users changes a load."""
    return has_users(list_streams(workload))


def grows(workload: Mapping[str, Any]) -> bool:
    """Return whether all of a load grows with the number of users."""
    return all(has_users([stream]) for stream in list_streams(workload))


def list_phases(workload: Mapping[str, Any]) -> list[str]:
    """Return the names of the phases of a workload, of which a sizing measures the first by default."""
    phases = workload.get("phases") or _read_preset(workload).get("phases") or ()
    return [str(phase["name"]) for phase in phases]


def _read_preset(workload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the workload of the catalogue that a workload uses; an empty one if it uses none."""
    name = workload.get("use")
    return {"streams": ()} if name is None else catalog.entry("workloads", str(name), WORKLOAD).config
