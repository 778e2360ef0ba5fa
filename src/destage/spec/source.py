"""The text of a document, which locates mistakes by line and column."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import yaml

from destage.errors import ConfigError, Issue

_KEY_KINDS = frozenset({"unknown-key", "replicate-axis"})
"""Kinds of mistakes of a key rather than of its value."""

_MOST_LOCATED = 2_000
"""Mistakes that are located; more are those of a wrong file."""


@dataclass(frozen=True)
class Source:
    """The text of a YAML or JSON document that parses.

    Attributes:
        name: The document's name in messages, usually its file.
        within: The dotted path of the part of the document that the places of mistakes begin in.
    """

    name: str
    text: str | bytes
    within: str = ""

    def error(self, issues: Iterable[Issue]) -> ConfigError:
        """Return an error with these mistakes, in the order of the document."""
        listed = list(issues)
        # In a wrong file, each line may be a mistake.
        located = [self.locate(issue) for issue in listed] if len(listed) <= _MOST_LOCATED else listed
        located.sort(key=lambda issue: (issue.line or 0, issue.column or 0, issue.place))
        return ConfigError(located, self.name)

    def locate(self, issue: Issue) -> Issue:
        """Return a mistake with the line and column of its place, or of the table where it is missing."""
        if issue.line is not None or self._root is None:
            return issue
        steps = [*self._split(self.within), *self._split(issue.place)]
        at_key = issue.code.partition(".")[2] in _KEY_KINDS
        node, mark = self._root, self._root.start_mark
        while steps:
            step = _step(node, steps)
            if step is None:
                break
            key, node, steps = step
            mark = key.start_mark if key is not None and (at_key or steps) else node.start_mark
        if not steps and not at_key and (item := _find_item(node, issue.value)) is not None:
            mark = item.start_mark
        return replace(issue, line=mark.line + 1, column=mark.column + 1)

    @staticmethod
    def _split(path: str) -> list[str]:
        return path.split(".") if path else []

    @cached_property
    def _root(self) -> yaml.Node | None:
        try:
            root: yaml.Node | None = yaml.compose(self.text, Loader=yaml.SafeLoader)
        except yaml.YAMLError:
            return None
        return root


def _step(node: yaml.Node, steps: list[str]) -> tuple[yaml.Node | None, yaml.Node, list[str]] | None:
    """Return the key and the value one step further, and the steps that are left.

    A key may have dots, as those of axes: the longest key counts.
    """
    if isinstance(node, yaml.SequenceNode):
        index = int(steps[0]) if steps[0].isdecimal() else len(node.value)
        return (None, node.value[index], steps[1:]) if index < len(node.value) else None
    if not isinstance(node, yaml.MappingNode):
        return None
    pairs = {str(key.value): (key, value) for key, value in _list_pairs(node)}
    for count in range(len(steps), 0, -1):
        pair = pairs.get(".".join(steps[:count]))
        if pair is not None:
            return *pair, steps[count:]
    if steps[0] == "array":
        # `array` also stands for the first of `arrays`.
        return _step(node, ["arrays", "0", *steps[1:]]) if "arrays" in pairs else None
    return None


def _list_pairs(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Yield the keys of a table with their values, those merged into it (`<<`) first."""
    for key, value in node.value:
        if key.tag == "tag:yaml.org,2002:merge":
            tables = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for table in tables:
                if isinstance(table, yaml.MappingNode):
                    yield from _list_pairs(table)
    yield from node.value


def _find_item(node: yaml.Node, value: object) -> yaml.Node | None:
    """Return the item of a list, or of the only list of a table, that a mistake is about."""
    if isinstance(node, yaml.MappingNode) and len(node.value) == 1:
        node = node.value[0][1]
    if value is None or not isinstance(node, yaml.SequenceNode):
        return None
    items = (item for item in node.value if isinstance(item, yaml.ScalarNode))
    return next((item for item in items if item.value == str(value)), None)
