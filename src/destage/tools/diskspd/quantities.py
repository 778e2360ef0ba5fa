"""DiskSpd's values: sizes with K, M, G, T and b (blocks), counts, percentages."""

import re
from dataclasses import dataclass

from destage.tools import values
from destage.tools.values import OptionValueError, check_percentage

_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_SIZE = re.compile(r"(\d{1,19})([KMGTb]?)(?:i?B)?", re.IGNORECASE | re.ASCII)
_LARGEST = 2**63
_SECTOR = 512
_ATTACHED = "the value follows the option without a space"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Parser of sizes.

    Attributes:
        block: The unit of the suffix b [bytes].
    """

    block: int = 64 << 10

    def parse(self, text: str) -> int:
        """Return a size [bytes]."""
        match = _SIZE.fullmatch(text)
        if match is None:
            hint = "" if text else f"; {_ATTACHED}"
            raise OptionValueError(f"must be a size such as 8K, 4096 or 1G{hint}")
        suffix = match[2].upper()
        unit = self.block if suffix == "B" else 1024 ** _POWERS[suffix]
        size = int(match[1]) * unit
        if size >= _LARGEST:
            raise OptionValueError("is too large")
        return size

    def parse_aligned(self, text: str) -> int:
        """Return a multiple of a sector [bytes], which may be 0."""
        size = self.parse(text)
        if size % _SECTOR:
            raise OptionValueError(f"is {size} bytes; must be a multiple of {_SECTOR}")
        return size

    def parse_sectors(self, text: str) -> int:
        """Return a positive multiple of a sector [bytes]."""
        size = self.parse_aligned(text)
        if not size:
            raise OptionValueError("must be greater than zero")
        return size


def parse_count(text: str, *, least: int = 0) -> int:
    """Return a whole number of at least `least`, which follows its option without a space."""
    if not text:
        raise OptionValueError(f"must be a whole number; {_ATTACHED}")
    return values.parse_count(text, least=least)


def parse_percentage(text: str) -> int:
    """Return a percentage, 0 to 100."""
    return check_percentage(parse_count(text.removesuffix("%")))
