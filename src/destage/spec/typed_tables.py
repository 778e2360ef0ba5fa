"""Tables of a document as classes: each key once, with its type, default, bounds and description.

    @table
    class Refinement:
        "Add values of an axis around the knee of each curve."

        axis: str = key("The axis along the curve.")
        rounds: int = key("How many times values are added.", minimum=1, default=2)

`table_schema` makes its JSON Schema, by which a document is validated, and `read_table` makes the object of a
table that fits the schema. A field without `key` is not in the document: the reader computes it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, dataclass_transform, get_args, get_origin, get_type_hints

from destage.spec.schema_tree import Node

Table = TypeVar("Table")
_KEY = "key"
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a table.

    Attributes:
        field: The field of its value.
        name: Its name in the document.
        is_inline: Whether the keys of its table stand beside it instead of within it.
        schema: What its JSON Schema has beside that of its type.
    """

    field: str
    name: str
    type: Any
    is_required: bool
    is_inline: bool
    schema: Node


def key(
    description: str = "",
    *,
    name: str = "",
    default: Any = MISSING,
    factory: Callable[[], Any] | None = None,
    optional: bool = False,
    inline: bool = False,
    shown: object = None,
    **schema: Any,
) -> Any:
    """Make a field that is a key of the document.

    Args:
        description: What it is (default: the docstring of its type).
        name: Its name in the document (default: that of the field).
        optional: Whether the document may lack it though the field has no default: the reader knows one.
        inline: Whether the keys of its table stand beside it instead of within it.
        shown: The default as a document has it (default: that of the field, if it is a plain value).
        schema: Keywords of JSON Schema, which win over those of the type.
    """
    head = {"description": description} if description else {}
    plain = next(({"default": value} for value in (shown, default) if _is_plain(value)), {})
    metadata = {_KEY: (name, optional, inline, head | schema | plain)}
    if factory is not None:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(key, field))
def table(kind: type[Table]) -> type[Table]:
    """Make a class a table."""
    return dataclass(frozen=True, slots=True, kw_only=True)(kind)


@cache
def list_keys(kind: Any) -> tuple[Key, ...]:
    """Return the keys of a table in the order of its fields."""
    hints = get_type_hints(kind, include_extras=True)
    keys = []
    for declared in fields(kind):
        if _KEY in declared.metadata:
            name, optional, inline, schema = declared.metadata[_KEY]
            has_default = declared.default is not MISSING or declared.default_factory is not MISSING
            required = not (optional or has_default)
            keys.append(
                Key(declared.name, name or declared.name, hints[declared.name], required, inline, schema)
            )
    return tuple(keys)


def table_schema(kind: type) -> Node:
    """Return the JSON Schema of a table."""
    properties: dict[str, Node] = {}
    for entry in list_keys(kind):
        inner = table_schema(entry.type)["properties"] if entry.is_inline else None
        properties |= inner or {entry.name: _value_schema(entry.type, entry.schema)}
    required = [entry.name for entry in list_keys(kind) if entry.is_required]
    return {
        "description": (kind.__doc__ or "").partition("\n")[0],
        "type": "object",
        "additionalProperties": False,
        **({"required": required} if required else {}),
        "properties": properties,
    }


def read_table(kind: type[Table], written: Mapping[str, Any], **given: Any) -> Table:
    """Return the object of a table that fits the schema.

    Args:
        given: Fields whose values are not as they are written.
    """
    for entry in list_keys(kind):  # type: ignore[arg-type]
        if entry.field in given:
            continue
        if entry.is_inline:
            given[entry.field] = read_table(entry.type, written)
        elif entry.name in written:
            given[entry.field] = _read_value(written[entry.name], entry.type)
    return kind(**given)


def _is_plain(default: object) -> bool:
    is_scalar = isinstance(default, bool | int | float | str)
    return is_scalar and not (isinstance(default, float) and math.isinf(default))


def _is_table(kind: Any) -> bool:
    return isinstance(kind, type) and is_dataclass(kind) and bool(list_keys(kind))


def _value_schema(kind: Any, own: Node) -> Node:
    """Return the schema of a value: that of its type with its own keywords, the default last."""
    of_type = {} if "type" in own and not _is_table(kind) else _type_schema(kind)
    merged = of_type | own
    names = dict.fromkeys(["description", "type", *own, *of_type])
    return {name: merged[name] for name in names if name in merged}


def _type_schema(kind: Any) -> Node:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _value_schema(*arguments)
    if origin in {Union, UnionType}:
        parts = [_type_schema(argument) for argument in arguments if argument is not NoneType]
        merged = {name: value for part in parts for name, value in part.items()}
        return merged if len(parts) == 1 else merged | {"type": [part["type"] for part in parts]}
    if origin is tuple:
        items = _type_schema(arguments[0])
        count = {} if Ellipsis in arguments else {"minItems": len(arguments), "maxItems": len(arguments)}
        return {"type": "array", **count, **({"items": items} if items else {})}
    if origin is Mapping:
        values = _type_schema(arguments[1])
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if _is_table(kind):
        return table_schema(kind)
    return {"type": _TYPES[kind]} if kind in _TYPES else {}


def _read_value(value: Any, kind: Any) -> Any:
    """Return a value of a document that fits the schema of a type as a value of the type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _read_value(value, arguments[0])
    if origin in {Union, UnionType}:
        kinds = [argument for argument in arguments if argument is not NoneType]
        return _read_value(value, kinds[0]) if len(kinds) == 1 else value
    if origin is tuple:
        return tuple(_read_value(item, arguments[0]) for item in value)
    if origin is Mapping:
        return {name: _read_value(item, arguments[1]) for name, item in value.items()}
    if _is_table(kind):
        return read_table(kind, value)
    # JSON Schema takes 100.0 for a whole number.
    return kind(value) if kind in {int, float} else value
