"""Every mistake of a configuration at once, each with its path, the value as written, and what is allowed.

The schema validator alone says of a failed union only that nothing matched. Here the union's branch is
picked by what the author evidently meant (its `kind`, its key), and the mistakes inside that branch are
reported instead.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from destage.engine import quantities
from destage.engine.base_units import BaseUnits, join, to_base_units
from destage.engine.schema_tree import Node, SchemaTree, is_null, is_outward_tagged
from destage.errors import Issue

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "boolean": "true or false",
    "array": "a list",
    "object": "a table of fields",
    "null": "null",
}


def report(document: object, schema: Node, prefix: tuple[str, ...] = ()) -> list[Issue]:
    """The mistakes of any document with a schema.

    Args:
        document: What was written, quantities with or without units.
        schema: Its JSON Schema 2020-12.
        prefix: Where the document stands in a larger one; each path starts with it.

    Returns:
        One issue per mistake, by path.
    """
    tree = SchemaTree(schema)
    found = mistakes(to_base_units(document, tree), tree)
    start = ".".join(prefix)
    return [
        Issue(join(start, issue.path) if issue.path else start, issue.value, issue.message) for issue in found
    ]


def mistakes(given: BaseUnits, tree: SchemaTree) -> list[Issue]:
    """The mistakes of a document in base units.

    Args:
        given: The document in base units.
        tree: Its schema.

    Returns:
        One issue per mistake, by path; quantities that could not be read come with them.
    """
    found = list(given.issues)
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - who only reads rows validates nothing

    for error in Draft202012Validator(tree.root).iter_errors(given.value):
        found += [issue for issue in _explain(error, given, tree) if issue.path not in given.unread]
    distinct = {(issue.path, issue.message): issue for issue in found}
    return sorted(distinct.values(), key=lambda issue: issue.path)


def known_part(document: object, tree: SchemaTree) -> object:
    """A document without the keys that its schema does not know, so that the rest can be judged further.

    Args:
        document: The document in base units.
        tree: Its schema.
    """
    return _known_part(document, tree, tree.root)


def nearest(word: object, known: Iterable[str]) -> str:
    """A did-you-mean for a misspelt word.

    Args:
        word: What was written.
        known: What would have been right.

    Returns:
        "; did you mean 'x'?", or nothing where nothing is near.
    """
    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(str(word).lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""


def _known_part(value: object, tree: SchemaTree, node: Node) -> object:
    node = tree.settle(node, value)
    properties = node.get("properties", {})
    if isinstance(value, Mapping) and properties:
        return {
            key: _known_part(item, tree, properties[key]) for key, item in value.items() if key in properties
        }
    if isinstance(value, list) and "items" in node:
        return [_known_part(item, tree, node["items"]) for item in value]
    return value


def _path(error: "ValidationError") -> str:
    path = ""
    for step in error.absolute_path:
        path = join(path, step)
    return path


def _explain(error: "ValidationError", given: BaseUnits, tree: SchemaTree) -> Iterator[Issue]:
    """Turn one error of the schema validator into issues that a person can act on."""
    path, node = _path(error), error.schema
    value: Any = error.instance
    if not isinstance(node, dict):
        yield Issue(path, value, error.message)
    elif error.validator in {"oneOf", "anyOf"}:
        yield from _explain_choice(error, node, given, tree)
    elif error.validator == "additionalProperties":
        known = list(node.get("properties", {}))
        for key in (key for key in value if key not in known):
            meant = nearest(key, known)
            yield Issue(
                join(path, key), value[key], f"is not known here{meant or ';'} known: {', '.join(known)}"
            )
    elif error.validator == "required":
        required: list[str] = node["required"]
        for key in (key for key in required if key not in value):
            yield Issue(
                join(path, key),
                None,
                f"is missing{_meaning(tree.follow(node.get('properties', {}).get(key, {})))}",
            )
    elif error.validator != "type" or "enum" not in node:
        yield Issue(path, given.texts.get(path, value), _allowed(error, node))


def _explain_choice(
    error: "ValidationError", node: Node, given: BaseUnits, tree: SchemaTree
) -> Iterator[Issue]:
    """Report a failed union by the branch that was meant, or by the branches there are."""
    path, value = _path(error), error.instance
    chosen = tree.choose(node, value)
    if chosen is not None:
        for within in error.context or ():
            if within.schema_path[0] == chosen[0]:
                yield from _explain(within, given, tree)
        return
    tag = tree.tag_of(node)
    branches = [branch for branch in tree.alternatives(node) if not is_null(branch)]
    if tag is None:
        constants = [str(branch["const"]) for branch in branches if "const" in branch]
        keys = [branch["required"][0] for branch in branches if is_outward_tagged(branch)]
        forms = ", ".join([*constants, *(f"{{{key}: ...}}" for key in keys)])
        word = next(iter(value), "") if isinstance(value, Mapping) else value
        yield Issue(path, value, f"must be one of {forms}{_hint(word, [*constants, *keys])}")
        return
    tags = [str(branch["properties"][tag]["const"]) for branch in branches]
    if not isinstance(value, Mapping):
        yield Issue(path, value, f"must be a table of fields with `{tag}`, one of {', '.join(tags)}")
    elif tag not in value:
        yield Issue(join(path, tag), None, f"is missing; one of {', '.join(tags)}")
    else:
        yield Issue(
            join(path, tag), value[tag], f"must be one of {', '.join(tags)}{nearest(value[tag], tags)}"
        )


def _hint(value: object, words: list[str]) -> str:
    """What the author probably meant: a word nearby, or the same word as a text."""
    if not isinstance(value, str) and str(value) in words:
        return f"; write it in quotes: {str(value)!r}"
    return nearest(value, words)


def _meaning(node: Node) -> str:
    """What a missing field would say, from the schema's prose."""
    text = str(node.get("description", "")).splitlines()
    return f"; it is needed: {text[0]}" if text else "; it is needed"


def _allowed(error: "ValidationError", node: Node) -> str:
    """What the schema allows where a plain value failed."""
    words = [str(word) for word in node.get("enum", ())]
    count = node.get("minItems")
    sentences = {
        "type": f"must be {_kind(node)}",
        "minItems": f"must have at least {count} {'entry' if count == 1 else 'entries'}",
        "pattern": f"must have the form {node.get('pattern')}",
        "minLength": "must not be empty",
        **dict.fromkeys(
            ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), f"must be {_range(node)}"
        ),
    }
    if error.validator == "enum":
        return f"must be one of {', '.join(words)}{_hint(error.instance, words)}"
    return sentences.get(str(error.validator), error.message)


def _kind(node: Node) -> str:
    """The kind of value that a leaf takes, in words."""
    types = node.get("type", [])
    names = [types] if isinstance(types, str) else list(types)
    unit = quantities.UNITS.get(node.get("x-unit", ""))
    words = [
        f"{unit.phrase} such as {unit.example!r}" if unit and name in {"integer", "number"} else _TYPES[name]
        for name in names
    ]
    return " or ".join(words)


def _range(node: Node) -> str:
    """The bounds of a number, in the unit that people write."""
    unit = node.get("x-unit")

    def text(bound: float) -> str:
        return quantities.render(bound, unit) if unit else f"{bound:g}" if bound % 1 else f"{int(bound)}"

    low, high = node.get("minimum"), node.get("maximum")
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    if low is not None and high is not None:
        return f"between {text(low)} and {text(high)}"
    bounds = [
        f"{words} {text(bound)}"
        for words, bound in (("at least", low), ("more than", above), ("at most", high), ("less than", below))
        if bound is not None
    ]
    return " and ".join(bounds)
