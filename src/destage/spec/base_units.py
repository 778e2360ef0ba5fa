"""Conversion of the quantities in a document to base units."""

import math
from collections.abc import Collection, Mapping
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
        issues: Quantities that could not be parsed; `value` keeps their text.
        namespace: The namespace of error codes.
    """

    value: Any
    texts: dict[str, str] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    namespace: str = "scenario"

    @property
    def unparsed(self) -> frozenset[str]:
        """The paths of the quantities that could not be parsed."""
        return frozenset(issue.place for issue in self.issues)


def to_base_units(document: object, tree: SchemaTree, namespace: str = "scenario") -> BaseUnits:
    """Convert the quantities of a document to base units.

    Args:
        tree: Its schema; leaves with `x-unit` are quantities.

    Returns:
        The document in base units, with an issue for each quantity that could not be parsed.
    """
    converted = BaseUnits(value=None, namespace=namespace)
    converted.value = _convert(document, tree, tree.root, "", converted)
    return converted


def as_word(value: object, words: Collection[str]) -> object:
    """Return a whole number as text if that text is an allowed value: 5 as RAID "5"."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number and str(value) in words else value


def join(path: str, step: str | int) -> str:
    """Return the dotted path one step below `path`."""
    return f"{path}.{step}" if path else str(step)


def _convert(value: object, tree: SchemaTree, node: Node, path: str, into: BaseUnits) -> object:
    node = tree.settle(node, value)
    if isinstance(value, Mapping):
        properties = node.get("properties", {})
        return {
            key: _convert(item, tree, properties.get(key, {}), join(path, key), into)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        items = node.get("items", {})
        return [_convert(item, tree, items, join(path, index), into) for index, item in enumerate(value)]
    value = as_word(value, tree.words_of(node))
    if isinstance(value, str) and "x-unit" in node:
        value = _parse_quantity(value, node["x-unit"], path, into)
    if isinstance(value, float):
        if not math.isfinite(value):
            into.issues.append(
                Issue(f"{into.namespace}.bad-quantity", path, "must be a finite number", value)
            )
        elif value.is_integer() and "integer" in node.get("type", ()):
            return int(value)
    return value


def _parse_quantity(text: str, unit: str, path: str, into: BaseUnits) -> str | float:
    try:
        number = _parse(text, unit)
    except ConfigError as error:
        into.issues.append(Issue(f"{into.namespace}.bad-quantity", path, error.message, text))
        return text
    into.texts[path] = text
    return number


@lru_cache(maxsize=4096)
def _parse(text: str, unit: str) -> int | float:
    """Parse a quantity; cached, as the configurations of a sweep repeat the same few texts."""
    return quantities.parse(text, unit)
