"""Two loads on one array: the streams of both, and the added data after the present data.

A configuration has one number of users. Where two loads have users of different numbers, those of one load
run in the number of the other, each at a rate that keeps the rate of all.
"""

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from destage.errors import ConfigError, Issue
from destage.spec import quantities
from destage.sweeps.sizing.stored_data import count_users, list_addresses, measure_data, write_size
from destage.sweeps.space import parameters
from destage.sweeps.study.users import has_trace, has_users, list_streams

ADD, HAVE = "add", "have"
"""The places of mistakes in the added load and in the present one."""
_CONTIGUOUS = "contiguous"
_OPEN = ("poisson", "constant", "mmpp", "b_model")


@dataclass(frozen=True, slots=True)
class SharedLoad:
    """The workload of both loads, and what it assumes."""

    workload: Mapping[str, Any]
    remarks: tuple[str, ...] = ()


def share_array(present: Mapping[str, Any], added: Mapping[str, Any], usable: int) -> SharedLoad:
    """Return the workload of a present load and an added one.

    Args:
        present: A workload without `use`.
        added: Another one; its contiguous areas move behind the data of the present one.
        usable: The size of the data that the array can hold [bytes].

    Raises:
        ConfigError: The array does not hold the data of both, or the loads cannot run together.
    """
    if has_trace(list_streams(added)):
        raise _mistake(
            "study.loads-conflict", ADD, "replays a trace, whose addresses cannot move behind other data"
        )
    phases = [workload.get("phases") for workload in (present, added) if workload.get("phases")]
    if len(phases) > 1:
        raise _mistake("study.loads-conflict", ADD, "has phases, and so has the present load")
    placed = _place(present, added, usable)
    counts = count_users(present), count_users(added)
    users = _choose_users(present, added)
    streams, remarks = [], []
    for place, workload, count in zip((HAVE, ADD), (present, placed), counts, strict=True):
        stretch = _Stretch(place, count, users)
        streams += [stretch.apply(stream) for stream in list_streams(workload)]
        if remark := _describe_stretch(place, list_streams(workload), count, users):
            remarks.append(remark)
    shared = {"users": users, "streams": _name_apart(streams)}
    return SharedLoad(shared | ({"phases": phases[0]} if phases else {}), tuple(remarks))


def _mistake(code: str, place: str, message: str) -> ConfigError:
    return ConfigError([Issue(code, place, message)])


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
        offset = int(quantities.parse(placement.get("offset", 0), "bytes"))
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


def _describe_stretch(place: str, streams: Sequence[Mapping[str, Any]], count: int, users: int) -> str | None:
    """Return a sentence on users that run in another number; None where that changes nothing."""
    kinds = {stream["arrival"]["kind"] for stream in streams if has_users([stream])}
    if count == users or kinds <= {"poisson"}:
        return None
    load = "added" if place == ADD else "present"
    times = math.floor(count / users * 1000 + 0.5) / 1000
    return (
        f"The {count} users of the {load} load run as {users}, each at {times:g} of its rate, since a "
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
