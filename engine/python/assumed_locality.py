"""The localities that a configuration takes from a workload of the catalogue where nobody published them.

How soon addresses come again decides what a cache is worth: an answer that rests on an assumed locality says
so.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from destage.engine import catalog
from destage.engine.workload_description import describe_locality

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
        now = next(each for each in resolved["streams"] if each.get("name") == stream["name"])
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
            if any(not any(_is_within(field, one) for one in changed) for field in assumed):
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
    found: Mapping[str, Any] = stream[place[0]][int(place[1])] if place else stream
    return found


def _is_within(field: str, changed: str) -> bool:
    """Return whether a change of one path gives a field: it is the field, holds it or is below it."""
    return f"{field}.".startswith(f"{changed}.") or changed.startswith(f"{field}.")


def _tables(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
