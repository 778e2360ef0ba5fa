"""Strided zones: fio's `zonemode=strided`."""

from dataclasses import dataclass

from destage.tools.fio.quantities import one_of
from destage.tools.values import OptionValueError


@dataclass(frozen=True, slots=True)
class Zones:
    """The zones of a job [bytes].

    Attributes:
        accessed: Data accessed in a zone before the next follows (`zonesize`).
        extent: Size of a zone (`zonerange`).
        skip: Distance from the end of a zone to the next.
    """

    accessed: int
    extent: int
    skip: int


def parse_mode(text: str) -> str:
    """Parse `zonemode`."""
    if text == "zbd":
        raise OptionValueError("zoned block devices are not simulated; allowed: none, strided")
    return one_of(text, ("none", "strided"))
