"""The streams of a DiskSpd test."""

from collections.abc import Iterator, Sequence

from destage.errors import Issue
from destage.tools.diskspd.settings import Target, Test
from destage.tools.imported_workload import ImportedWorkload
from destage.tools.values import ALL
from destage.tools.workload_parts import (
    MOST_OUTSTANDING,
    Part,
    bursts_of,
    contiguous,
    operations_of,
    render_bytes,
    render_rate,
    requests_of,
    round_up,
    size_of,
    times_of,
    walk_of,
    warn_page_cache,
)

_MOST_STREAMS = 1024


def build_workload(test: Test, issues: list[Issue]) -> ImportedWorkload:
    """Return the workload of a test; mistakes are added to `issues`."""
    regions = _lay_out(test)
    streams: list[Part] = []
    warnings = [*test.reader.warnings, *_find_warnings(test)]
    remarks = list(dict.fromkeys(test.reader.remarks))
    if len({target.path for target in test.targets}) > 1:
        remarks.insert(0, "Assumed: the targets follow one another on the array.")
    for number, (target, region) in enumerate(zip(test.targets, regions, strict=True), 1):
        name = "target" if len(test.targets) == 1 else f"target {number}"
        issue = _find_mistake(test, target)
        if issue is not None:
            issues.append(issue)
        elif test.outstanding:
            continue
        else:
            built = list(_build_streams(test, target, region))
            names = [name] if len(built) == 1 else [f"{name}.{index}" for index in range(len(built))]
            streams += [{"name": own, **stream} for own, stream in zip(names, built, strict=True)]
    if test.outstanding and not issues:
        streams = [_share_threads(test, regions)]
    where = f"line {test.line}:"
    mapping = {streams[0]["name"]: (where, *dict.fromkeys(test.reader.notes))} if streams else {}
    return ImportedWorkload(
        workload={"users": 1, "streams": streams},
        run=times_of(test.warm_up, test.duration),
        remarks=tuple(remarks),
        mapping=mapping,
        warnings=tuple(warnings),
        name=test.name,
    )


def _lay_out(test: Test) -> list[tuple[int, int | None]]:
    """Return offset and length of each target's range; targets of unknown size use the whole array."""
    ends: dict[str, int | None] = {}
    for target in test.targets:
        needed = None if target.limit is None else max(target.limit, target.file_size or 0)
        previous_end = ends.get(target.path, 0)
        ends[target.path] = None if previous_end is None or needed is None else max(previous_end, needed)
    starts: dict[str, int] = {}
    position = 0
    for path, end in ends.items():
        starts[path] = 0 if end is None else position
        position += round_up(end or 0)
    return [(starts[target.path] + target.base, target.length) for target in test.targets]


def _find_mistake(test: Test, target: Target) -> Issue | None:
    length, place = target.length, target.place
    threads = test.threads or target.threads
    if _count_sequences(test, target) > _MOST_STREAMS:
        message = f"more than {_MOST_STREAMS} separate sequences; reduce -t or -o, or share them with -si"
        return place.mark("diskspd.too-many-threads", "-t", message)
    if threads * target.outstanding > MOST_OUTSTANDING or threads * test.outstanding > MOST_OUTSTANDING:
        message = f"more than {MOST_OUTSTANDING} outstanding requests"
        return place.mark("diskspd.too-many-threads", "-o", message)
    if target.is_absolute and length is None:
        message = "needs the size of the target; give -c or -f"
        return place.mark("import.missing-size", "-rdabs", message)
    span = (threads - 1) * target.thread_stride + target.block
    if length is not None and span > length and not target.is_random:
        message = f"{threads} threads that far apart exceed the range of {length} bytes"
        return place.mark("import.bad-value", "-T", message)
    return None


def _count_sequences(test: Test, target: Target) -> int:
    """Return the number of streams of a target."""
    threads = test.threads or target.threads
    if target.burst:
        return threads
    if target.is_random or target.is_interlocked:
        return 1
    return threads * (target.outstanding if target.is_parallel else 1)


def _build_streams(test: Test, target: Target, region: tuple[int, int | None]) -> Iterator[Part]:
    count = _count_sequences(test, target)
    threads = test.threads or target.threads
    offset, length = region
    for number in range(count):
        thread = number * threads // count
        shift = 0 if target.is_random or target.is_interlocked else thread * target.thread_stride
        place = contiguous(offset + shift, None if length is None else length - shift)
        requests = {"operations": _operations(target), "address": _address(target, place, length)}
        yield {"arrival": _arrival(target, threads, count), **requests}


def _share_threads(test: Test, regions: Sequence[tuple[int, int | None]]) -> Part:
    """Return the stream of threads that have their outstanding requests on any of the targets."""
    parts = [
        {
            "weight": target.weight,
            "operations": _operations(target),
            "address": _address(target, contiguous(*region), region[1]),
        }
        for target, region in zip(test.targets, regions, strict=True)
    ]
    test.reader.notes.append("approximated: each request goes to a target drawn by weight")
    arrival = {"kind": "fixed_outstanding", "depth": test.threads * test.outstanding}
    return {"name": "targets", "arrival": arrival, **requests_of(parts)}


def _arrival(target: Target, threads: int, count: int) -> Part:
    if target.rate:
        rate = target.rate * threads / count
        if target.is_rate_in_bytes:
            rate /= target.block
        return {"kind": "constant", "rate": render_rate(rate)}
    if target.burst:
        return bursts_of(target.burst, target.pause_ms / 1000, target.outstanding)
    return {"kind": "fixed_outstanding", "depth": threads * target.outstanding // count}


def _operations(target: Target) -> Part:
    alignment = target.alignment if target.is_random and target.alignment != target.block else None
    return operations_of(
        *(ALL - target.write_percentage, size_of(target.block)),
        is_forced=target.is_written_through,
        alignment=alignment,
    )


def _address(target: Target, place: Part, length: int | None) -> Part:
    if target.is_random:
        if target.random_percentage == ALL and target.zones:
            return {"kind": "zoned", "zones": _zones(target, length), **place}
        return walk_of(target.random_percentage, place)
    if target.stride is not None and target.stride > target.block:
        return {"kind": "strided", "stride": render_bytes(target.stride), **place}
    return {"kind": "sequential", **place}


def _zones(target: Target, length: int | None) -> list[Part]:
    """Return the zones; the remainder of the target gets the remainder of the requests."""
    left = whole = length if target.is_absolute and length is not None else ALL
    zones: list[tuple[int, int]] = []
    for accesses, extent in target.zones:
        if left > 0:
            zones.append((accesses, min(extent, left)))
            left -= min(extent, left)
    if left > 0:
        zones.append((max(0, ALL - sum(accesses for accesses, _ in zones)), left))
    scale = ALL / whole
    return [{"accesses": accesses, "size": round(size * scale, 9)} for accesses, size in zones]


def _find_warnings(test: Test) -> Iterator[Issue]:
    for target in test.targets[:1]:
        if target.is_cached:
            yield warn_page_cache("-S", (), target.place)
    for target in test.targets:
        if target.limit is None and not target.is_device:
            message = "the size is not known; assumed: the whole array; -c or -f give it"
            yield target.place.issue("import.unknown-size", "target", message)
