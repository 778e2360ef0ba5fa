"""The figures that the sources of a preset state, beside those of the requests that the engine draws from it.

A figure of the catalogue has a name of `FIGURES`, a `source`, and the stated `value` or range from `low` to
`high`; `size_shares` has `sizes`, the weight of each size. It is that of all requests, or of those that the
other fields select: `stream`, `phase`, and `forced` for writes that are forced to the media or for all other
requests. `writes_for_each` compares with the stream `of`, `zone_share` is of a `zone` from one share of the
array to another, and `write_miss_ratio` of an LRU `cache` of a size.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from destage.engine import catalog, miss_ratio_curves, traces
from destage.engine.workload_profile import Array, Profile, generate_profile
from destage.spec import quantities

_BATCHES = 20
_ERRORS = 5.0
"""Standard errors by which a drawn figure may miss the stated one."""
_ROUNDING = 1e-6
_READ, _WRITE, _FLUSH = 0, 1, 2
_SECTOR, _BLOCK = 512, 4096


@dataclass(frozen=True)
class Figure:
    """A kind of figure.

    Attributes:
        unit: `fraction`, `bytes`, `per_s` or `count`.
    """

    words: str
    unit: str


FIGURES: Mapping[str, Figure] = MappingProxyType(
    {
        "rate_per_user": Figure("requests per second and user", "per_s"),
        "read_share": Figure("reads among reads and writes", "fraction"),
        "forced_share": Figure("forced writes among writes", "fraction"),
        "sequential_share": Figure("requests that continue the previous one", "fraction"),
        "stream_share": Figure("requests among those of all streams", "fraction"),
        "writes_for_each": Figure("writes for each one of the other stream", "count"),
        "zone_share": Figure("requests to a part of the footprint", "fraction"),
        "size_range": Figure("sizes", "bytes"),
        "size_shares": Figure("sizes by share", "fraction"),
        "outstanding": Figure("requests outstanding at the start", "count"),
        "span": Figure("range of the addresses", "bytes"),
        "span_per_user": Figure("range of the addresses for each user", "bytes"),
        "different_reads": Figure("different blocks of 4 KiB among those read", "fraction"),
        "different_writes": Figure("different blocks of 4 KiB among those written", "fraction"),
        "write_miss_ratio": Figure("written blocks of 4 KiB that miss an LRU cache of writes", "fraction"),
    }
)
"""The kinds of figures by name."""


@dataclass(frozen=True)
class Compared:
    """A stated figure beside the drawn one.

    Attributes:
        stated: The figure of the catalogue.
        low: The least value stated, for a size by share that of the size.
        high: The greatest value stated.
        drawn: The least and the greatest drawn value, which differ for a range of sizes only.
        error: The standard error of the drawn value.
        size: The size of a size by share [bytes].
    """

    stated: Mapping[str, Any]
    low: float
    high: float
    drawn: tuple[float, float]
    error: float
    size: int | None = None

    @property
    def figure(self) -> Figure:
        """The kind of figure."""
        return FIGURES[self.stated["figure"]]

    @property
    def agrees(self) -> bool:
        """Whether the drawn value lies in the stated range, but for its sampling error."""
        margin = _ERRORS * self.error + _ROUNDING * abs(self.high)
        return self.low - margin <= self.drawn[0] and self.drawn[1] <= self.high + margin


def compare_figures(entry: catalog.Entry) -> list[Compared]:
    """Return the stated figures of a workload beside those of requests that the engine draws from it."""
    if not entry.reference.figures:
        return []
    profile = generate_profile(entry.config, seconds=entry.reference.seconds)
    return [
        compared for stated in entry.reference.figures for compared in _compare(stated, profile, entry.config)
    ]


def _compare(stated: Mapping[str, Any], profile: Profile, workload: Mapping[str, Any]) -> list[Compared]:
    chosen = _select(stated, profile, workload)
    name = stated["figure"]
    if name == "size_shares":
        total = sum(stated["sizes"].values())
        sizes = {int(_bytes(size)): weight / total for size, weight in stated["sizes"].items()}
        # A size that is not stated has no share.
        sizes |= {size: 0.0 for size in chosen.sizes() if size not in sizes}
        compared = []
        for size, share in sizes.items():
            drawn, error = _share(chosen.size == size)
            compared.append(Compared(stated, share, share, (drawn, drawn), error, size))
        return compared
    low, high = (_bytes(stated.get(end, stated.get("value"))) for end in ("low", "high"))
    if name == "size_range":
        drawn_sizes = chosen.sizes()
        return [Compared(stated, low, high, (min(drawn_sizes), max(drawn_sizes)), 0.0)]
    drawn, error = _DRAWN[name](stated, chosen, profile, workload)
    return [Compared(stated, low, high, (drawn, drawn), error)]


def _select(stated: Mapping[str, Any], profile: Profile, workload: Mapping[str, Any]) -> Profile:
    """Return the requests that a figure is about, without flushes."""
    keep = profile.op != _FLUSH
    seconds = profile.seconds
    if "stream" in stated:
        keep &= profile.stream == profile.streams.index(stated["stream"])
    if "forced" in stated:
        keep &= profile.is_forced == stated["forced"]
    if "phase" in stated:
        begin, end = _find_phase(stated["phase"], workload)
        keep &= (profile.time >= begin) & (profile.time < end)
        seconds = end - begin
    return profile.only(keep, seconds)


def _find_phase(name: str, workload: Mapping[str, Any]) -> tuple[float, float]:
    """Return begin and end of a phase [s]."""
    begin = 0.0
    for phase in workload["phases"]:
        length = float(quantities.parse(phase["lasts"], "ns")) / 1e9
        if phase["name"] == name:
            return begin, begin + length
        begin += length
    raise KeyError(name)


def _bytes(value: object) -> float:
    return float(quantities.parse(value, "bytes")) if isinstance(value, str) else float(str(value))


def _share(hits: Array) -> tuple[float, float]:
    """Return the share of requests that are hits, and its standard error from batches."""
    if len(hits) < _BATCHES:
        return float(hits.mean()) if len(hits) else 0.0, 0.0
    means = [float(batch.mean()) for batch in np.array_split(hits, _BATCHES)]
    return float(hits.mean()), float(np.std(means, ddof=1)) / _BATCHES**0.5


def _rate_per_user(
    _stated: Mapping[str, Any], chosen: Profile, _all: Profile, workload: Mapping[str, Any]
) -> tuple[float, float]:
    users = int(workload.get("users", 1))
    begin = float(chosen.time.min())
    # A selected phase does not begin at 0.
    begin = begin if begin > chosen.seconds / _BATCHES else 0.0
    counts, _ = np.histogram(chosen.time, _BATCHES, (begin, begin + chosen.seconds))
    rates = counts * _BATCHES / chosen.seconds / users
    return float(rates.mean()), float(np.std(rates, ddof=1)) / _BATCHES**0.5


def _writes_for_each(
    stated: Mapping[str, Any], chosen: Profile, profile: Profile, _workload: Mapping[str, Any]
) -> tuple[float, float]:
    mine, other = chosen.count(_WRITE), profile.of_stream(stated["of"]).count(_WRITE)
    return mine / other, mine / other * (1 / mine + 1 / other) ** 0.5


def _span(chosen: Profile) -> float:
    return float((chosen.offset + chosen.size).max() - chosen.offset.min())


def _zone_share(stated: Mapping[str, Any], chosen: Profile) -> tuple[float, float]:
    low, high = (chosen.capacity * end for end in stated["zone"])
    return _share((chosen.offset >= low) & (chosen.offset < high))


def _reuse(chosen: Profile, op: int, cache: str) -> tuple[float, float]:
    """Return the share of different blocks of the requests of a kind, and their miss ratio in a cache."""
    some = chosen.only(chosen.op == op, chosen.seconds)
    columns = {
        "t_ns": (some.time * 1e9).astype(np.uint64),
        "process": np.zeros(len(some.time), np.uint32),
        "lba_512": (some.offset // _SECTOR).astype(np.uint64),
        "n_512": (some.size // _SECTOR).astype(np.uint32),
        "op": some.op.astype(np.uint8),
        "flags": np.zeros(len(some.time), np.uint8),
    }
    trace = traces.from_table(pa.table(columns))
    curve = miss_ratio_curves.miss_ratio_curve(trace, block=_BLOCK, sizes=[cache]).to_pylist()
    row = next(row for row in curve if row["side"] == "both")
    return row["distinct_blocks"] / row["accesses"], row["miss_ratio"]


_Draw = Callable[[Mapping[str, Any], Profile, Profile, Mapping[str, Any]], tuple[float, float]]
_DRAWN: Mapping[str, _Draw] = MappingProxyType(
    {
        "rate_per_user": _rate_per_user,
        "read_share": lambda _, chosen, *__: _share(chosen.op == _READ),
        "forced_share": lambda _, chosen, *__: _share(chosen.is_forced[chosen.op == _WRITE]),
        "sequential_share": lambda _, chosen, *__: _share(chosen.continues()),
        "stream_share": lambda stated, _, profile, __: _share(
            profile.stream == profile.streams.index(stated["stream"])
        ),
        "writes_for_each": _writes_for_each,
        "zone_share": lambda stated, chosen, *_: _zone_share(stated, chosen),
        "outstanding": lambda _, chosen, *__: (float((chosen.time == chosen.time.min()).sum()), 0.0),
        "span": lambda _, chosen, *__: (_span(chosen), 0.0),
        "span_per_user": lambda _, chosen, __, workload: (_span(chosen) / workload["users"], 0.0),
        "different_reads": lambda _, chosen, *__: (_reuse(chosen, _READ, "4KiB")[0], 0.0),
        "different_writes": lambda _, chosen, *__: (_reuse(chosen, _WRITE, "4KiB")[0], 0.0),
        "write_miss_ratio": lambda stated, chosen, *_: (_reuse(chosen, _WRITE, stated["cache"])[1], 0.0),
    }
)
"""How each figure is drawn, with its standard error; a figure of reuse has its spread in the stated range."""
