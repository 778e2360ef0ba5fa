"""Turn what people write in a configuration into the engine's base units, once, at the edge."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from destage.engine import quantities
from destage.engine.schema_tree import Node, SchemaTree
from destage.errors import ConfigError, Issue


@dataclass
class BaseUnits:
    """A configuration in base units, with what its author wrote.

    Attributes:
        value: The configuration, quantities in base units.
        texts: The text that stood at a path, for messages.
        issues: Quantities that could not be read; they stand unread in `value`.
    """

    value: Any
    texts: dict[str, str] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)

    @property
    def unread(self) -> frozenset[str]:
        """The paths of the quantities that could not be read."""
        return frozenset(issue.path for issue in self.issues)


def to_base_units(document: object, tree: SchemaTree) -> BaseUnits:
    """Turn every quantity of a document into base units.

    Args:
        document: What was written: a configuration without catalogue names, or another document with a
            schema.
        tree: Its schema, whose leaves say by `x-unit` which of them are quantities.

    Returns:
        The document in base units; a mistake in a quantity is an issue of it, not an exception.
    """
    done = BaseUnits(value=None)
    done.value = _convert(document, tree, tree.root, "", done)
    return done


def join(path: str, step: str | int) -> str:
    """The dotted path one step below `path`."""
    return f"{path}.{step}" if path else str(step)


def _convert(value: object, tree: SchemaTree, node: Node, path: str, done: BaseUnits) -> object:
    node = tree.settle(node, value)
    if isinstance(value, Mapping):
        properties = node.get("properties", {})
        return {
            key: _convert(item, tree, properties.get(key, {}), join(path, key), done)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        items = node.get("items", {})
        return [_convert(item, tree, items, join(path, index), done) for index, item in enumerate(value)]
    if isinstance(value, str) and "x-unit" in node:
        value = _read(value, node["x-unit"], path, done)
    if isinstance(value, float):
        if not math.isfinite(value):
            done.issues.append(Issue(path=path, value=value, message="must be a finite number"))
        elif value.is_integer() and "integer" in node.get("type", ()):
            return int(value)
    return value


def _read(text: str, unit: str, path: str, done: BaseUnits) -> str | float:
    try:
        number = _parsed(text, unit)
    except ConfigError as error:
        done.issues.append(Issue(path=path, value=text, message=error.issues[0].message))
        return text
    done.texts[path] = text
    return number


@lru_cache(maxsize=4096)
def _parsed(text: str, unit: str) -> int | float:
    """A quantity; the same few texts stand in every configuration of a sweep."""
    return quantities.parse(text, unit)
