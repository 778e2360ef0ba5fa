"""Summaries of a workload: its specification in words, and the requests generated from it."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from destage.cli.terminal.terminal_text import bar, sparkline

if TYPE_CHECKING:
    from destage.engine.workload_profile import Profile

_BINS = 60
_BAR = 30
_SHARES = (0.01, 0.1, 0.2, 0.5)
_WIDTH = 110
_COLUMN = 10


def summarize_profile(profile: "Profile") -> dict[str, Any]:
    """Return the statistics of generated requests, as `--json` prints them."""
    middle, reads, writes = profile.rates(_BINS)
    begin, end, places = profile.places(_BINS)
    return {
        "requests": len(profile.time),
        "seconds": profile.seconds,
        "is_whole": profile.is_whole,
        "depends_on_the_array": not profile.is_open,
        "rate_per_s": len(profile.time) / profile.seconds if profile.seconds else None,
        "read_fraction": profile.read_fraction(),
        "forced_writes": int(profile.is_forced.sum()),
        "flushes": profile.count(2),
        "bytes": int(profile.size.sum()),
        "touched_bytes": profile.touched_bytes(),
        "sequential_fraction": profile.sequential_fraction(),
        "busiest_extents": dict(zip(map(str, _SHARES), profile.skew(_SHARES), strict=True)),
        "sizes": {"reads": profile.sizes(0), "writes": profile.sizes(1)},
        "requests_by_stream": {
            name: int((profile.stream == index).sum()) for index, name in enumerate(profile.streams)
        },
        "over_time": {"s": middle.tolist(), "reads_per_s": reads.tolist(), "writes_per_s": writes.tolist()},
        "places": {"from_bytes": begin, "to_bytes": end, "requests": places.tolist()},
    }


def describe_workload(
    facts: Mapping[str, Any], workload: Mapping[str, Any], profile: "Profile"
) -> Iterator[str]:
    """Yield the description of a workload line by line: name and sources, specification, generated requests.

    Args:
        facts: Its name and title; its claim, source, marks and note where it has them.
        workload: The value of `workload:`.
    """
    yield f"{facts['name']}: {facts['title']}" if facts["title"] != facts["name"] else facts["name"]
    for key in ("claim", "source", "note"):
        if facts.get(key):
            yield from _wrapped(key, facts[key])
    for key, meaning in (("typical", "quoted from memory"), ("assumed", "not published")):
        if facts.get(key):
            yield from _wrapped(key, f"({meaning}) {', '.join(facts[key])}")
    yield ""
    yield from _describe_specification(workload)
    yield ""
    yield from _describe_requests(profile)


def _describe_specification(workload: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the workload specifies."""
    from destage.engine import workload_description as description

    users = int(workload.get("users", 1))
    for phase in workload.get("phases") or ():
        yield f"phase {phase['name']!r}: {phase.get('lasts') or 'unlimited'}"
    for stream in workload["streams"]:
        yield from _wrapped(f"stream {stream['name']}", description.describe_arrival(stream, users))
        times = description.describe_times(stream)
        if times:
            yield f"  when      {times}"
        for often, what, where in description.describe_request_parts(stream):
            yield f"  {often:<8}  {what}"
            if where:
                yield f"  {'':<8}  {where}"


def _describe_requests(profile: "Profile") -> Iterator[str]:
    """Yield what the engine generated."""
    from destage.engine.workload_profile import REFERENCE
    from destage.queries.text.presentation import format_number

    rate = len(profile.time) / profile.seconds if profile.seconds else 0.0
    duration = format_number(round(profile.seconds, 3))
    extent = "" if profile.is_whole else " (the first part of its timeline)"
    yield f"generated: {format_number(len(profile.time))} requests in {duration} s{extent}"
    if not profile.is_open:
        yield f"  closed or replayed: arrival times may depend on the array; these are for {REFERENCE}"
    _, reads, writes = profile.rates(_BINS)
    both = [float(value) for value in reads + writes]
    busiest, span = max(both, default=0.0), float(f"{profile.seconds / _BINS:.2g}")
    peak = f"{format_number(busiest)}/s in the busiest {format_number(span)} s"
    yield f"rate      {format_number(rate)}/s on average, {peak}"
    yield f"          0 s │{sparkline(both)}│ {duration} s"
    share = profile.read_fraction()
    forced, flushes = int(profile.is_forced.sum()), profile.count(2)
    extra = f", {format_number(forced)} writes forced to the media" if forced else ""
    extra += f", {format_number(flushes)} flushes" if flushes else ""
    if share is not None:
        yield f"mix       {share:.1%} reads, {1 - share:.1%} writes{extra}"
        yield from _size_lines(profile)
    begin, end, places = profile.places(_BINS)
    heights = sparkline([float(count) for count in places])
    yield f"address   {round_size(begin)} │{heights}│ {round_size(end)}"
    skew = profile.skew(_SHARES)
    parts = ", ".join(f"{share:.0%} get {part:.0%}" for share, part in zip(_SHARES, skew, strict=True))
    touched, follow = round_size(profile.touched_bytes()), profile.sequential_fraction()
    yield f"          {touched} touched, in extents of 1 MiB; the busiest {parts} of the requests"
    yield f"          {follow:.0%} of the requests are sequential"
    if len(profile.streams) > 1:
        for index, name in enumerate(profile.streams):
            part = float((profile.stream == index).mean())
            yield f"{'streams' if index == 0 else '':<8}  {name:<20} {part:>6.1%}  {bar(part, _BAR)}"


def _size_lines(profile: "Profile") -> Iterator[str]:
    from destage.queries.text.presentation import format_quantity

    reads, writes = profile.sizes(0), profile.sizes(1)
    counts = {size: reads.get(size, 0) + writes.get(size, 0) for size in sorted({*reads, *writes})}
    total, most = sum(counts.values()), max(counts.values())
    for index, (size, count) in enumerate(counts.items()):
        share = count / total
        named = f"{format_quantity(size, 'bytes'):>8}  {share:>6.1%}  {bar(count / most, _BAR):<{_BAR}}"
        yield f"{'sizes' if index == 0 else '':<8}  {named}  {reads.get(size, 0) / count:.0%} reads"


def round_size(size: float) -> str:
    """Return a measured size in three digits."""
    for unit, bytes_ in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_:
            return f"{size / bytes_:.3g} {unit}"
    return f"{size:.0f} B"


def _wrapped(key: str, text: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text, _WIDTH, initial_indent=f"{key:<{_COLUMN - 2}}  ", subsequent_indent=" " * _COLUMN
    )
