"""Options that build a study: parts of the catalogue, lists, quantities, arrays in one word.

`raid5x8` is RAID 5 on eight disks.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from destage.cli.parameters.shared_options import translate_places
from destage.errors import ConfigError, UsageError

_FORM = re.compile(r"raid-?([0-9+]+)x([0-9]+)", re.IGNORECASE)
_DISK_COUNT = "scenario.raid-disk-count"


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """A RAID level, as in a scenario, and a number of disks."""

    raid: str
    disks: int


def parse_array(text: str, option: str) -> ArrayShape:
    """Return the array that an option gives.

    Raises:
        UsageError: It does not have the form, or the RAID level is unknown.
    """
    match = _FORM.fullmatch(text.strip())
    levels = list_levels()
    level = match[1].replace("+", "") if match else ""
    if match is None or level not in levels or not int(match[2]):
        message = f"{text!r}: must have the form raidLEVELxDISKS, as in raid5x8; levels: {', '.join(levels)}"
        raise UsageError("usage.bad-array", message, option, {"levels": list(levels)})
    return ArrayShape(level, int(match[2]))


@cache
def list_levels() -> tuple[str, ...]:
    """Return the RAID levels that a scenario may have."""
    from destage import engine

    return tuple(level["const"] for level in engine.authoring_schema()["$defs"]["Level"]["oneOf"])


def place_at_option(error: ConfigError, option: str) -> ConfigError:
    """Return an error of a configuration with the option as the place of a wrong number of disks."""
    issues = [replace(issue, place=option) if issue.code == _DISK_COUNT else issue for issue in error.issues]
    return ConfigError(issues)


Part = Literal["workload", "controller", "disk"]


def list_names(part: Part) -> list[str]:
    """Return the entries of the catalogue that an option of this name may give."""
    from destage.engine import catalog

    kind: Any = f"{part}s"
    return [entry.name for entry in catalog.entries(kind)]


def check_entry(part: Part, name: str) -> None:
    """Reject a name that is not in the catalogue."""
    from destage.spec.near_names import suggest

    names = list_names(part)
    if name not in names:
        message = (
            f"no {part} is named {name!r}{suggest(name, names)}; `destage catalog list {part}s` lists all"
        )
        raise UsageError("usage.unknown-name", message, f"--{part}")


def split_list(text: str | None) -> list[str]:
    """Return the parts of an option with commas between them."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def check_sizes(text: str) -> list[str]:
    """Return the sizes that `--cache` gives; only 0 needs no unit."""
    sizes = split_list(text)
    for size in sizes:
        if size != "0":
            check_quantity(size, "bytes", "--cache")
    return sizes


def check_quantity(text: str, unit: Any, option: str) -> None:
    """Reject a quantity without its unit, or of another kind."""
    from destage.spec import quantities

    with translate_places({"": option}):
        quantities.parse(text, unit)
    try:
        float(text)
    except ValueError:
        return
    message = f"{text}: needs a unit, as in {quantities.UNITS[unit].example}"
    raise UsageError("usage.bad-quantity", message, option)
