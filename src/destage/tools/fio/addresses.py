"""Addresses of a job's requests: sequences, fio's random map and its distributions."""

from typing import NamedTuple

from destage.tools.fio.quantities import Sizes
from destage.tools.fio.settings import Settings
from destage.tools.values import ALL
from destage.tools.workload_parts import Part, render_bytes

_WIDEST = 0.5
"""Greatest width of the uniform part of `normal`, as a share of the file."""


class Address(NamedTuple):
    """Addresses in words and as an address process, and the share of the file that they reach."""

    words: str
    part: Part
    reach: float = 1.0


def has_own_positions(settings: Settings) -> bool:
    """Return whether reads and writes of a mixed job need an address process each."""
    if settings.pattern.is_random and not settings.zone_size:
        is_plain = settings.pattern.modifier is None and settings.random_percentage == ALL
        return not is_plain or settings.alignments[0] != settings.alignments[1]
    return not settings.pattern.is_random and settings.pattern.modifier is None


def describe_address(settings: Settings, reads: float) -> Address:
    """Return the addresses of requests of which `reads` per cent are reads."""
    sizes = _sizes(settings, reads)
    block = min(size for size, _ in sizes)
    if settings.zone_size:
        return _strided_zones(settings, reads)
    modifier = settings.pattern.modifier
    if not settings.pattern.is_random:
        if modifier is None:
            return Address("sequential", {"kind": "sequential"})
        zone, skip = render_bytes(block), render_bytes(modifier)
        words = f"sequential, skipping {skip} after each request"
        return Address(words, {"kind": "strided_zones", "zone": zone, "skip": skip})
    if modifier is not None and modifier > 1:
        words = f"runs of {modifier} sequential requests from random addresses"
        return Address(words, {"kind": "sequential", "run": render_bytes(modifier * block)})
    if settings.random_percentage < ALL:
        jumps = settings.random_percentage / ALL
        share = {"jump_fraction": jumps} if jumps else {}
        words = f"sequential, {jumps:.0%} of the requests jump to a random address"
        return Address(words, {"kind": "sequential", **share})
    return _random(settings, reads)


def _random(settings: Settings, reads: float) -> Address:
    chosen = settings.distribution
    if chosen.is_skewed:
        return _skewed(settings, reads)
    if chosen.kind == "zoned":
        zones = [{"accesses": accesses, "size": size} for accesses, size in chosen.zones]
        return Address("by zones", {"kind": "zoned", "zones": zones})
    words, sampling = _sampling(settings, reads)
    return Address(words, {"kind": "uniform"} | ({} if sampling == "independent" else {"sampling": sampling}))


def _sizes(settings: Settings, reads: float) -> Sizes:
    return (*(settings.sizes[0] if reads else ()), *(settings.sizes[1] if reads < ALL else ()))


def _strided_zones(settings: Settings, reads: float) -> Address:
    accessed, note, skip = settings.zone_size, "", render_bytes(settings.zone_skip)
    extent = settings.zone_range or accessed
    if not settings.pattern.is_random and 0 < settings.read_percentage < ALL:
        share = settings.read_percentage if reads else ALL - settings.read_percentage
        accessed = max(512, accessed * share // ALL // 512 * 512)
        note = ", approximated: reads and writes change zones one without the other"
    part: Part = {"kind": "strided_zones", "zone": render_bytes(extent)}
    if settings.zone_skip:
        part["skip"] = skip
    if accessed != extent:
        part["accessed"] = render_bytes(accessed)
    order = "sequential"
    if settings.pattern.is_random:
        order, part["sampling"] = _sampling(settings, reads)
    words = (
        f"{order} in zones of {render_bytes(extent)}, {skip} apart, "
        f"{render_bytes(settings.zone_size)} in each before the next{note}"
    )
    return Address(words, part)


def _sampling(settings: Settings, reads: float) -> tuple[str, str]:
    """Return how the addresses of a uniformly random job are drawn, in words and as a value of `sampling`."""
    (read, write), sizes = settings.alignments, _sizes(settings, reads)
    units = set(settings.smallest)
    is_mixed = 0 < settings.read_percentage < ALL
    same_order = "uniformly random, every block once per pass, all passes in the same order"
    if settings.generator == "lfsr" and settings.distribution.kind == "random":
        return same_order, "cyclic"
    if not settings.has_map:
        return "uniformly random", "independent"
    if is_mixed and (len(units) > 1 or read != write):
        # fio counts reads and writes in their own units in one map, so they hide each other's blocks.
        words = "approximated: fio's random map mixes the units of reads and writes of different sizes"
        return f"uniformly random, {words}", "independent"
    if settings.is_restarted and len(sizes) == 1:
        return f"{same_order}, as fio restarts its random numbers", "cyclic"
    shared = "; approximated: fio has one map for reads and writes" if is_mixed and reads in {0, ALL} else ""
    return f"uniformly random, no block again before all have come{shared}", "without_replacement"


def _skewed(settings: Settings, reads: float) -> Address:
    """Return a skewed distribution, whose ranks count blocks of the smallest size."""
    chosen = settings.distribution
    smallest = min(settings.smallest)
    block = settings.alignments[1 if reads == 0 else 0] or min(size for size, _ in _sizes(settings, reads))
    is_centred = "; the centre has no effect, as fio scatters the blocks" if chosen.has_centre else ""
    reach = min(1.0, block / smallest)
    if chosen.kind == "zipf":
        words = f"Zipf-distributed over blocks of {render_bytes(block)}"
        part: Part = {"kind": "zipf", "exponent": chosen.parameter, "approximate": True}
    elif chosen.kind == "pareto":
        words = f"{chosen.parameter:g} of the blocks get {1 - chosen.parameter:g} of the accesses"
        part = {"kind": "pareto", "hot_fraction": chosen.parameter}
    else:
        words = f"normally distributed over blocks of {render_bytes(block)}"
        width = min(chosen.parameter / ALL, _WIDEST)
        part = {"kind": "normal"} | ({"width": width} if width else {})
    if reach < 1:
        words += f" in the first {reach:.0%} of the file, as in fio"
    return Address(f"{words}{is_centred}", {**part, "block": render_bytes(block)}, reach)
