"""Configurations of the engine: schema, validation, and the canonical form, which it runs and names runs by.

The JSON Schema of a configuration comes from the engine: its configuration structs are the one definition of
every parameter. Authors write in a looser form of it. The extension module's exceptions become those of
`destage.errors`.
"""

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

from destage.engine import _engine, catalog
from destage.errors import ConfigError, DestageError, Issue, SimulationError, TraceError
from destage.spec.documents import value_at
from destage.spec.schema_tree import BaseUnits, Node, SchemaTree, to_base_units
from destage.spec.validation import find_mistakes, keep_known_keys

_CATALOGUED = {"workload": "Workload", "controller": "Controller", "disk": "Device"}
_NUMBER_KEYWORDS = frozenset(
    {
        "type",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
    }
)


def schema() -> Node:
    """Return a copy of the engine's schema of one configuration, in base units, as JSON Schema 2020-12."""
    return copy.deepcopy(engine_tree().root)


@cache
def engine_tree() -> SchemaTree:
    """Return the engine's schema as a shared tree."""
    return SchemaTree(json.loads(_engine.schema()))


def explain_wrong_table(table: Mapping[str, object]) -> str | None:
    """Return an error message if no key of a table is a key of a configuration; None otherwise."""
    fields = engine_tree().root["properties"]
    if not table or table.keys() & fields.keys():
        return None
    return f"not a configuration, which is a table of {', '.join(sorted(fields))}"


def find_unit(path: str, scenario: Mapping[str, object]) -> str | None:
    """Return the base unit of the parameter at a dotted path.

    Args:
        path: Dotted path, as in `controller.cache.capacity`; list positions are segments
            (`workload.streams.0.address`).
        scenario: A resolved configuration, which selects the branches of unions on the path.

    Returns:
        Its `x-unit`; None if the parameter has no unit or does not exist.
    """
    node = _find_node(path, scenario)
    unit = None if node is None else node.get("x-unit")
    return None if unit is None else str(unit)


def find_meaning(path: str, scenario: Mapping[str, object]) -> str | None:
    """Return the description of the parameter at a dotted path; None if it does not exist."""
    parent, _, last = path.rpartition(".")
    if last == "use":
        return f"{parent.rpartition('.')[2]} of the catalogue"
    node = _find_node(path, scenario)
    meaning = None if node is None else node.get("description")
    return None if meaning is None else " ".join(str(meaning).split()).removesuffix(".")


def _find_node(path: str, scenario: Mapping[str, object]) -> Node | None:
    """Return the parameter at a dotted path, with its own description before that of its type."""
    tree = engine_tree()
    node = tree.root
    value: object = scenario
    own: Node = {}
    for segment in path.split("."):
        node = tree.settle(node, value)
        if "items" in node and segment.isdigit():
            position = int(segment)
            value = value[position] if isinstance(value, list) and position < len(value) else None
            own = node["items"]
        elif segment in node.get("properties", {}):
            value = value.get(segment) if isinstance(value, Mapping) else None
            own = node["properties"][segment]
        else:
            return None
        node = own
    settled = tree.settle(node, value)
    return {**settled, "description": own.get("description", settled.get("description"))}


def authoring_schema(names: Mapping[str, Sequence[str]]) -> Node:
    """Return the schema for editors, which allows unit strings and catalogue names.

    Args:
        names: The catalogue's names by kind: `workloads`, `controllers`, `disks`.
    """
    root = schema()
    for node in _nodes(root):
        _allow_unit_text(node)
    catalogued = {"workload": names["workloads"], "controller": names["controllers"], "disk": names["disks"]}
    definitions = root["$defs"]
    for key, definition in _CATALOGUED.items():
        definitions[definition] = _with_use(definitions[definition], key, catalogued[key])
    root["properties"]["catalog"] = {
        "description": "Disks and controllers of your own: a file or a folder, a list of them, or a table.",
        "type": ["string", "array", "object"],
    }
    # A stream may start from the catalogue's stream of the same name.
    definitions["Stream"]["required"] = ["name"]
    return root


def _with_use(node: Node, key: str, names: Sequence[str]) -> Node:
    """A definition that also accepts `use`, beside which every field is optional."""
    use: Node = {"description": f"A {key} of the catalogue; fields beside it win.", "type": "string"}
    # An editor completes the names of the catalogue, and does not know parts of a user's own.
    use |= (
        {"enum": list(names)} if key == "workload" else {"anyOf": [{"enum": list(names)}, {"minLength": 1}]}
    )
    branches = node.get("oneOf")
    if branches is None:
        named = {**node, "properties": {"use": use, **node["properties"]}}
        required = named.pop("required", [])
        return {**named, "anyOf": [{"required": ["use"]}, {"required": required}]} if required else named
    merged: Node = {}
    for branch in branches:
        for name, leaf in branch["properties"].items():
            if "const" in leaf and name in merged:
                merged[name] = {"type": "string", "enum": [*merged[name]["enum"], leaf["const"]]}
            elif "const" in leaf:
                merged[name] = {"type": "string", "enum": [leaf["const"]]}
            else:
                merged[name] = leaf
    used = {
        "type": "object",
        "properties": {"use": use, **merged},
        "additionalProperties": False,
        "required": ["use"],
    }
    return {**node, "oneOf": [used, *branches]}


def _allow_unit_text(node: Node) -> None:
    """Let a quantity also be written as text with its unit."""
    if "x-unit" not in node:
        return
    number = {key: node.pop(key) for key in list(node) if key in _NUMBER_KEYWORDS}
    node["anyOf"] = [
        number,
        {"type": "string", "description": f"With its unit; the base unit is {node['x-unit']}."},
    ]


def _nodes(node: object) -> Iterator[Node]:
    """Every object of the schema, leaves first."""
    if isinstance(node, dict):
        for child in list(node.values()):
            yield from _nodes(child)
        yield node
    elif isinstance(node, list):
        for child in node:
            yield from _nodes(child)


_POSITION = re.compile(r"\[(\d+)\]")
_ISSUE = re.compile(r"(\S+?)(?: at (.+?))?: (.+)", re.DOTALL)
"""The text of a failed run: code, place, message."""


def issues_of(error: _engine.EngineConfigError) -> list[Issue]:
    """Return the rules that a configuration breaks, places dotted as in ``workload.streams.0.arrival``."""
    return [
        Issue(issue["code"], _POSITION.sub(r".\1", issue["place"]), issue["message"])
        for issue in json.loads(error.issues)
    ]


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise the engine's errors as those of `destage.errors`, for the length of a `with` block."""
    try:
        yield
    except _engine.EngineConfigError as error:
        raise ConfigError(issues_of(error)) from None
    except _engine.EngineTraceError as error:
        raise as_trace_error(error) from None


def as_trace_error(error: _engine.EngineTraceError, source: str = "") -> TraceError:
    """Return the error for a trace, with its file or address as the source."""
    (issue,) = json.loads(error.issues)
    trace_error = TraceError(issue["code"], issue["message"], issue["place"], issue.get("data"))
    trace_error.source = source
    return trace_error


def as_run_error(kind: str, text: str) -> DestageError:
    """Return the error for a failed run, given `error_kind` and `error` of its row."""
    match = _ISSUE.fullmatch(text)
    if match is None:
        raise ValueError(f"a failed run without a code: {text}")
    code, place, message = match.groups(default="")
    place = _POSITION.sub(r".\1", place)
    if kind == "configuration":
        return ConfigError([Issue(code, place, message)])
    return (TraceError if kind == "trace" else SimulationError)(code, message, place)


Scenario = Mapping[str, Any] | str
"""One configuration: a mapping, or its JSON text."""


def find_replays(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the arrival tables of the streams that replay a trace."""
    workload = scenario.get("workload")
    streams = workload.get("streams") if isinstance(workload, Mapping) else None
    arrivals = [stream.get("arrival") for stream in streams or () if isinstance(stream, dict)]
    return [
        arrival
        for arrival in arrivals
        if isinstance(arrival, dict)
        and arrival.get("kind") == "trace"
        and isinstance(arrival.get("file"), str)
    ]


def normalise(scenario: Scenario) -> dict[str, Any]:
    """Return the canonical form of a configuration: defaults filled in, quantities in base units.

    Raises:
        ConfigError: With all mistakes of the configuration.
    """
    canonical: dict[str, Any] = json.loads(canonical_json(scenario))
    return canonical


def prepare(fields: Mapping[str, Any]) -> str:
    """Return top-level fields of a configuration as JSON members.

    Each top-level field (`array` and `arrays` together) is resolved independently of the others, so that
    configurations with common fields can share the result.

    Args:
        fields: At least one field.

    Raises:
        ConfigError: With the names and quantities that cannot be read; the engine checks everything else.
    """
    resolved, unknown = catalog.resolve_known(fields)
    given = to_base_units(resolved, engine_tree())
    if unknown or given.issues:
        raise ConfigError([*unknown, *given.issues])
    return json.dumps(given.value)[1:-1]


def assemble(scenario: Mapping[str, Any]) -> str:
    """Return the canonical form as text, like `canonical_json`, which also explains mistakes.

    Raises:
        ConfigError: The configuration is invalid.
    """
    with translated_errors():
        return _engine.normalise(f"{{{prepare(scenario)}}}")


def canonical_json(scenario: Scenario) -> str:
    """Return the canonical form as text: keys sorted, equal for equal configurations."""
    text, issues = _check(scenario)
    if issues:
        raise ConfigError(issues)
    return text


def usable_capacity(array: Mapping[str, Any]) -> int:
    """Return the size of the data that an array can hold [bytes].

    Args:
        array: RAID level, disks and their number, as in a configuration.

    Raises:
        ConfigError: The array cannot be built.
    """
    prepared = json.loads(f"{{{prepare({'array': array})}}}")
    with translated_errors():
        return _engine.usable_capacity(json.dumps(prepared["array"]))


def validate(scenario: Scenario) -> list[Issue]:
    """Return all mistakes of a configuration."""
    return _check(scenario)[1]


def read(scenario: Scenario) -> dict[str, Any]:
    """Return a configuration as a mapping."""
    if not isinstance(scenario, str):
        return dict(scenario)
    try:
        parsed = json.loads(scenario)
    except json.JSONDecodeError as error:
        raise ConfigError(
            [Issue("scenario.bad-syntax", f"{error.lineno}:{error.colno}", f"invalid JSON: {error.msg}")]
        ) from None
    if not isinstance(parsed, dict):
        raise ConfigError([Issue("scenario.wrong-type", "", "must be a table", parsed)])
    return parsed


def _check(scenario: Scenario) -> tuple[str, list[Issue]]:
    """Return the canonical text and no issues, or no text and the issues."""
    resolved, unknown = catalog.resolve_known(read(scenario))
    tree = engine_tree()
    given = to_base_units(resolved, tree)
    if not unknown and not given.issues:
        # The engine checks all bounds; the schema is only used to explain mistakes.
        text, issues = _check_rules(given)
        if not issues:
            return text, []
    unresolved = tuple(f"{issue.place.removesuffix('.use')}." for issue in unknown)
    mistakes = [issue for issue in find_mistakes(given, tree) if not f"{issue.place}.".startswith(unresolved)]
    if unknown or given.issues:
        return "", unknown + mistakes
    if mistakes:
        # A misspelt key must not hide broken rules between the other fields.
        given.value = keep_known_keys(given.value, tree)
        further = [] if find_mistakes(given, tree) else _check_rules(given)[1]
        return "", mistakes + further
    return _check_rules(given)


def _check_rules(given: BaseUnits) -> tuple[str, list[Issue]]:
    """Check the rules between fields, in the engine."""
    try:
        return _engine.normalise(json.dumps(given.value)), []
    except _engine.EngineConfigError as error:
        return "", [
            replace(issue, value=given.texts.get(issue.place, value_at(given.value, issue.place)))
            for issue in issues_of(error)
        ]


def has_write_cache(config: Mapping[str, Any]) -> bool:
    """Return whether a canonical configuration has a write cache."""
    cache = config["controller"]["cache"]
    return bool(cache["capacity"] and cache["write_fraction"])
