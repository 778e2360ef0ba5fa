"""Parameters of a configuration by dotted path: what the schema says of one, reading it, setting it.

Also found are numbers that should have a unit. Small ones are rarely meant in base units (byte, nanosecond,
byte per second): `capacity: 512` is nearly always 512 MiB. Numbers below 64 KiB, 1 s and 1 MB/s therefore
need a unit. JSON documents and canonical configurations, which programs write, are in base units and exempt.
"""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from destage.engine import catalog
from destage.engine.configuration import engine_tree
from destage.errors import ConfigError, Issue
from destage.spec import quantities
from destage.spec.documents import value_at
from destage.spec.near_names import suggest

TRACE_FILE = ".arrival.file"
"""The end of the dotted path of a trace's file."""
_CATALOGUED: Mapping[str, catalog.Kind] = MappingProxyType(
    {"workload": "workloads", "controller": "controllers", "disk": "disks"}
)
"""Keys that may name a catalogue entry by `use`, and its kind."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as the schema describes it.

    Attributes:
        unit: Its base unit, if it is a quantity.
        least: The smallest value allowed, if there is one [base unit].
        most: The largest value allowed, if there is one [base unit].
        words: The texts that it takes by name.
        suffix: The suffix of its default, if it is a quantity that has one.
    """

    unit: str | None
    is_integer: bool
    least: float | None = None
    most: float | None = None
    words: frozenset[str] = frozenset()
    suffix: str | None = None


def explain_unknown(path: str) -> str | None:
    """Return why a dotted path is unknown, with the nearest name; None if the schema defines it."""
    return _walk(path)[1]


@cache
def find_parameter(path: str) -> Parameter:
    """Return a parameter that the schema defines: one for which `explain_unknown` is None."""
    nodes, _ = _walk(path)
    units = {node["x-unit"] for node in nodes if "x-unit" in node}
    kinds = {kind for node in nodes for kind in _kinds(node)} - {"null"}
    is_integer = kinds == {"integer"}
    # Branches of a choice may have different bounds; the engine checks those of the chosen one.
    least, most = (
        nodes[0].get(bound) if is_integer and len(nodes) == 1 else None for bound in ("minimum", "maximum")
    )
    unit = next(iter(units)) if len(units) == 1 else None
    words = {word for node in nodes for word in engine_tree().words_of(node)}
    words |= {node["const"] for node in nodes if isinstance(node.get("const"), str)}
    default = next((node["default"] for node in nodes if node.get("default")), None)
    suffix = quantities.render(default, unit).lstrip(".0123456789") if unit and default else None
    return Parameter(unit, is_integer, least, most, frozenset(words), suffix)


def read(scenario: Mapping[str, Any], path: str) -> object:
    """Return a parameter's value, or None if the configuration has no such field.

    Args:
        scenario: A configuration, canonical or as written; `array` also reads the first of `arrays`.
    """
    value: object = value_at(scenario, ".".join(_located(scenario, path)))
    return value


def assign(scenario: dict[str, Any], path: str, value: object) -> None:
    """Set a parameter, adding the tables that lead to it.

    A list of the catalogue entry that a table uses is added with the names of its items, by which the items
    are merged with those of the entry.

    Args:
        scenario: The configuration to change; `array` also reaches the first of `arrays`.

    Raises:
        ConfigError: The path leads to an entry that a list does not have.
    """
    segments = _located(scenario, path)
    node: Any = scenario
    shipped: Any = None
    for position, segment in enumerate(segments):
        is_last = position == len(segments) - 1
        shipped = _find_shipped(
            node, segments[position - 1] if position else "", shipped, scenario.get(catalog.OWN)
        )
        key: int | str = segment
        if isinstance(node, list):
            key = int(segment) if segment.isdecimal() else len(node)
            if key >= len(node):
                count = "1 entry" if len(node) == 1 else f"{len(node)} entries"
                message = f"the list has {count}, counted from 0"
                raise ConfigError([Issue("study.missing-list-entry", path, message)])
        elif not is_last and not isinstance(node.get(segment), (dict, list)):
            shipped_list = shipped.get(segment) if isinstance(shipped, Mapping) else None
            node[segment] = _name_items(shipped_list) if isinstance(shipped_list, list) else {}
        if is_last:
            if key == "name" and isinstance(shipped, Mapping) and key in shipped:
                # Nothing is merged with an item of another name.
                node.update(catalog.merge(copy.deepcopy(dict(shipped)), dict(node)))
            node[key] = value
        else:
            shipped = _find_item(shipped, node[key], key)
            node = node[key]


def _find_shipped(node: object, key: str, shipped: object, own: object) -> object:
    """Return the part of the catalogue that a table is merged with, if there is one.

    Args:
        key: The key of the table.
        shipped: The part that the table is merged with unless it has a `use` of its own.
        own: The parts of the configuration itself.
    """
    if isinstance(node, dict) and "use" in node and key in _CATALOGUED:
        entry = catalog.find(_CATALOGUED[key], node["use"], own)
        return None if entry is None else entry.config
    if isinstance(node, dict) and isinstance(shipped, Mapping):
        kind = shipped.get("kind")
        return shipped if node.get("kind", kind) == kind else None
    return shipped


def _find_item(shipped: object, item: object, key: int | str) -> object:
    """Return what a part of the catalogue has at a key; an item of a list is found by its name."""
    if isinstance(shipped, Mapping):
        return shipped.get(str(key))
    if isinstance(shipped, list) and isinstance(item, dict) and "name" in item:
        return next((entry for entry in shipped if entry.get("name") == item["name"]), None)
    return None


def _name_items(items: Sequence[Any]) -> list[Any]:
    """Return the items of a list by their names; whole, if they have none."""
    if all(isinstance(item, dict) and "name" in item for item in items):
        return [{"name": item["name"]} for item in items]
    return copy.deepcopy(list(items))


def list_keys(path: str) -> list[str]:
    """Return the keys that a dotted path can go on with; none if the path is unknown."""
    return _names(_walk(path)[0], path.split(".")) if path else _names([engine_tree().root], [])


@cache
def _walk(path: str) -> tuple[list[dict[str, Any]], str | None]:
    """Return the schema nodes of a dotted path, over all branches of every choice, or why it is unknown."""
    nodes = _branches([engine_tree().root])
    done: list[str] = []
    for segment in path.split("."):
        following = _step(nodes, segment, done)
        if not following:
            keys = _names(nodes, done)
            within = f" of {'.'.join(done)}" if done else ""
            if not keys:
                return [], f"unknown parameter: {'.'.join(done)} has no keys"
            return [], f"unknown parameter{suggest(segment, keys)}; keys{within}: {', '.join(keys)}"
        done.append(segment)
        nodes = following
    return nodes, None


def _located(scenario: Mapping[str, Any], path: str) -> list[str]:
    segments = path.split(".")
    if segments[0] == "array" and "array" not in scenario and isinstance(scenario.get("arrays"), list):
        return ["arrays", "0", *segments[1:]]
    return segments


def _step(nodes: list[dict[str, Any]], segment: str, done: list[str]) -> list[dict[str, Any]]:
    """Return the schema nodes one segment further."""
    children = [node["properties"][segment] for node in nodes if segment in node.get("properties", {})]
    if segment.isdigit():
        children += [node["items"] for node in nodes if isinstance(node.get("items"), dict)]
    if segment == "use" and done and done[-1] in _CATALOGUED:
        children.append({"type": "string"})
    return _branches(children)


def _names(nodes: list[dict[str, Any]], done: list[str]) -> list[str]:
    names = {name for node in nodes for name in node.get("properties", {})}
    if done and done[-1] in _CATALOGUED:
        names.add("use")
    if any(isinstance(node.get("items"), dict) for node in nodes):
        names.add("0")
    return sorted(names)


def _branches(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Follow references and open every choice; a unit beside a reference is kept."""
    opened: list[dict[str, Any]] = []
    for node in nodes:
        plain = engine_tree().follow(node)
        choices = engine_tree().alternatives(plain)
        beside = {key: plain[key] for key in ("x-unit",) if key in plain}
        if choices:
            opened += _branches([{**beside, **choice} for choice in choices])
        opened.append(plain)
    return opened


def _kinds(node: dict[str, Any]) -> list[str]:
    kinds = node.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


_LIKELY: Mapping[str, str] = MappingProxyType({"bytes": "MiB", "ns": "ms", "bytes_per_s": "MB/s"})
"""The units that need to be written, and the suffix that is usually meant."""
_CLEAR: Mapping[str, int] = MappingProxyType({"bytes": 1 << 16, "ns": 10**9, "bytes_per_s": 10**6})
"""Numbers from here on are taken as base units: 65,536 without a unit is not likely to mean MiB."""
_ROUND: Mapping[str, int] = MappingProxyType({"bytes": 4096, "ns": 1000, "bytes_per_s": 1000})
"""Multiples of these numbers are probably in base units."""
_SECTOR = 512
"""What sizes are multiples of [bytes]."""
_NEAR: Mapping[str, str] = MappingProxyType({"KiB": "MiB", "MiB": "KiB"})
"""What else may be meant by a number that is not of whole sectors."""


def explain_bare_number(value: object, unit: str | None, suffix: str | None = None) -> str | None:
    """Return why a number needs a unit; None if it needs none, as zero and a text with a unit.

    Args:
        suffix: What is usually meant (default: that of the unit).
    """
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
    suffix = suffix or _LIKELY[unit]
    likely = f"{number:.15g}{suffix}"
    if float(number).is_integer():
        exact = quantities.render(int(number), unit)
        if unit == "bytes" and number % _SECTOR:
            exact = f"{number:.15g}{_NEAR.get(suffix, 'GB')}"
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
            parameter = find_parameter(path)
            message = explain_bare_number(value, parameter.unit, parameter.suffix)
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
