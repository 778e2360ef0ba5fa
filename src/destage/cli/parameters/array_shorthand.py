"""Arrays in one word: `raid5x8` is RAID 5 on eight disks."""

import re
from dataclasses import dataclass, replace
from functools import cache

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

    return tuple(one["const"] for one in engine.authoring_schema()["$defs"]["Level"]["oneOf"])


def place_at_option(error: ConfigError, option: str, source: str = "") -> ConfigError:
    """Return an error of a configuration with the option as the place of a wrong number of disks."""
    issues = [replace(issue, place=option) if issue.code == _DISK_COUNT else issue for issue in error.issues]
    return ConfigError(issues, source)
