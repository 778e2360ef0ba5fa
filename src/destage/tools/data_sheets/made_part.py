"""A part made from the figures of a data sheet, and the file with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from destage.spec import quantities


@dataclass(frozen=True, slots=True)
class MadePart:
    """A part of a configuration, with what the sheet does not say.

    Attributes:
        config: The part, with units.
        assumed: The fields of `config` that the sheet does not give, by dotted path, with the reason of each.
        sheet: The figures of the sheet that the part is compared with.
        is_nvme: Whether it is connected by NVMe.
    """

    config: Mapping[str, Any]
    assumed: Mapping[str, str]
    sheet: Mapping[str, float] = field(default_factory=dict)
    is_nvme: bool = False


def show(value: float, unit: str) -> str:
    """Return a value [base unit] with its unit: a size exactly, everything else in four digits."""
    return quantities.render(int(value if unit == "bytes" else float(f"{value:.4g}")), unit)


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
        *(["    nvme: true"] if part.is_nvme else []),
        "    # What the sheet does not say:",
        "    assumed:",
        *(f"    - {path}  # {reason}" for path, reason in part.assumed.items()),
    ]
    if part.sheet:
        lines += ["    sheet:", *(f"      {name}: {value:.10g}" for name, value in part.sheet.items())]
    lines += ["    config:", *(f"      {key}: {_text(value)}" for key, value in part.config.items())]
    return "\n".join(lines) + "\n"


def _text(value: object) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=1_000)
    return text.removesuffix("\n").removesuffix("\n...")
