"""A disk as a TOML file, which `--disk` and a configuration take."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from destage.errors import ConfigError, Issue

_TIMES = ("hit_time", "write_time")
"""Null where they equal the command's; without them, a validation would assume others."""


def save(path: Path, disk: Mapping[str, Any]) -> None:
    """Write a disk in base units.

    Raises:
        ConfigError: The file cannot be written.
    """
    try:
        path.write_text(as_toml(disk), encoding="utf-8")
    except OSError as error:
        message = f"cannot be written: {error.strerror}"
        raise ConfigError([Issue("disk.unwritable", "--save", message)], str(path)) from None


def as_toml(disk: Mapping[str, Any]) -> str:
    """Return a disk as TOML, with the times of its buffer; other fields that are null keep their defaults."""
    given = {key: value for key, value in disk.items() if value is not None}
    if buffer := given.get("buffer"):
        times = {key: disk["command_time"] for key in _TIMES if buffer[key] is None}
        given["buffer"] = {**buffer, **times}
    lines = [f"{key} = {_value(value)}" for key, value in given.items() if not isinstance(value, Mapping)]
    for table, fields in given.items():
        if isinstance(fields, Mapping):
            lines += ["", f"[{table}]"]
            lines += [f"{key} = {_value(value)}" for key, value in fields.items() if value is not None]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        fields = (f"{key} = {_value(item)}" for key, item in value.items() if item is not None)
        return f"{{ {', '.join(fields)} }}"
    if isinstance(value, list):
        return "[\n" + "".join(f"  {_value(item)},\n" for item in value) + "]"
    return json.dumps(value)
