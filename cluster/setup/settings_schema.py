"""The JSON Schema of the settings, for the chart's `values.schema.json` and for `read_settings`."""

import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from destage.cluster.setup.cluster_settings import Settings

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    Any: {},
}
UPGRADE, REPLACE = "upgrade", "replaceRunning"
"""The settings that only the chart has, because `submit` replaces no running sweep."""
UPGRADE_SECTION = "What `helm upgrade` may do."
REPLACE_RUNNING = "Let an upgrade to another study end the one that is running."


def build_settings_schema() -> dict[str, Any]:
    """Return the JSON Schema of the settings."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Destage on a cluster",
        **_table_schema(Settings),
    }


def build_chart_schema() -> dict[str, Any]:
    """Return the schema of the chart's values: the settings, Helm's `global` and those of an upgrade."""
    schema = build_settings_schema()
    replace = {"type": "boolean", "default": False, "description": REPLACE_RUNNING}
    schema["properties"] |= {
        "global": {"type": "object", "description": "Values that Helm shares between charts."},
        UPGRADE: {
            "type": "object",
            "additionalProperties": False,
            "description": UPGRADE_SECTION,
            "properties": {REPLACE: replace},
        },
    }
    return schema


def to_camel_case(name: str) -> str:
    """Return the name that YAML uses for a field."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def list_fields(kind: type) -> Iterator[tuple[Field[Any], Any]]:
    """Yield the fields of a dataclass of `settings`, each with its type."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        yield field, hints[field.name]


def find_item_type(kind: Any) -> Any:
    """Return the item type of a tuple type, or None for any other type."""
    return get_args(kind)[0] if get_origin(kind) is tuple else None


def find_default(field: Field[Any]) -> Any:
    """Return a field's default as in YAML; MISSING if the setting is required."""
    value = field.default if field.default is not MISSING else field.default_factory
    if value is MISSING:
        return MISSING
    return as_values(value() if callable(value) else value)


def as_values(value: Any) -> Any:
    """Return settings, or a part of them, as in YAML."""
    if is_dataclass(value):
        return {to_camel_case(field.name): as_values(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple | list):
        return [as_values(each) for each in value]
    return dict(value) if isinstance(value, Mapping) else value


def _table_schema(kind: type) -> dict[str, Any]:
    properties, required = {}, []
    for field, type_ in list_fields(kind):
        name = to_camel_case(field.name)
        metadata = field.metadata
        schema = _type_schema(type_) | dict(metadata["schema"]) | {"description": metadata["description"]}
        default = find_default(field)
        if default is MISSING:
            required.append(name)
        elif not is_dataclass(type_):
            schema["default"] = default
        properties[name] = schema
    table: dict[str, Any] = {"type": "object", "additionalProperties": False, "properties": properties}
    return table | ({"required": required} if required else {})


def _type_schema(kind: Any) -> dict[str, Any]:
    if isinstance(kind, type) and is_dataclass(kind):
        return _table_schema(kind)
    if (item := find_item_type(kind)) is not None:
        return {"type": "array", "items": _type_schema(item)}
    if get_origin(kind) not in (None, types.UnionType):  # a mapping
        return {"type": "object", "additionalProperties": _type_schema(get_args(kind)[1])}
    return dict(_SCALARS[kind])
