"""Requests of a Vdbench workload (WD) on its storages: the components of a mix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from destage.spec import quantities
from destage.tools.options import OptionReader
from destage.tools.values import ALL, SECTOR, OptionValueError
from destage.tools.vdbench import keywords
from destage.tools.vdbench.keywords import SIZES, parse_percentage
from destage.tools.vdbench.parameter_file import Settings
from destage.tools.vdbench.storages import OpenFlags, Storage, read_range
from destage.tools.workload_parts import Part, contiguous, operations_of, render_bytes, share, size_of

_DEFAULT_SIZE = 4_096
_MOST_SIZES = 1_024
_MINMAX, _THREE = 2, 3


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of a workload in one test.

    Attributes:
        sizes: Weights of the request sizes [bytes].
        reads: Share of reads [%].
        seeks: Share of the requests with a random address [%].
        read_hits: Share of the reads that go to the hit area [%].
        write_hits: Share of the writes that go to the hit area [%].
        hit_area: Its size, if the test sets one [bytes].
        gap: Distance from the end of a request to the next one, instead of a random address [bytes].
    """

    sizes: Mapping[int, float]
    reads: float = 100.0
    seeks: float = 100.0
    read_hits: float = 0.0
    write_hits: float = 0.0
    hit_area: int | None = None
    gap: int | None = None


def read_requests(workload: Settings, chosen: Mapping[str, str], reader: OptionReader) -> Requests:
    """Return the requests of a workload.

    Args:
        chosen: The values of the run's loops by keyword, which override those of the workload.
    """
    reads = workload.get("rdpct readpct", 100.0, reader)
    writes = workload.get("writepct wrpct", None, reader)
    stride = workload.parameters.get("stride")
    requests = Requests(
        sizes=workload.get_all("xfersize", _parse_sizes, {_DEFAULT_SIZE: 100.0}, reader),
        reads=reads if writes is None else ALL - writes,
        seeks=workload.get("seekpct", 100.0, reader),
        read_hits=workload.get("rhpct", 0.0, reader),
        write_hits=workload.get("whpct", 0.0, reader),
        gap=workload.get_all("stride", _parse_stride, None, reader),
    )
    changes: dict[str, Any] = {
        field: keywords.parse(key, chosen[key]) for key, field in _LOOPED.items() if key in chosen
    }
    if "sizes" in changes:
        changes["sizes"] = {changes["sizes"]: 100.0}
    overridden = replace(requests, **changes)
    if stride is not None and overridden.seeks and (overridden.seeks < ALL or len(overridden.sizes) > 1):
        message = "is simulated with seekpct=100 and one xfersize only"
        reader.issues.append(stride.issue("import.bad-value", message))
    return overridden


_LOOPED = {
    "xfersize": "sizes",
    "rdpct": "reads",
    "seekpct": "seeks",
    "rhpct": "read_hits",
    "whpct": "write_hits",
    "hitarea": "hit_area",
}
"""The fields that the loops of a run set."""


def _parse_sizes(texts: Sequence[str]) -> dict[int, float]:
    if len(texts) == 1:
        return {SIZES.parse_sectors(texts[0]): 100.0}
    if len(texts) == _THREE:
        low, high, step = map(SIZES.parse_sectors, texts)
        sizes = range(low, high + 1, step)
        if low >= high or len(sizes) > _MOST_SIZES:
            raise OptionValueError(f"must be (min,max,align) with min below max, up to {_MOST_SIZES} sizes")
        return {size: round(100 / len(sizes), 9) for size in sizes}
    if len(texts) % 2:
        raise OptionValueError("must be (size,percentage,size,percentage,...)")
    weights: dict[int, float] = {}
    for size, percentage in zip(texts[::2], texts[1::2], strict=True):
        size_bytes = SIZES.parse_sectors(size)
        weights[size_bytes] = weights.get(size_bytes, 0.0) + parse_percentage(percentage)
    total = sum(weights.values())
    if round(total) != 100:  # noqa: PLR2004 - per cent, which Vdbench rounds as well
        raise OptionValueError(f"has percentages that add up to {total:g}; they must add up to 100")
    return {size: weight for size, weight in weights.items() if weight}


def _parse_stride(texts: Sequence[str]) -> int | None:
    bounds = [SIZES.parse(text) for text in texts]
    if len(bounds) != _MINMAX or bounds[0] != bounds[1] or not bounds[0] or bounds[0] % SECTOR:
        raise OptionValueError("must be (size,size); a random stride is not simulated")
    return bounds[0]


def build_components(
    requests: Requests,
    workload: Settings,
    storages: Sequence[tuple[Storage, OpenFlags]],
    weight: float,
    reader: OptionReader,
) -> list[Part]:
    """Return the components of a workload, with weights that add up to `weight`."""
    parts: list[Part] = []
    share = weight / max(1, len(storages))
    for storage, flags in storages:
        used = read_range(workload, storage.whole, reader) or storage.used
        first, length = used.first, None if used.last is None else used.last - used.first
        area = requests.hit_area or storage.hit_area
        hit = (requests.reads * requests.read_hits + (ALL - requests.reads) * requests.write_hits) / ALL
        if hit:
            if length is not None and length < area + max(requests.sizes):
                message = (
                    f"hitarea of {area} bytes leaves no room for other requests in {storage.settings.name}"
                )
                reader.issues.append(workload.word.mark("import.bad-value", "hitarea", message))
                continue
            reads = requests.reads * requests.read_hits / hit
            address = {"kind": "uniform", **contiguous(first, area)}
            parts.append(_component(requests, storage, flags, share * hit / ALL, reads, address))
            first, length = first + area, None if length is None else length - area
        if hit < ALL:
            reads = requests.reads * (ALL - requests.read_hits) / (ALL - hit)
            address = _address(requests, contiguous(first, length))
            if used.band is not None:
                address = _limit(address, used.band, is_allowed=not hit)
            if not address:
                message = "range= in per cent needs size= of the storage, unless all requests are random"
                reader.issues.append(workload.word.issue("import.bad-value", "range", message))
                continue
            parts.append(_component(requests, storage, flags, share * (ALL - hit) / ALL, reads, address))
    return _join_neighbours(parts)


def _component(
    requests: Requests, storage: Storage, flags: OpenFlags, weight: float, reads: float, address: Part
) -> Part:
    operations = operations_of(
        *(min(reads, ALL), size_of(requests.sizes)),
        is_forced=flags.is_forced,
        alignment=storage.alignment,
    )
    return {"weight": round(weight, 9), "operations": operations, "address": address}


def _address(requests: Requests, place: Part) -> Part:
    if requests.seeks >= ALL and requests.gap is not None:
        zones = {"zone": render_bytes(next(iter(requests.sizes))), "skip": render_bytes(requests.gap)}
        return {"kind": "strided_zones", **zones, **place}
    if requests.seeks >= ALL:
        return {"kind": "uniform", **place}
    if requests.seeks:
        return {"kind": "sequential", "jump_fraction": share(requests.seeks), **place}
    return {"kind": "sequential", **place}


def _limit(address: Part, band: tuple[float, float], *, is_allowed: bool) -> Part:
    """Return random addresses in a band [%] of a storage of unknown size; empty for others."""
    if address["kind"] != "uniform" or not is_allowed:
        return {}
    low, high = band
    zones = [(0, low), (ALL, high - low), (0, ALL - high)]
    sizes = [{"accesses": accesses, "size": size} for accesses, size in zones if size]
    return {**address, "kind": "zoned", "zones": sizes}


def _join_neighbours(parts: Sequence[Part]) -> list[Part]:
    """Return the components with uniform ones of equal neighbours as one."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else part
        (before, span), (start, size) = _find_extent(last), _find_extent(part)
        is_next = last is not part and span and size and start == before + span
        if is_next and last["operations"] == part["operations"]:
            density = last["weight"] / span
            if abs(density - part["weight"] / size) < 1e-6 * density:
                last["weight"] = round(last["weight"] + part["weight"], 9)
                last["address"] = {**last["address"], **contiguous(before, span + size)}
                continue
        joined.append(dict(part))
    return joined


def _find_extent(part: Part) -> tuple[int, int]:
    """Return start and size of the range of uniform addresses [bytes]; no size if it is not known."""
    address = part["address"]
    if address["kind"] != "uniform" or "footprint" not in address:
        return 0, 0
    start = quantities.parse(address["placement"]["offset"], "bytes")
    return int(start), int(quantities.parse(address["footprint"], "bytes"))
