"""Navigation of a JSON Schema, and of documents by it: their quantities in base units.

A schema is followed through its references, and to the branch of a choice that a value selects. Destage's
schemas have three forms of choice:

* a *nullable*: `anyOf` of something and null;
* a *tagged union*: `oneOf` of objects, whose property `kind` (or another one) is a different constant each;
* an *outward-tagged union*: `oneOf` of constants and of objects with one key, as in `warm_up: auto |
  {requests: 1000}`.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from destage.errors import ConfigError, Issue
from destage.spec import quantities

Node = dict[str, Any]
"""A schema or a part of one."""


def node(kind: str | Sequence[str], description: str, **keywords: Any) -> Node:
    """Return the schema of a value of a JSON type, or of one of several."""
    return {"description": description, "type": kind, **keywords}


class SchemaTree:
    """A schema to navigate."""

    def __init__(self, root: Node) -> None:
        """Make the tree.

        Args:
            root: The whole schema; must not be changed afterwards.
        """
        self.root = root
        # By the id of a node or of its list of branches, which is kept so that the id is not reused.
        self._followed: dict[int, tuple[Node, Node]] = {}
        self._alternatives: dict[int, tuple[list[Node], list[Node]]] = {}
        self._tags: dict[int, tuple[list[Node], str | None]] = {}

    def follow(self, node: Node) -> Node:
        """Replace a reference by its target; keys beside the reference win."""
        if "$ref" not in node:
            return node
        if id(node) not in self._followed:
            followed = node
            while "$ref" in followed:
                target: Node = self.root
                for step in followed["$ref"].removeprefix("#").strip("/").split("/"):
                    target = target[step] if step else target
                followed = {**target, **{key: value for key, value in followed.items() if key != "$ref"}}
            self._followed[id(node)] = node, followed
        return self._followed[id(node)][1]

    def alternatives(self, node: Node) -> list[Node]:
        """Return the branches of a `oneOf` or `anyOf`, references followed."""
        branches: list[Node] = node.get("oneOf") or node.get("anyOf") or []
        if not branches:
            return branches
        if id(branches) not in self._alternatives:
            self._alternatives[id(branches)] = branches, [self.follow(branch) for branch in branches]
        return self._alternatives[id(branches)][1]

    def words_of(self, node: Node) -> list[str]:
        """Return the texts that a node allows by name."""
        named = [*node.get("enum", ()), *(branch.get("const") for branch in self.alternatives(node))]
        return [word for word in named if isinstance(word, str)]

    def tag_of(self, node: Node) -> str | None:
        """Return the property whose constant distinguishes the branches of a tagged union, if any."""
        branches: list[Node] = node.get("oneOf") or node.get("anyOf") or []
        if id(branches) not in self._tags:
            self._tags[id(branches)] = branches, self._find_tag(node)
        return self._tags[id(branches)][1]

    def _find_tag(self, node: Node) -> str | None:
        objects: list[Node] = [
            branch.get("properties", {}) for branch in self.alternatives(node) if not is_null(branch)
        ]
        if not objects or not all(objects):
            return None
        shared = [
            name
            for name, leaf in objects[0].items()
            if "const" in leaf and all("const" in other.get(name, {}) for other in objects)
        ]
        return shared[0] if shared else None

    def choose(self, node: Node, value: object) -> tuple[int, Node] | None:
        """Return the branch of a choice that a value selects.

        Returns:
            The branch's position and the branch; None if the value selects none.
        """
        branches = self.alternatives(node)
        present = [(index, branch) for index, branch in enumerate(branches) if not is_null(branch)]
        if len(present) == 1:
            return present[0]
        tag = self.tag_of(node)
        for index, branch in present:
            if "const" in branch:
                if branch["const"] == value:
                    return index, branch
            elif isinstance(value, Mapping):
                if tag is not None:
                    if branch["properties"][tag]["const"] == value.get(tag):
                        return index, branch
                elif is_outward_tagged(branch) and branch["required"][0] in value:
                    return index, branch
        return None

    def settle(self, node: Node, value: object) -> Node:
        """Follow references and choices as far as `value` selects branches."""
        node = self.follow(node)
        while self.alternatives(node):
            chosen = self.choose(node, value)
            if chosen is None:
                return node
            node = chosen[1]
        return node


def is_null(node: Node) -> bool:
    """Return whether the node allows only null."""
    return bool(node.get("type") == "null")


def is_outward_tagged(branch: Node) -> bool:
    """Return whether a branch is an object with exactly one key, its tag."""
    return len(branch.get("required", ())) == 1 and list(branch.get("properties", {})) == branch["required"]


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
