"""Several loads on one array: the streams of all, and the data of each after those of the loads before.

A configuration has one number of users. Where two loads have users of different numbers, those of one load
run in the number of the other, each at a rate that keeps the rate of all.
"""

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from destage.engine import catalog
from destage.engine.workload_description import describe_assumed_localities
from destage.errors import ConfigError, Issue
from destage.spec import quantities
from destage.sweeps.sizing.growing_load import make_growing
from destage.sweeps.sizing.request import WORKLOAD
from destage.sweeps.sizing.stored_data import (
    count_users,
    list_addresses,
    measure_data,
    read_offset,
    write_size,
)
from destage.sweeps.space import parameters
from destage.sweeps.study.users import has_trace, has_users, list_streams

JOINED_UNIT = "% of all loads"
"""The unit of several loads, which grow together."""
ADD, HAVE = "add", "have"
"""The places of mistakes in an added load and in the present one."""
_CONTIGUOUS = "contiguous"
_OPEN = ("poisson", "constant", "mmpp", "b_model")


@dataclass(frozen=True, slots=True)
class NamedLoad:
    """A load.

    Attributes:
        workload: The workload, as in a scenario.
        name: Its name in the names of studies.
        remarks: Sentences on what it assumes.
    """

    workload: Mapping[str, Any]
    name: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedLoad:
    """The workload of both loads, and what it assumes."""

    workload: Mapping[str, Any]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One of two loads in messages.

    Attributes:
        place: The place of its mistakes.
        label: What it is called.
    """

    place: str
    label: str


_SIDES = (Side(HAVE, "present load"), Side(ADD, "added load"))


def join_loads(loads: Sequence[NamedLoad], capacity: int | None) -> NamedLoad:
    """Return several loads of an array to be found as one, whose streams grow with its users if they can.

    Args:
        loads: At least two.
        capacity: The data of all [bytes], of which the first takes the rest, if it has no size of its own.

    Raises:
        ConfigError: The loads cannot run together, or the size of the data of one is unknown.
    """
    first, *others = loads
    stated = [
        sentence for load in loads for sentence in describe_assumed_localities({"workload": load.workload})
    ]
    workload = resolve(first.workload, WORKLOAD)
    if capacity is not None:
        workload = _fill(workload, capacity - sum(measure_data(load.workload) or 0 for load in others))
    joined = replace(first, workload=workload)
    for load in others:
        sides = (Side(WORKLOAD, f"load {joined.name}"), Side(ADD, f"load {load.name}"))
        shared = share_array(joined.workload, resolve(load.workload, ADD), None, sides)
        remarks = (*joined.remarks, *load.remarks, *shared.remarks)
        joined = NamedLoad(shared.workload, f"{joined.name}-and-{load.name}", remarks)
    remarks = tuple(dict.fromkeys([*stated, *joined.remarks]))
    return replace(joined, workload=make_growing(joined.workload) or joined.workload, remarks=remarks)


def _fill(workload: Mapping[str, Any], size: int) -> dict[str, Any]:
    """Return a workload whose addresses without a footprint have one that ends at a size [bytes]."""
    filled = {"workload": copy.deepcopy(dict(workload))}
    for path, address in list_addresses(workload):
        if address.get("footprint") is None:
            rest = size - read_offset(address)
            if rest <= 0:
                raise _mistake("study.out-of-range", "capacity", "the data of the other loads leave no room")
            parameters.assign(filled, f"{path}.footprint", write_size(rest))
    return filled["workload"]


def resolve(workload: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return a workload with its parts of the catalogue.

    Raises:
        ConfigError: It is not in the catalogue; its place is the one given.
    """
    try:
        resolved: dict[str, Any] = catalog.resolve({"workload": dict(workload)})["workload"]
    except ConfigError as error:
        places = {"workload.use": place}
        raise ConfigError(
            [replace(issue, place=places.get(issue.place, issue.place)) for issue in error.issues]
        ) from None
    return resolved


def share_array(
    present: Mapping[str, Any],
    added: Mapping[str, Any],
    usable: int | None,
    sides: tuple[Side, Side] = _SIDES,
) -> SharedLoad:
    """Return the workload of a present load and an added one.

    Args:
        present: A workload without `use`.
        added: Another one; its contiguous areas move behind the data of the present one.
        usable: The size of the data that the array can hold [bytes]; None for one that is to be found.
        sides: What both are called in messages.

    Raises:
        ConfigError: The array does not hold the data of both, or the loads cannot run together.
    """
    if has_trace(list_streams(added)):
        raise _mistake(
            "study.loads-conflict", ADD, "replays a trace, whose addresses cannot move behind other data"
        )
    phases = [workload.get("phases") for workload in (present, added) if workload.get("phases")]
    if len(phases) > 1:
        raise _mistake("study.loads-conflict", ADD, f"has phases, and so has the {sides[0].label}")
    room = usable if usable is not None else _measure_both(present, added, sides)
    placed = _place(present, added, room)
    counts = count_users(present), count_users(added)
    users = _choose_users(present, added)
    streams, remarks = [], []
    for side, workload, count in zip(sides, (present, placed), counts, strict=True):
        stretch = _Stretch(side.place, count, users)
        streams += [stretch.apply(stream) for stream in list_streams(workload)]
        if remark := _describe_stretch(side.label, list_streams(workload), count, users):
            remarks.append(remark)
    shared = {"users": users, "streams": _name_apart(streams)}
    return SharedLoad(shared | ({"phases": phases[0]} if phases else {}), tuple(remarks))


def _mistake(code: str, place: str, message: str) -> ConfigError:
    return ConfigError([Issue(code, place, message)])


def _measure_both(present: Mapping[str, Any], added: Mapping[str, Any], sides: tuple[Side, Side]) -> int:
    """Return the size of the data of two loads [bytes]."""
    both = 0
    for side, workload in zip(sides, (present, added), strict=True):
        size = measure_data(workload)
        if size is None:
            message = "the size of its data is unknown, so that it cannot share an array that is to be found"
            raise _mistake("study.loads-conflict", side.place, message)
        both += size
    return both


def _place(present: Mapping[str, Any], added: Mapping[str, Any], usable: int) -> dict[str, Any]:
    """Return the added workload with its data after those of the present load.

    The data of a trace end nowhere in particular, so that those added after it are at the end of the array.
    """
    size, end = measure_data(added), measure_data(present)
    if end is None and not has_trace(list_streams(present)):
        message = (
            "a stream has no footprint, so that its data are the whole array; state the size of its data"
        )
        raise _mistake("scenario.beyond-array", HAVE, message)
    if end is None:
        end = usable - (size or 0)
    if end < 0 or end + (size or 1) > usable:
        sizes = [write_size(each) for each in (size or 1, max(end, 1), usable)]
        message = "{} of added data after {} of present data; the array holds {}".format(*sizes)
        raise _mistake("scenario.beyond-array", ADD, message)
    placed = {"workload": {**copy.deepcopy(dict(added)), "streams": copy.deepcopy(list_streams(added))}}
    for path, address in list_addresses(added):
        placement = address.get("placement") or {}
        offset = read_offset(address)
        if placement.get("kind", _CONTIGUOUS) == _CONTIGUOUS:
            moved = {"kind": _CONTIGUOUS, "offset": quantities.render(end + offset, "bytes")}
            parameters.assign(placed, f"{path}.placement", moved)
        if address.get("footprint") is None:
            # Without a size of its own it would grow with the array.
            rest = (usable - end - offset) >> 20 << 20
            parameters.assign(placed, f"{path}.footprint", quantities.render(rest, "bytes"))
    return placed["workload"]


def _choose_users(present: Mapping[str, Any], added: Mapping[str, Any]) -> int:
    """Return the number of users of both loads.

    It is that of the load with closed users; of two such loads the larger one, with which the other load is
    not too low.
    """
    streams = list_streams(present), list_streams(added)
    counts = count_users(present), count_users(added)
    if not has_users(streams[1]):
        return counts[0]
    if not has_users(streams[0]):
        return counts[1]
    is_open = [all(_is_open(stream) for stream in each) for each in streams]
    if is_open[1]:
        return counts[0]
    return counts[1] if is_open[0] else max(counts)


def _is_open(stream: Mapping[str, Any]) -> bool:
    """Return whether the requests of a stream come at a rate, or do not depend on the number of users."""
    return stream["arrival"]["kind"] in _OPEN or not has_users([stream])


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Users that run in another number, each at as much of its rate.

    Attributes:
        place: The place of mistakes.
        count: Their number.
        users: The number in which they run.
    """

    place: str
    count: int
    users: int

    def apply(self, stream: Mapping[str, Any]) -> dict[str, Any]:
        """Return a stream of these users."""
        stretched = copy.deepcopy(dict(stream))
        if self.count == self.users or not has_users([stream]):
            return stretched
        arrival, share = stretched["arrival"], self.count / self.users
        if arrival["kind"] in _OPEN:
            arrival["rate"] = quantities.render(
                float(quantities.parse(arrival["rate"], "per_s")) * share, "per_s"
            )
        else:
            self._stretch_closed(stretched["name"], arrival)
        holder: dict[str, Any] = {"workload": {"streams": [stretched]}}
        for path, address in list_addresses(holder["workload"]):
            if address.get("per_user"):
                # The data of all users are as large as before.
                size = int(quantities.parse(address["footprint"], "bytes") * share)
                footprint = quantities.render(max(size >> 12, 1) << 12, "bytes")
                parameters.assign(holder, f"{path}.footprint", footprint)
        return stretched

    def _stretch_closed(self, name: str, arrival: dict[str, Any]) -> None:
        think = arrival.get("think_time") or {}
        times = {
            key: int(quantities.parse(value, "ns"))
            for key, value in think.items()
            if key not in {"kind", "cv"}
        }
        if not any(times.values()) or arrival.get("times") is not None:
            message = (
                f"has {self.count} users beside the {self.users} of the other load, and those of stream "
                f"{name} do not think, or end: both loads need the same number of users"
            )
            raise _mistake("study.loads-conflict", self.place, message)
        for key, time in times.items():
            arrival["think_time"][key] = quantities.render(round(time * self.users / self.count), "ns")


def _describe_stretch(label: str, streams: Sequence[Mapping[str, Any]], count: int, users: int) -> str | None:
    """Return a sentence on users that run in another number; None where that changes nothing."""
    kinds = {stream["arrival"]["kind"] for stream in streams if has_users([stream])}
    if count == users or kinds <= {"poisson"}:
        return None
    times = math.floor(count / users * 1000 + 0.5) / 1000
    return (
        f"The {count} users of the {label} run as {users}, each at {times:g} of its rate, since a "
        "configuration has one number of users: the load is the same while responses are short compared with "
        "think times."
    )


def _name_apart(streams: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return streams with names that differ; the first of a name keeps it."""
    taken: set[str] = set()
    named = []
    for stream in streams:
        name = next(name for name in _list_names(stream["name"]) if name not in taken)
        taken.add(name)
        named.append({**stream, "name": name})
    return named


def _list_names(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1
