"""Parts of a workload that several importers write."""

from collections.abc import Mapping, Sequence
from typing import Any

from destage.errors import Issue
from destage.spec import quantities
from destage.tools.values import ALL, Word

Part = dict[str, Any]
MEBIBYTE = 1 << 20
MOST_OUTSTANDING = 65_536
_SECOND = 10**9


def warn_page_cache(place: str, whose: Sequence[str], word: Word | None = None, **data: Any) -> Issue:
    """Return the warning that the requests of jobs use the host's page cache, as an option is not set."""
    of = f" for {', '.join(whose)}" if whose else ""
    message = (
        f"not set{of}: requests use the host's page cache, which is not simulated; here all go to the array"
    )
    line, column = (None, None) if word is None else (word.line, word.column)
    return Issue("import.page-cache", place, message, data=data, line=line, column=column)


def render_bytes(size: int) -> str:
    """Return a size with its unit."""
    return quantities.render(size, "bytes")


def render_seconds(seconds: float) -> str:
    """Return a duration in seconds with its unit."""
    return render_ns(round(seconds * _SECOND))


def render_ns(time: int) -> str:
    """Return a duration in nanoseconds with its unit."""
    return quantities.render(time, "ns")


def render_rate(rate: float) -> str:
    """Return a rate per second with its unit."""
    return f"{rate:.12g}/s"


def share(percent: float) -> float:
    """Return a percentage as a fraction."""
    return round(percent / ALL, 12)


def size_of(weights: Mapping[int, float] | int) -> Part:
    """Return request sizes: one size, or sizes with their weights."""
    if isinstance(weights, int):
        return {"kind": "constant", "value": render_bytes(weights)}
    if len(weights) == 1:
        return size_of(next(iter(weights)))
    options = [{"value": render_bytes(size), "weight": round(weight, 9)} for size, weight in weights.items()]
    return {"kind": "choice", "options": options}


def operations_of(
    reads: float,
    size: Part,
    write_size: Part | None = None,
    *,
    is_forced: bool = False,
    flush_every: int | None = None,
    alignment: int | None = None,
) -> Part:
    """Return operations of which a percentage is reads; the rest does what concerns writes alone."""
    writes: Part = {"fua_fraction": 1.0} if is_forced else {}
    writes |= {"flush_every": flush_every} if flush_every else {}
    is_mixed = 0 < reads < ALL and write_size is not None and write_size != size
    return {
        "read_fraction": share(reads),
        **(writes if reads < ALL else {}),
        "size": size if reads or write_size is None else write_size,
        **({"write_size": write_size} if is_mixed else {}),
        **({"alignment": render_bytes(alignment)} if alignment else {}),
    }


def contiguous(offset: int, length: int | None) -> Part:
    """Return footprint and placement of a contiguous range; without length, the rest of the array."""
    footprint = {} if length is None else {"footprint": render_bytes(length)}
    return {**footprint, "placement": {"kind": "contiguous", "offset": render_bytes(offset)}}


def times_of(warm_up: float, duration: float) -> Part:
    """Return `run` of a test with these times [s], of which 0 is none."""
    times = {"warm_up": warm_up, "window": duration}
    return {name: {"duration": render_seconds(time)} for name, time in times.items() if time}


def bursts_of(ios: int, pause_s: float, depth: int) -> Part:
    """Return the arrivals of bursts with a pause after each [s], with up to `depth` requests outstanding."""
    pause = {"kind": "constant", "value": render_seconds(pause_s)}
    arrival: Part = {"kind": "closed", "think_time": pause, "ios": ios}
    if depth > 1 and ios > 1:
        arrival |= {"order": "parallel"} | ({"depth": depth} if depth < ios else {})
    return arrival


def walk_of(percent: float, place: Part) -> Part:
    """Return addresses of which a percentage is random and each other one follows the last."""
    if percent == ALL:
        return {"kind": "uniform", **place}
    return {"kind": "sequential", **({"jump_fraction": share(percent)} if percent else {}), **place}


def round_up(size: int) -> int:
    """Return a size rounded up to whole MiB."""
    return -(-size // MEBIBYTE) * MEBIBYTE


def requests_of(parts: Sequence[Part]) -> Part:
    """Return `operations` and `address` of a stream with one component, `mix` of one with several.

    Equal components are added up.
    """
    merged: list[Part] = []
    for part in parts:
        same = next((other for other in merged if {**other, "weight": part["weight"]} == part), None)
        if same is None:
            merged.append(dict(part))
        else:
            same["weight"] = round(same["weight"] + part["weight"], 9)
    if len(merged) == 1:
        return {"operations": merged[0]["operations"], "address": merged[0]["address"]}
    return {"mix": merged} if merged else {}
