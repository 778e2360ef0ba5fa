"""Parsers of fio's values: sizes with `kb_base`, times, lists by direction, sizes with shares, distributions.

With fio's default, `kb_base=1024`, the prefixes are swapped: `4k` is 4096 and `4ki` is 4000. With
`kb_base=1000` they follow the standard. Suffixes are case-insensitive.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

from destage.tools.values import ALL, OptionValueError, SizeForm, parse_percentage, switch
from destage.tools.workload_parts import render_bytes, size_of

T = TypeVar("T")
Sizes = tuple[tuple[int, float], ...]
"""Sizes of requests [bytes] with their shares [of 1]."""
BLOCK = 4096
"""fio's default size of requests [bytes]."""
_MOST_SIZES = 1 << 17
_FEWEST_OF_RANGE = 3
_US = 1_000
_S = 10**6 * _US
_UNITS = {"d": 86_400 * _S, "h": 3_600 * _S, "m": 60 * _S, "s": _S, "sec": _S}
NANOSECONDS = {**_UNITS, "ms": 10**3 * _US, "msec": 10**3 * _US, "us": _US, "usec": _US}
"""Suffixes of times in nanoseconds."""
SIZES = SizeForm(
    re.compile(r"(0x[0-9a-f]+|\d+)([kmgtp]?)(i?)b?", re.IGNORECASE | re.ASCII),
    "4k, 64m or 8192; arithmetic and $keywords are not supported",
)
_TIME = re.compile(r"(\d+)([a-z]*)", re.IGNORECASE | re.ASCII)
_LARGEST = 2**63
parse_switch = switch(("1",), ("0",), "0 or 1")


def parse_time(text: str, default: str) -> int:
    """Return a time [ns].

    Args:
        text: A whole number, optionally with the suffix d, h, m, s, ms or us.
        default: The suffix of a number without one.
    """
    match = _TIME.fullmatch(text)
    suffix = match[2].lower() or default if match else ""
    if match is None or suffix not in NANOSECONDS:
        raise OptionValueError(
            f"must be a whole number with {', '.join(NANOSECONDS)}, or without suffix in {default}"
        )
    time = int(match[1]) * NANOSECONDS[suffix]
    if time >= _LARGEST:
        raise OptionValueError("is too large")
    return time


def by_direction(text: str, parse: Callable[[str], T], default: T) -> tuple[T, T]:
    """Return the values for reads and for writes from a list `reads,writes,trims`.

    A single value applies to all directions; an empty part leaves the default.
    """
    parts = text.split(",")
    if len(parts) > 3:  # noqa: PLR2004 - reads, writes, trims
        raise OptionValueError("must have at most three parts: reads, writes and trims")
    read = parse(parts[0]) if parts[0] else default
    if len(parts) == 1:
        return read, read
    return read, parse(parts[1]) if parts[1] else default


def complete_shares(shares: Sequence[int | None]) -> list[float]:
    """Return percentages that add up to 100, of which the missing ones share the rest equally."""
    total = sum(share for share in shares if share is not None)
    blanks = shares.count(None)
    if total > ALL or (total < ALL and not blanks):
        raise OptionValueError(f"has percentages that add up to {total}; they must add up to 100")
    rest = (ALL - total) / blanks if blanks else 0.0
    return [rest if share is None else share for share in shares]


def parse_split(text: str, base: int) -> Sizes:
    """Parse one direction of `bssplit`: `size/percent:size/percent...`."""
    parts = [part.partition("/") for part in text.split(":")]
    sizes = [SIZES.parse_sectors(size, base) for size, _, _ in parts]
    shares = complete_shares([parse_percentage(share) if share else None for _, _, share in parts])
    return tuple((size, share / ALL) for size, share in zip(sizes, shares, strict=True) if share > 0)


def parse_range(text: str, base: int) -> Sizes:
    """Parse one direction of `bsrange`: the multiples of the lower bound up to the upper one.

    fio draws a size from the lower bound to the sum of both, rounds it down to a multiple of the lower bound,
    and then down to the upper bound, so a bound that is not a multiple gets what remains.
    """
    low, dash, high = text.replace(":", "-").partition("-")
    if not dash:
        raise OptionValueError("must have the form lowest-highest")
    least, most = SIZES.parse_sectors(low, base), SIZES.parse_sectors(high, base)
    if most < least:
        raise OptionValueError("must have a highest size that is not below the lowest")
    count = -(-most // least) - 1
    if count > _MOST_SIZES:
        raise OptionValueError(f"has more than {_MOST_SIZES} sizes")
    share = least / most
    return (*((least * number, share) for number in range(1, count + 1)), (most, 1 - count * share))


def describe_sizes(sizes: Sizes) -> dict[str, Any]:
    """Return sizes as a value of `operations.size`."""
    least, share = sizes[0]
    steps = all(other - size == least for (size, _), (other, _) in pairwise(sizes))
    is_even = all(abs(other - share) * len(sizes) < 1e-6 for _, other in sizes)  # noqa: PLR2004 - rounding
    if len(sizes) >= _FEWEST_OF_RANGE and steps and is_even:
        return {"kind": "uniform", "min": render_bytes(least), "max": render_bytes(sizes[-1][0])}
    options = [{"value": render_bytes(size), "weight": round(part * ALL, 9)} for size, part in sizes]
    return size_of(sizes[0][0]) if len(sizes) == 1 else {"kind": "choice", "options": options}


_DEFAULTS = {"zipf": 1.1, "pareto": 0.2, "normal": 0.0}
"""The parameter of each skewed distribution if none is given, as in fio."""
_MOST_DEVIATION, _MOST_THETA = 100, 4


@dataclass(frozen=True, slots=True)
class Distribution:
    """Distribution of a job's random addresses.

    Attributes:
        kind: random, zipf, pareto, normal or zoned.
        parameter: Zipf's theta, the Pareto power, or the deviation [%] of `normal`.
        has_centre: Whether a second number gives the place of the most popular block.
        zones: Share of the accesses and share of the space, zone by zone [%].
        span: The total size of the zones if they are given in bytes.
    """

    kind: str = "random"
    parameter: float = 0.0
    zones: tuple[tuple[float, float], ...] = ()
    span: int | None = None
    has_centre: bool = False

    @property
    def is_skewed(self) -> bool:
        """Whether single blocks differ in popularity."""
        return self.kind in _DEFAULTS


def parse_distribution(text: str, base: int) -> Distribution:
    """Parse `random_distribution`."""
    name, _, rest = text.partition(":")
    if "," in text:
        raise OptionValueError("must be the same for reads and writes")
    if name == "random" and not rest:
        return Distribution()
    if name in _DEFAULTS:
        return _skewed(name, rest)
    if name == "zoned":
        return Distribution("zoned", zones=_zones(rest, parse_percentage, ALL)[0])
    if name == "zoned_abs" or text.startswith("zoned_abs="):
        rest = rest if name == "zoned_abs" else text.removeprefix("zoned_abs=")
        zones, span = _zones(rest, partial(SIZES.parse, base=base), None)
        return Distribution("zoned", zones=zones, span=span)
    raise OptionValueError(
        "must be random, zipf:theta, pareto:power, normal:deviation, zoned:accesses/size:... or "
        "zoned_abs:accesses/size:..."
    )


def _skewed(name: str, rest: str) -> Distribution:
    first, colon, second = rest.partition(":")
    try:
        parameter = float(first) if first else _DEFAULTS[name]
        centre = float(second) if colon else 0.0
    except ValueError:
        raise OptionValueError(f"must be {name}: and one number, or two with a centre") from None
    if not 0 <= centre <= 1:
        raise OptionValueError("must have a centre between 0 and 1")
    # The engine bounds theta, and fio refuses 1.
    is_allowed, allowed = {
        "zipf": (0 < parameter <= _MOST_THETA and parameter != 1, "theta above 0 and up to 4, other than 1"),
        "normal": (0 <= parameter < _MOST_DEVIATION, "deviation of 0 or more and less than 100"),
        "pareto": (0 < parameter < 1, "power between 0 and 1"),
    }[name]
    if not is_allowed:
        raise OptionValueError(f"must have a {allowed}")
    return Distribution(name, parameter, has_centre=bool(colon))


def _zones(
    text: str, parse: Callable[[str], int], whole: int | None
) -> tuple[tuple[tuple[float, float], ...], int]:
    """Return the zones as shares of accesses and of space, and their total size."""
    parts = [part.partition("/") for part in text.split(":")]
    if not all(extent for _, _, extent in parts):
        raise OptionValueError("must have the form accesses/size for each zone, with colons between")
    extents = [parse(extent) for _, _, extent in parts]
    shares = complete_shares([parse_percentage(share) if share else None for share, _, _ in parts])
    span = sum(extents)
    if not span or (whole is not None and span != whole):
        raise OptionValueError(f"has zones that add up to {span} %; they must add up to 100")
    return tuple((share, ALL * size / span) for share, size in zip(shares, extents, strict=True)), span
