"""Navigation of a JSON Schema: references, and the branch of a choice that a value selects.

Destage's schemas have three forms of choice:

* a *nullable*: `anyOf` of something and null;
* a *tagged union*: `oneOf` of objects, whose property `kind` (or another one) is a different constant each;
* an *outward-tagged union*: `oneOf` of constants and of objects with one key, as in `warm_up: auto |
  {requests: 1000}`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

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
