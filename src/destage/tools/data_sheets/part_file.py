"""A file with a part that is made from a data sheet."""

from collections.abc import Mapping
from typing import Any

import yaml

from destage.tools.data_sheets.made_part import MadePart

_WIDTH = 110


def write_part(kind: str, name: str, part: MadePart, title: str, source: str, given: str) -> str:
    """Return the YAML text of a part, with what is assumed and why.

    Args:
        kind: `disks` or `controllers`.
        given: The figures of the sheet as they were given.
    """
    lines = [
        "# A part of your own, for --catalog, $DESTAGE_CATALOG or `catalog:` in a configuration.",
        f"# Made from: {given}",
        "# Edit it as you like; `destage catalog check` compares it with its sheet.",
        f"{kind}:",
        f"  {name}:",
        f"    title: {_text(title)}",
        f"    source: {_text(source)}",
        "    # What the sheet does not say:",
        "    assumed:",
        *(f"    - {path}  # {reason}" for path, reason in part.assumed.items()),
    ]
    if part.sheet:
        lines += ["    sheet:", *(f"      {name}: {value:.10g}" for name, value in part.sheet.items())]
    lines += ["    config:", *_list_fields(part.config, 6)]
    return "\n".join(lines) + "\n"


def _list_fields(fields: Mapping[str, Any], indent: int) -> list[str]:
    """Return the lines of a table; tables in it are in one line each."""
    return [f"{' ' * indent}{key}: {_text(value)}" for key, value in fields.items()]


def _text(value: object) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=1_000)
    return text.removesuffix("\n").removesuffix("\n...")
