"""Requests of a Vdbench workload (WD) on its storages: the components of a mix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from destage.tools.options import OptionReader
from destage.tools.values import ALL, SECTOR, OptionValueError
from destage.tools.vdbench.keywords import KEYWORDS, SIZES, parse_percentage
from destage.tools.vdbench.parameter_file import Settings
from destage.tools.vdbench.storages import Storage, read_range
from destage.tools.workload_parts import Part, contiguous, operations_of, render_bytes, size_of, walk_of

_DEFAULT_SIZE = 4_096
_MOST_SIZES = 1_024
_MINMAX, _THREE = 2, 3


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of a workload in one test.

    Attributes:
        xfersize: Weights of the request sizes [bytes].
        rdpct: Share of reads [%].
        seekpct: Share of the requests with a random address [%].
        rhpct: Share of the reads that go to the hit area [%].
        whpct: Share of the writes that go to the hit area [%].
        stride: Distance from the end of a request to the next one, instead of a random address [bytes].
        hitarea: Size of the hit area, if the test sets one [bytes].
    """

    xfersize: Mapping[int, float]
    rdpct: float
    seekpct: float
    rhpct: float
    whpct: float
    stride: int | None
    hitarea: int | None = None


def read_requests(workload: Settings, chosen: Mapping[str, str], reader: OptionReader) -> Requests:
    """Return the requests of a workload.

    Args:
        chosen: The values of the run's loops by keyword, which override those of the workload.
    """
    reads = workload.get("rdpct readpct", 100.0, reader)
    writes = workload.get("writepct wrpct", None, reader)
    stride = workload.parameters.get("stride")
    requests = Requests(
        xfersize=workload.get_all("xfersize", _parse_sizes, {_DEFAULT_SIZE: 100.0}, reader),
        rdpct=reads if writes is None else ALL - writes,
        seekpct=workload.get("seekpct", 100.0, reader),
        rhpct=workload.get("rhpct", 0.0, reader),
        whpct=workload.get("whpct", 0.0, reader),
        stride=workload.get_all("stride", _parse_stride, None, reader),
    )
    changes = {key: KEYWORDS[key].parse(text) for key, text in chosen.items() if hasattr(requests, key)}
    if "xfersize" in changes:
        changes["xfersize"] = {changes["xfersize"]: 100.0}
    requests = replace(requests, **changes)
    if stride is not None and requests.seekpct and (requests.seekpct < ALL or len(requests.xfersize) > 1):
        message = "is simulated with seekpct=100 and one xfersize only"
        reader.issues.append(stride.issue("import.bad-value", message))
    return requests


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
    requests: Requests, workload: Settings, storages: Sequence[Storage], weight: float, reader: OptionReader
) -> list[Part]:
    """Return the components of a workload, with weights that add up to `weight`."""
    parts: list[tuple[Part, int, int | None]] = []
    each = weight / max(1, len(storages))
    for storage in storages:
        used = read_range(workload, storage.whole, storage.used, reader)
        first, length = used.first, None if used.last is None else used.last - used.first
        area = requests.hitarea or storage.hit_area
        hit = (requests.rdpct * requests.rhpct + (ALL - requests.rdpct) * requests.whpct) / ALL
        if hit:
            if length is not None and length < area + max(requests.xfersize):
                message = (
                    f"hitarea of {area} bytes leaves no room for other requests in {storage.settings.name}"
                )
                reader.issues.append(workload.word.mark("import.bad-value", "hitarea", message))
                continue
            reads = requests.rdpct * requests.rhpct / hit
            address = {"kind": "uniform", **contiguous(first, area)}
            part = _component(requests, storage, each * hit / ALL, reads, address)
            parts.append((part, first, area))
            first, length = first + area, None if length is None else length - area
        if hit < ALL:
            reads = requests.rdpct * (ALL - requests.rhpct) / (ALL - hit)
            address = _address(requests, contiguous(first, length))
            if used.band is not None:
                address = _limit(address, used.band, is_allowed=not hit)
            if not address:
                message = "range= in per cent needs size= of the storage, unless all requests are random"
                reader.issues.append(workload.word.issue("import.bad-value", "range", message))
                continue
            part = _component(requests, storage, each * (ALL - hit) / ALL, reads, address)
            parts.append((part, first, length))
    return _join_neighbours(parts)


def _component(requests: Requests, storage: Storage, weight: float, reads: float, address: Part) -> Part:
    operations = operations_of(
        *(min(reads, ALL), size_of(requests.xfersize)),
        is_forced=storage.is_forced,
        alignment=storage.alignment,
    )
    return {"weight": round(weight, 9), "operations": operations, "address": address}


def _address(requests: Requests, place: Part) -> Part:
    if requests.seekpct >= ALL and requests.stride is not None:
        zones = {"zone": render_bytes(next(iter(requests.xfersize))), "skip": render_bytes(requests.stride)}
        return {"kind": "strided_zones", **zones, **place}
    return walk_of(requests.seekpct, place)


def _limit(address: Part, band: tuple[float, float], *, is_allowed: bool) -> Part:
    """Return random addresses in a band [%] of a storage of unknown size; empty for others."""
    if address["kind"] != "uniform" or not is_allowed:
        return {}
    low, high = band
    zones = [(0, low), (ALL, high - low), (0, ALL - high)]
    sizes = [{"accesses": accesses, "size": size} for accesses, size in zones if size]
    return {**address, "kind": "zoned", "zones": sizes}


def _join_neighbours(parts: Sequence[tuple[Part, int, int | None]]) -> list[Part]:
    """Return components, each with start and length of its range, with equal uniform neighbours as one."""
    joined: list[Part] = []
    begin, end = 0, 0
    for part, first, length in parts:
        last = joined[-1] if joined else None
        size = (length or 0) if part["address"]["kind"] == "uniform" else 0
        if last is not None and size and end > begin and first == end:
            density = last["weight"] / (end - begin)
            is_as_busy = abs(density - part["weight"] / size) < 1e-6 * density
            if is_as_busy and last["operations"] == part["operations"]:
                end += size
                last["weight"] = round(last["weight"] + part["weight"], 9)
                last["address"] = {**last["address"], **contiguous(begin, end - begin)}
                continue
        begin, end = first, first + size
        joined.append(part)
    return joined
