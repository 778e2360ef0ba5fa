"""Workloads in words: arrivals, requests and addresses of each stream, and the locality that they assume.

How soon addresses come again decides what a cache is worth. Where nobody published the locality of a workload
of the catalogue, an answer that rests on an assumed one says so.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from destage.engine import catalog

Stream = Mapping[str, Any]


def describe_arrival(stream: Stream, users: int) -> str:
    """Describe the arrivals of a stream."""
    arrival = stream["arrival"]
    kind = arrival["kind"]
    many = users if kind == "closed" or arrival.get("per_user") else 1
    prefix = f"{many} users, each " if many > 1 else ""
    demand = stream.get("processor_time")
    match kind:
        case "closed":
            asks = f"{len(stream['steps'])} steps" if stream.get("steps") else _interaction(arrival)
            times = arrival.get("times")
            often = f", {'once' if times == 1 else f'{times} times'}" if times else ""
            computes = f"computes {_time(demand)}, " if demand else ""
            words = f"thinks {_time(arrival['think_time'])}, {computes}then {asks}{often}"
            return f"{prefix or 'one user '}{words}"
        case "fixed_outstanding":
            words = f"{arrival['depth']} always outstanding"
        case "constant":
            words = f"{arrival['rate']}, at equal gaps"
        case "mmpp":
            burst = f"{arrival['burst_factor']:g} times as many {arrival['burst_fraction']:.0%} of the time"
            words = f"{arrival['rate']} on average, {burst}"
        case "b_model":
            words = f"{arrival['rate']} on average, bursty at every scale (bias {arrival['bias']:g})"
        case "trace":
            words = f"replay of {arrival['file']}, {arrival['mode']}"
        case _:
            words = f"{arrival['rate']} on average, at random (Poisson)"
    computing = f", each after computing {_time(demand)}" if demand else ""
    return f"{prefix}{words}{computing}"


def describe_requests(operations: Mapping[str, Any]) -> str:
    """Describe the operations and sizes of a stream."""
    reads = float(operations["read_fraction"])
    words = [
        f"{reads:.4g} reads" if 0 < reads < 1 else "reads" if reads else "writes",
        describe_sizes(operations["size"]),
    ]
    if operations.get("write_size"):
        words[-1] = f"reads of {words[-1]}, writes of {describe_sizes(operations['write_size'])}"
    if operations.get("fua_fraction"):
        words.append("forced to the media (FUA)")
    if operations.get("flush_every"):
        every = operations["flush_every"]
        words.append("a flush after every write" if every == 1 else f"a flush after every {every} writes")
    if operations.get("rewrite_fraction"):
        words.append(f"{operations['rewrite_fraction']:g} of the writes go where was read last")
    return ", ".join(words)


def describe_sizes(size: Mapping[str, Any]) -> str:
    """Return the sizes of requests."""
    if size["kind"] == "constant":
        return str(size["value"])
    if size["kind"] == "uniform":
        return f"{size['min']} to {size['max']} in steps of {size.get('step', size['min'])}"
    total = sum(option["weight"] for option in size["options"])
    return " ".join(f"{option['value']}:{100 * option['weight'] / total:.3g}%" for option in size["options"])


_SAMPLINGS = {
    "without_replacement": ", each place once before any comes again",
    "cyclic": ", each place once per pass in the same order",
}


def describe_address(address: Mapping[str, Any]) -> str:
    """Describe the addresses of a stream, its footprint and placement."""
    return f"{describe_locality(address)}, {describe_placement(address.get('placement') or {})}"


def describe_locality(address: Mapping[str, Any]) -> str:
    """Describe the addresses of a stream and its footprint."""
    words = {
        "uniform": "uniformly random",
        "zipf": "Zipf {exponent}",
        "pareto": "the busiest {hot_fraction} of the blocks get the rest of the accesses",
        "normal": "normally distributed over the blocks",
        "hot_cold": "{access_fraction} of the accesses to the first {hot_fraction}",
        "zoned": "by zones",
        "sequential": "sequential",
        "strided": "every {stride}",
        "strided_zones": "zone by zone of {zone}",
        "stack_distance": "by a given hit ratio curve",
        "hierarchical_reuse": "by a hierarchical reuse walk",
    }[address["kind"]].format_map(address)
    if address["kind"] == "sequential":
        run, jumps = address.get("run"), address.get("jump_fraction")
        words += (
            f" for {run} from random places" if run else f", jumping {jumps:g} of the time" if jumps else ""
        )
        if address.get("common"):
            words = "one sequence of all users"
    sampling = address.get("sampling")
    if address["kind"] == "strided_zones":
        words += f", {address.get('accessed', address['zone'])} in each, "
        words += "uniformly random" if sampling else "sequential"
    words += _SAMPLINGS.get(sampling or "", "")
    if address["kind"] == "zoned":
        words = (
            " ".join(f"{zone['accesses']:g}/{zone['size']:g}" for zone in address["zones"])
            + " (accesses/size)"
        )
    footprint = address.get("footprint")
    own = " of each user's own" if address.get("per_user") else ""
    return f"{words} over {footprint or 'the whole array'}{own}"


def describe_placement(placement: Mapping[str, Any]) -> str:
    """Describe the placement of a footprint on the array."""
    kind = placement.get("kind", "contiguous")
    if kind == "contiguous":
        offset = str(placement.get("offset", 0))
        return "in one piece" + ("" if offset in {"0", "0B"} else f" from {offset} on")
    how = "scattered" if kind == "scattered" else "evenly spread"
    share = placement.get("share", 1.0)
    part = f"{share:.0%}".replace("%", " %") if isinstance(share, int | float) else str(share)
    over = "" if share == 1.0 else f" over the first {part} of the array"
    return f"{how} in extents of {placement.get('extent', '1MiB')}{over}"


def describe_times(stream: Stream) -> str:
    """Describe when a stream runs; empty if it always does."""
    words = []
    start = stream.get("start") or {}
    if start.get("after") or start.get("spread"):
        spread = f", users over {start['spread']}" if start.get("spread") else ""
        words.append(f"starts after {start.get('after', '0s')}{spread}")
    if stream.get("lasts"):
        words.append(f"lasts {stream['lasts']}")
    active = stream.get("active") or ()
    words += [
        f"in {activity['phase']!r}"
        + (f" at {activity['intensity']:g}" if activity.get("intensity", 1) != 1 else "")
        + (f" to {activity['ramp_to']:g}" if activity.get("ramp_to") is not None else "")
        for activity in active
    ]
    return ", ".join(words)


def describe_request_parts(stream: Stream) -> Sequence[tuple[str, str, str]]:
    """Describe the parts of a stream's requests: weight or count, operations, addresses."""
    if stream.get("mix"):
        total = sum(part["weight"] for part in stream["mix"])
        return [
            (
                f"{part['weight'] / total:.3g}",
                describe_requests(part["operations"]),
                describe_address(part["address"]),
            )
            for part in stream["mix"]
        ]
    if stream.get("steps"):
        return [
            ("then", "a flush", "")
            if step["kind"] == "flush"
            else (
                f"{step.get('ios', 1)} x",
                describe_requests(step["operations"]),
                describe_address(step["address"]),
            )
            for step in stream["steps"]
        ]
    if stream.get("operations") is None:
        return [("", "as recorded", "as recorded")]
    return [("", describe_requests(stream["operations"]), describe_address(stream["address"]))]


def _interaction(arrival: Mapping[str, Any]) -> str:
    ios = arrival.get("ios", 1)
    words = "one I/O" if ios == 1 else f"{ios} I/Os"
    if arrival.get("order") == "parallel" and ios > 1:
        words += f", {arrival.get('depth') or 'all'} at a time"
    return words


def _time(distribution: Mapping[str, Any]) -> str:
    match distribution["kind"]:
        case "constant":
            return str(distribution["value"])
        case "uniform":
            return f"{distribution['low']} to {distribution['high']}"
        case "lognormal":
            return f"{distribution['mean']} (lognormal, cv {distribution['cv']:g})"
    return f"{distribution['mean']} (exponential)"


_AT = "workload"
_PARTS = ("mix", "steps")
_NOT_LOCALITY = ("placement", "per_user", "common")
"""Fields of an address process that do not say how soon addresses come again, nor over how much data."""
_NUMBER_AND_UNIT = re.compile(r"(?<=\d)(?=[KMGTPEk]?i?B\b)")


def describe_assumed_localities(scenario: Mapping[str, Any], changed: Iterable[str] = ()) -> list[str]:
    """Return a sentence if a configuration has the assumed locality of a workload of the catalogue.

    Args:
        scenario: A configuration as written.
        changed: Dotted paths of further fields that the user gives: axes of a study, assignments.
    """
    given = scenario.get(_AT)
    name = given.get("use") if isinstance(given, Mapping) else None
    entry = catalog.find("workloads", name)
    if not isinstance(given, Mapping) or entry is None:
        return []
    resolved, _ = catalog.resolve_known({_AT: given})
    paths = [path.removeprefix(f"{_AT}.") for path in changed if path.startswith(f"{_AT}.")]
    words = [
        _NUMBER_AND_UNIT.sub(" ", describe_locality(address))
        for address in _list_assumed(entry, given, resolved[_AT], paths)
    ]
    if not words:
        return []
    return [f"Rests on an assumed locality: {'; '.join(dict.fromkeys(words))} (preset {name})."]


def _list_assumed(
    entry: catalog.Entry, given: Mapping[str, Any], resolved: Mapping[str, Any], changed: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the address processes with an assumed field that the user has not given."""
    own = {stream.get("name"): stream for stream in _tables(given.get("streams"))}
    for index, stream in enumerate(entry.config["streams"]):
        if "streams" in given and stream["name"] not in own:
            # A list replaces that of the entry.
            continue
        mine = own.get(stream["name"], {})
        now = next(candidate for candidate in resolved["streams"] if candidate.get("name") == stream["name"])
        for place, part in _list_parts(stream):
            if place and place[0] in mine:
                continue
            address, overriding = part["address"], mine.get("address", {}) if not place else {}
            if (
                not isinstance(overriding, Mapping)
                or overriding.get("kind", address["kind"]) != address["kind"]
            ):
                continue
            path = ".".join(["streams", str(index), *place, "address"])
            assumed = [
                f"{path}.{field}"
                for field in address
                if field not in {*_NOT_LOCALITY, *overriding} and entry.mark(f"{path}.{field}") == "assumed"
            ]
            if any(not any(_is_within(field, changed_path) for changed_path in changed) for field in assumed):
                yield _find(now, place)["address"]


def _list_parts(stream: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield the parts of a stream that have addresses, each with its place in the stream."""
    if "address" in stream:
        yield (), stream
    for key in _PARTS:
        for index, part in enumerate(stream.get(key, ())):
            if "address" in part:
                yield (key, str(index)), part


def _find(stream: Mapping[str, Any], place: Sequence[str]) -> Mapping[str, Any]:
    part: Mapping[str, Any] = stream[place[0]][int(place[1])] if place else stream
    return part


def _is_within(field: str, changed: str) -> bool:
    """Return whether a change of one path gives a field: it is the field, holds it or is below it."""
    return f"{field}.".startswith(f"{changed}.") or changed.startswith(f"{field}.")


def _tables(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
