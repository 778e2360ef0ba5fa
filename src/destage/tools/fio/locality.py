"""Address distribution of random requests: fio's `random_distribution`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from destage.tools.fio.quantities import complete_shares, parse_size
from destage.tools.values import ALL, OptionValueError, parse_percentage

_DEFAULTS = {"zipf": 1.1, "pareto": 0.2, "normal": 0.0}
"""The parameter of each skewed distribution if none is given, as in fio."""
_MOST_DEVIATION = 100


@dataclass(frozen=True, slots=True)
class Distribution:
    """Distribution of a job's random addresses.

    Attributes:
        kind: `random`, `zipf`, `pareto`, `normal` or `zoned`.
        parameter: Zipf's theta, the Pareto power, or the deviation [%] of `normal`.
        has_centre: Whether a second number gives the place of the most popular block.
        zones: Share of the accesses and share of the space, zone by zone [%].
        span: The total size of the zones if they are given in bytes.
    """

    kind: Literal["random", "zipf", "pareto", "normal", "zoned"] = "random"
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
        zones, span = _zones(rest, partial(parse_size, base=base), None)
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
    if name == "zipf":
        if not 0 < parameter <= 4 or parameter == 1:  # noqa: PLR2004 - the engine's bound; fio refuses 1
            raise OptionValueError("must have a theta above 0 and up to 4, other than 1")
        return Distribution("zipf", parameter, has_centre=bool(colon))
    if name == "normal":
        if not 0 <= parameter < _MOST_DEVIATION:
            raise OptionValueError("must have a deviation of 0 or more and less than 100")
        return Distribution("normal", parameter, has_centre=bool(colon))
    if not 0 < parameter < 1:
        raise OptionValueError("must have a power between 0 and 1")
    return Distribution("pareto", parameter, has_centre=bool(colon))


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
