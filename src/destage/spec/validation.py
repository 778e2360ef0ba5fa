"""Validation of documents: all mistakes at once, each with code, place, value, and what is allowed.

The schema validator only reports that no branch of a union matched. This module chooses the branch by its tag
(`kind`, or its only key) and reports the mistakes in that branch.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from destage.errors import Issue
from destage.spec import quantities
from destage.spec.near_names import suggest
from destage.spec.schema_tree import (
    BaseUnits,
    Node,
    SchemaTree,
    is_null,
    is_outward_tagged,
    join,
    to_base_units,
)

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "string": "a string",
    "boolean": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "null",
}

GENERIC_KINDS = (
    *("bad-form", "bad-quantity", "bad-syntax", "duplicate-key", "empty", "missing-key"),
    *("out-of-range", "too-few", "too-large", "unknown-key", "unknown-name", "wrong-type"),
)
"""Kinds of mistakes in any document; a code is the namespace of the document and a kind."""

_KINDS = {
    "enum": "unknown-name",
    "const": "unknown-name",
    **dict.fromkeys(("minItems", "minProperties"), "too-few"),
    "minLength": "empty",
    **dict.fromkeys(("format", "pattern"), "bad-form"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), "out-of-range"),
    **dict.fromkeys(("maxItems", "maxProperties"), "out-of-range"),
}
"""The code of a mistake by the schema keyword that failed."""


def validate_document(document: object, schema: Node, namespace: str) -> list[Issue]:
    """Validate a document whose quantities may have units.

    Returns:
        One issue per mistake, by place.
    """
    tree = SchemaTree(schema)
    return find_mistakes(to_base_units(document, tree, namespace), tree)


def find_mistakes(given: BaseUnits, tree: SchemaTree) -> list[Issue]:
    """Validate a document in base units.

    Returns:
        One issue per mistake, by place, including quantities that could not be parsed.
    """
    issues = list(given.issues)
    from jsonschema import Draft202012Validator, FormatChecker  # noqa: PLC0415 - takes long to load, and reading rows needs no validation

    for error in Draft202012Validator(tree.root, format_checker=FormatChecker(["date"])).iter_errors(
        given.value
    ):
        issues += [issue for issue in _explain(error, given, tree) if issue.place not in given.unparsed]
    distinct = {(issue.place, issue.message): issue for issue in issues}
    return sorted(distinct.values(), key=lambda issue: issue.place)


def keep_known_keys(document: object, tree: SchemaTree) -> object:
    """Remove the keys that the schema does not define, so that the rest can be validated further."""
    return _keep_known_keys(document, tree, tree.root)


def _keep_known_keys(value: object, tree: SchemaTree, node: Node) -> object:
    node = tree.settle(node, value)
    properties = node.get("properties", {})
    if isinstance(value, Mapping) and properties:
        return {
            key: _keep_known_keys(item, tree, properties[key])
            for key, item in value.items()
            if key in properties
        }
    if isinstance(value, list) and "items" in node:
        return [_keep_known_keys(item, tree, node["items"]) for item in value]
    return value


def _path(error: "ValidationError") -> str:
    path = ""
    for step in error.absolute_path:
        path = join(path, step)
    return path


def _explain(error: "ValidationError", given: BaseUnits, tree: SchemaTree) -> Iterator[Issue]:
    """Translate one error of the schema validator into issues."""

    def issue(kind: str, place: str, message: str, given_value: object) -> Issue:
        return Issue(f"{given.namespace}.{kind}", place, message, given_value)

    path, node = _path(error), error.schema
    value: Any = error.instance
    if not isinstance(node, dict):
        yield issue("wrong-type", path, error.message, value)
    elif error.validator in {"oneOf", "anyOf"}:
        yield from _explain_choice(error, node, given, tree)
    elif error.validator == "additionalProperties":
        allowed = list(node.get("properties", {}))
        for key in (key for key in value if key not in allowed):
            meant = suggest(key, allowed)
            message = f"unknown key{meant}; allowed: {', '.join(allowed)}"
            yield issue("unknown-key", join(path, key), message, value[key])
    elif error.validator == "required":
        required: list[str] = node["required"]
        for key in (key for key in required if key not in value):
            meaning = _describe(tree.follow(node.get("properties", {}).get(key, {})))
            yield issue("missing-key", join(path, key), f"missing{meaning}", None)
    elif error.validator != "type" or "enum" not in node:
        yield issue(
            _KINDS.get(str(error.validator), "wrong-type"),
            path,
            _describe_allowed(error, node),
            given.texts.get(path, value),
        )


def _explain_choice(
    error: "ValidationError", node: Node, given: BaseUnits, tree: SchemaTree
) -> Iterator[Issue]:
    """Report the mistakes of the branch that the tag selects, or list the branches if it selects none."""
    namespace = given.namespace
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
        message = f"must be one of {forms}{_hint(word, [*constants, *keys])}"
        yield Issue(f"{namespace}.unknown-name", path, message, value)
        return
    tags = [str(branch["properties"][tag]["const"]) for branch in branches]
    if not isinstance(value, Mapping):
        message = f"must be a table with `{tag}`, one of {', '.join(tags)}"
        yield Issue(f"{namespace}.wrong-type", path, message, value)
    elif tag not in value:
        yield Issue(f"{namespace}.missing-key", join(path, tag), f"missing; one of {', '.join(tags)}")
    else:
        message = f"must be one of {', '.join(tags)}{suggest(value[tag], tags)}"
        yield Issue(f"{namespace}.unknown-name", join(path, tag), message, value[tag])


def _hint(value: object, words: list[str]) -> str:
    """Suggest a similar word, or quotes if YAML parsed the word as another type."""
    if not isinstance(value, str) and str(value) in words:
        return f"; write it in quotes: {str(value)!r}"
    return suggest(value, words)


def _describe(node: Node) -> str:
    """Return the schema's description of a missing field."""
    text = str(node.get("description", "")).splitlines()
    return f": {text[0]}" if text else ""


def _describe_allowed(error: "ValidationError", node: Node) -> str:
    """Describe what the schema allows for a plain value."""
    words = [str(word) for word in node.get("enum", ())]
    count = f"{error.validator_value} {'entry' if error.validator_value == 1 else 'entries'}"
    sentences = {
        "type": f"must be {_describe_type(node)}",
        **dict.fromkeys(("minItems", "minProperties"), f"must have at least {count}"),
        **dict.fromkeys(("maxItems", "maxProperties"), f"must have at most {count}"),
        "pattern": f"must have the form {node.get('pattern')}",
        "format": "must be an ISO date such as 2026-11-23",
        "minLength": "must not be empty",
        **dict.fromkeys(
            ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), f"must be {_describe_range(node)}"
        ),
    }
    if error.validator == "enum":
        return f"must be one of {', '.join(words)}{_hint(error.instance, words)}"
    return sentences.get(str(error.validator), error.message)


def _describe_type(node: Node) -> str:
    """Describe the type of value that a leaf accepts."""
    types = node.get("type", [])
    names = [types] if isinstance(types, str) else list(types)
    unit = quantities.UNITS.get(node.get("x-unit", ""))
    words = [
        f"{unit.phrase} such as {unit.example!r}" if unit and name in {"integer", "number"} else _TYPES[name]
        for name in names
    ]
    return " or ".join(words)


def _describe_range(node: Node) -> str:
    """Describe the bounds of a number, with its unit."""
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
