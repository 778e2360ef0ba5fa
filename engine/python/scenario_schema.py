"""The engine's JSON Schema of one configuration, and the looser form of it that authors write in.

The schema comes from the engine: its configuration structs are the one definition of every parameter.
"""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from destage.engine import _engine
from destage.spec.schema_tree import Node, SchemaTree

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
