"""Detection of sizes, durations and bandwidths that lack a unit.

Small numbers are rarely meant in base units (byte, nanosecond, byte per second): `capacity: 512` is nearly
always 512 MiB. Numbers below 64 KiB, 1 s and 1 MB/s therefore need a unit. JSON documents and canonical
configurations, which programs write, are in base units and exempt.
"""

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from destage.errors import Issue
from destage.spec import quantities
from destage.sweeps.space.parameters import explain_unknown, find_parameter

_LIKELY: Mapping[str, str] = MappingProxyType({"bytes": "MiB", "ns": "ms", "bytes_per_s": "MB/s"})
"""The units that need to be written, and the suffix that is usually meant."""
_CLEAR: Mapping[str, int] = MappingProxyType({"bytes": 1 << 16, "ns": 10**9, "bytes_per_s": 10**6})
"""Numbers from here on are taken as base units: 65,536 without a unit is not likely to mean MiB."""
_ROUND: Mapping[str, int] = MappingProxyType({"bytes": 4096, "ns": 1000, "bytes_per_s": 1000})
"""Multiples of these numbers are probably in base units."""


def explain_bare_number(value: object, unit: str | None) -> str | None:
    """Return why a number needs a unit; None if it needs none, as zero and a text with a unit."""
    if unit is None or unit not in _LIKELY or isinstance(value, bool):
        return None
    number: object = value
    if isinstance(value, str):
        try:
            number = json.loads(value.strip().replace("_", ""))
        except ValueError:
            return None
    if isinstance(number, bool) or not isinstance(number, int | float) or number == 0:
        return None
    if abs(number) >= _CLEAR[unit]:
        return None
    likely = f"{number:.15g}{_LIKELY[unit]}"
    if float(number).is_integer():
        exact = quantities.render(int(number), unit)
        first, second = (exact, likely) if number % _ROUND[unit] == 0 else (likely, exact)
        return f"has no unit; write '{first}' or '{second}'"
    return f"has no unit; write it like '{likely}'"


def find_bare_numbers(scenario: Mapping[str, Any]) -> list[Issue]:
    """Return a mistake for each number in a configuration that needs a unit.

    A canonical configuration, which alone has `arrays` and `run.replicate`, is in base units.
    """
    run = scenario.get("run")
    if "arrays" in scenario and isinstance(run, Mapping) and "replicate" in run:
        return []
    issues = []
    for path, value in _list_leaves(scenario, ""):
        if explain_unknown(path) is None:
            message = explain_bare_number(value, find_parameter(path).unit)
            if message is not None:
                issues.append(Issue("scenario.bad-quantity", path, message, value))
    return issues


def is_json(text: str | bytes) -> bool:
    """Return whether a document is JSON, as programs write it."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _list_leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield the numbers and texts of a document with their dotted paths."""
    items: Iterator[tuple[object, object]]
    if isinstance(value, Mapping):
        items = iter(value.items())
    elif isinstance(value, list):
        items = iter(enumerate(value))
    else:
        if isinstance(value, int | float | str):
            yield path, value
        return
    for key, item in items:
        yield from _list_leaves(item, f"{path}.{key}" if path else str(key))
