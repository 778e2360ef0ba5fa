"""Conversion of the quantities in a document to base units."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from destage.errors import ConfigError, Issue
from destage.spec import quantities
from destage.spec.schema_tree import Node, SchemaTree


@dataclass
class BaseUnits:
    """A document in base units.

    Attributes:
        value: The document, quantities in base units.
        texts: The original text of each converted quantity by path, for messages.
        issues: Quantities that could not be read; `value` keeps their text.
        namespace: The namespace of error codes.
    """

    value: Any
    texts: dict[str, str] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    namespace: str = "scenario"

    @property
    def unread(self) -> frozenset[str]:
        """The paths of the quantities that could not be read."""
        return frozenset(issue.place for issue in self.issues)


def to_base_units(document: object, tree: SchemaTree, namespace: str = "scenario") -> BaseUnits:
    """Convert the quantities of a document to base units.

    Args:
        tree: Its schema; `x-unit` marks the leaves that are quantities.

    Returns:
        The document in base units; mistakes in quantities are among its issues.
    """
    done = BaseUnits(value=None, namespace=namespace)
    done.value = _convert(document, tree, tree.root, "", done)
    return done


def join(path: str, step: str | int) -> str:
    """Return the dotted path one step below `path`."""
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
            done.issues.append(
                Issue(f"{done.namespace}.bad-quantity", path, "must be a finite number", value)
            )
        elif value.is_integer() and "integer" in node.get("type", ()):
            return int(value)
    return value


def _read(text: str, unit: str, path: str, done: BaseUnits) -> str | float:
    try:
        number = _parse(text, unit)
    except ConfigError as error:
        done.issues.append(Issue(f"{done.namespace}.bad-quantity", path, error.message, text))
        return text
    done.texts[path] = text
    return number


@lru_cache(maxsize=4096)
def _parse(text: str, unit: str) -> int | float:
    """Parse a quantity; the configurations of a sweep repeat the same few texts."""
    return quantities.parse(text, unit)
