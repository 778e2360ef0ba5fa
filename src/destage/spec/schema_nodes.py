"""Nodes of the JSON Schemas that are written in Python."""

from collections.abc import Mapping, Sequence
from typing import Any

from destage.spec.schema_tree import Node


def node(kind: str | Sequence[str], description: str, **keywords: Any) -> Node:
    """Return the schema of a value of a JSON type, or of one of several."""
    return {"description": description, "type": kind, **keywords}


def table(description: str, properties: Mapping[str, Node], *required: str) -> Node:
    """Return the schema of an object without other keys than these."""
    keys = {"required": list(required)} if required else {}
    return node("object", description, additionalProperties=False, **keys, properties=properties)
