"""The settings of a cluster as the values of the Helm chart, and their JSON Schema.

Values files and `--set` options are read as YAML, merged as Helm does, validated and turned into settings.
The schema is that of the chart's `values.schema.json`, too.
"""

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from destage.cluster.setup.cluster_settings import Settings, find_store_issues
from destage.errors import ConfigError, Issue

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
        return [as_values(item) for item in value]
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


def merge_settings(files: Sequence[Path], options: Sequence[str], overrides: Mapping[str, Any]) -> Settings:
    """Return the settings of values files, `--set` options and overrides; later ones take precedence.

    The value of an option is YAML, but a number or a date stays text if the setting is text.
    """
    values: Any = as_values(Settings())
    for path in files:
        values = _merge(values, _read_values(path))
    for option in options:
        path_text, separator, value = option.partition("=")
        if not separator or not path_text:
            raise _option_error("settings.bad-option", option, "write it as PATH=VALUE")
        steps = path_text.split(".")
        values = _set_value(values, steps, _parse_value(steps, value.strip(), option), option)
    return read_settings(_merge(values, overrides))


def read_settings(values: Mapping[str, Any]) -> Settings:
    """Return settings from values in the chart's format; a missing value takes its default.

    Raises:
        ConfigError: Some values are not allowed; it has an issue for each.
    """
    from destage.spec.validation import validate_document  # noqa: PLC0415 - not needed in pods

    given = {name: value for name, value in values.items() if name not in (UPGRADE, "global")}
    issues = validate_document(given, build_settings_schema(), "settings")
    if not issues:
        settings: Settings = _build(Settings, given)
        issues = list(_find_issues(settings))
        if not issues:
            return settings
    raise ConfigError(issues)


def _read_values(path: Path) -> dict[str, Any]:
    from destage.spec.documents import MOST_BYTES, parse_document, read_beginning  # noqa: PLC0415 - not needed in pods

    try:
        values = parse_document(read_beginning(path, MOST_BYTES), str(path), "settings")
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise ConfigError([Issue("settings.unreadable", "", message)], str(path)) from error
    if values is not None and not isinstance(values, dict):
        raise ConfigError([Issue("settings.wrong-type", "", "must be a table of settings")], str(path))
    return values or {}


def _option_error(code: str, option: str, message: str) -> ConfigError:
    return ConfigError([Issue(code, f"--set {option}", message)])


def _parse_value(steps: Sequence[str], value: str, option: str) -> Any:
    from destage.spec.documents import parse_document  # noqa: PLC0415 - not needed in pods

    parsed = parse_document(value, f"--set {option}", "settings")
    is_scalar = isinstance(parsed, bool | int | float | date) or not value
    return value if is_scalar and _takes_text(steps) else parsed


def _takes_text(steps: Sequence[str]) -> bool:
    """Return whether the setting at a path can be text."""
    schema = build_settings_schema()
    for step in steps:
        property_schema = schema.get("properties", {}).get(step)
        schema = property_schema or schema.get("items") or schema.get("additionalProperties") or {}
    return "string" in schema.get("type", ())


def _merge(values: Any, later: Any) -> Any:
    """Merge tables recursively; anything else is replaced."""
    if isinstance(values, Mapping) and isinstance(later, Mapping):
        return {**values, **{name: _merge(values.get(name), value) for name, value in later.items()}}
    return later


def _set_value(values: Any, steps: Sequence[str], value: Any, option: str) -> Any:
    """Return values with one setting replaced; a number in the path is an index of an existing list item."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(values, list) or (values is None and step.isdigit()):
        values = values or []
        if not step.isdigit() or int(step) >= len(values):
            message = f"no item {step!r} in a list of {len(values)}; give the whole list in a values file"
            raise _option_error("settings.no-such-item", option, message)
        return [
            _set_value(item, rest, value, option) if index == int(step) else item
            for index, item in enumerate(values)
        ]
    table = values if isinstance(values, Mapping) else {}
    return {**table, step: _set_value(table.get(step), rest, value, option)}


def _build(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        given = {
            field.name: _build(type_, value[to_camel_case(field.name)])
            for field, type_ in list_fields(kind)
            if to_camel_case(field.name) in value
        }
        return kind(**given)
    if (item := find_item_type(kind)) is not None:
        return tuple(_build(item, element) for element in value)
    return str(value) if kind is str else value  # a quantity may be a number: `cpu: 2`


def _find_issues(settings: Settings) -> Iterator[Issue]:
    """Yield conflicts between settings; `_refusals.tpl` of the chart has the same codes and messages."""
    sweep = settings.sweep
    names = [
        f"sweep.{to_camel_case(name)}" for name in ("spec", "config_map", "study") if getattr(sweep, name)
    ]
    if settings.mode == "job" and len(names) != 1:
        message = (
            "mode job needs exactly one of sweep.spec, sweep.configMap, sweep.study; "
            f"given: {' and '.join(names) or 'none'}"
        )
        yield Issue("settings.not-one-study", "sweep", message)
    if settings.mode == "cluster" and names:
        message = "mode cluster takes no study: leave sweep empty and submit studies to the cluster"
        yield Issue("settings.study-in-cluster-mode", "sweep", message)
    yield from find_store_issues(settings)
    groups = [group.name for group in settings.workers]
    if len(set(groups)) != len(groups):
        message = f"group names must be unique; given: {', '.join(groups)}"
        yield Issue("settings.duplicate-group", "workers", message)
    for index, group in enumerate(settings.workers):
        most = group.max_replicas or group.replicas
        if not group.min_replicas <= group.replicas <= most:
            message = (
                f"{group.replicas} is not between minReplicas ({group.min_replicas}) and maxReplicas ({most})"
            )
            yield Issue("settings.replicas-out-of-bounds", f"workers.{index}.replicas", message)
