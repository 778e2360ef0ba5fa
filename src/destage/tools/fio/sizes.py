"""Sizes of requests with their shares: fio's `bssplit` and `bsrange`."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from destage.tools.fio.quantities import parse_shares
from destage.tools.values import OptionValueError
from destage.tools.workload_parts import render_bytes

Sizes = tuple[tuple[int, float], ...]
"""Sizes of requests [bytes] with their shares [of 1]."""
BLOCK = 4096
"""fio's default size of requests [bytes]."""
_MOST_SIZES = 1 << 17
_FEWEST_OF_RANGE = 3


def parse_split(text: str, sectors: Callable[[str], int]) -> Sizes:
    """Parse one direction of `bssplit`."""
    return tuple(parse_shares(text, sectors))


def parse_range(text: str, sectors: Callable[[str], int]) -> Sizes:
    """Parse one direction of `bsrange`: the multiples of the lower bound up to the upper one.

    fio draws a size from the lower bound to the sum of both, rounds it down to a multiple of the lower bound,
    and then down to the upper bound, so a bound that is not a multiple gets what remains.
    """
    low, dash, high = text.replace(":", "-").partition("-")
    if not dash:
        raise OptionValueError("must have the form lowest-highest")
    least, most = sectors(low), sectors(high)
    if most < least:
        raise OptionValueError("must have a highest size that is not below the lowest")
    count = -(-most // least) - 1
    if count > _MOST_SIZES:
        raise OptionValueError(f"has more than {_MOST_SIZES} sizes")
    share = least / most
    return (*((least * number, share) for number in range(1, count + 1)), (most, 1 - count * share))


def describe_sizes(sizes: Sizes) -> dict[str, Any]:
    """Return sizes as a value of `operations.size`."""
    if len(sizes) == 1:
        return {"kind": "constant", "value": render_bytes(sizes[0][0])}
    if _is_range(sizes):
        return {"kind": "uniform", "min": render_bytes(sizes[0][0]), "max": render_bytes(sizes[-1][0])}
    options = [{"value": render_bytes(size), "weight": round(share * 100, 9)} for size, share in sizes]
    return {"kind": "choice", "options": options}


def _is_range(sizes: Sequence[tuple[int, float]]) -> bool:
    """Return whether they are successive multiples of the first, equally likely."""
    least, share = sizes[0]
    steps = all(other - size == least for (size, _), (other, _) in pairwise(sizes))
    is_even = all(abs(other - share) * len(sizes) < 1e-6 for _, other in sizes)  # noqa: PLR2004 - rounding
    return len(sizes) >= _FEWEST_OF_RANGE and steps and is_even
