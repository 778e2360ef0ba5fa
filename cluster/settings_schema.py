"""The settings as JSON Schema: what the chart's `values.schema.json` says and what `read_settings` checks."""

import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from destage.cluster.settings import Settings

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    Any: {},
}
OPERATOR = "kuberay-operator"
"""The chart this one may bring along; its values are its own affair."""


def settings_schema() -> dict[str, Any]:
    """Return the schema of the settings, as JSON Schema."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Destage on a cluster",
        **_table(Settings),
    }


def chart_schema() -> dict[str, Any]:
    """Return the schema of the chart's values: the settings, and what Helm and the operator's chart add."""
    schema = settings_schema()
    schema["properties"] |= {
        "global": {"type": "object", "description": "Values that Helm shares between charts."},
        OPERATOR: {
            "type": "object",
            "description": "The KubeRay operator's own chart, and its values.",
            "properties": {
                "enabled": {
                    "type": "boolean",
                    "default": False,
                    "description": "Whether the KubeRay operator is installed along with the sweep.",
                }
            },
        },
    }
    return schema


def camel(name: str) -> str:
    """Return a field's name as YAML has it.

    Args:
        name: The name in snake case.
    """
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def entries(kind: type) -> Iterator[tuple[Field[Any], Any]]:
    """Yield the fields of a class of settings, each with its type.

    Args:
        kind: A dataclass of `settings`.
    """
    hints = get_type_hints(kind)
    for one in fields(kind):
        yield one, hints[one.name]


def item_of(kind: Any) -> Any:
    """Return what a tuple holds, or None for what is no tuple.

    Args:
        kind: The type of a field.
    """
    return get_args(kind)[0] if get_origin(kind) is tuple else None


def default_of(one: Field[Any]) -> Any:
    """Return a field's default as YAML has it; MISSING where something must be given.

    Args:
        one: The field.
    """
    value = one.default if one.default is not MISSING else one.default_factory
    if value is MISSING:
        return MISSING
    return as_values(value() if callable(value) else value)


def as_values(value: Any) -> Any:
    """Return settings as YAML has them.

    Args:
        value: Settings, or a part of them.
    """
    if is_dataclass(value):
        return {camel(one.name): as_values(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple | list):
        return [as_values(each) for each in value]
    return dict(value) if isinstance(value, Mapping) else value


def _table(kind: type) -> dict[str, Any]:
    properties, required = {}, []
    for one, type_ in entries(kind):
        schema = _leaf(type_) | dict(one.metadata["schema"]) | {"description": one.metadata["prose"]}
        default = default_of(one)
        if default is MISSING:
            required.append(camel(one.name))
        elif not is_dataclass(type_):
            schema["default"] = default
        properties[camel(one.name)] = schema
    table: dict[str, Any] = {"type": "object", "additionalProperties": False, "properties": properties}
    return table | ({"required": required} if required else {})


def _leaf(kind: Any) -> dict[str, Any]:
    if isinstance(kind, type) and is_dataclass(kind):
        return _table(kind)
    if (item := item_of(kind)) is not None:
        return {"type": "array", "items": _leaf(item)}
    if get_origin(kind) not in (None, types.UnionType):  # a mapping
        return {"type": "object", "additionalProperties": _leaf(get_args(kind)[1])}
    return dict(_SCALARS[kind])
