"""Loads that could be measured next: other depths of the measured jobs, and plain reads and writes."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from destage.spec import quantities

MOST = 8
"""Candidates of a calibration; each is simulated for some draws."""
_DEPTHS = (1, 2, 4, 8, 16, 32, 64)
_PLAIN_DEPTHS = (1, 16)
_KINDS = ("uniform", "sequential")
_USUAL_SIZE = 8192
"""The size of plain reads and writes where none was measured with one size [bytes]."""


class _Job(NamedTuple):
    """What differs between loads beside their depth; the size is in bytes."""

    size: int
    read_fraction: float
    kind: str

    @property
    def title(self) -> str:
        """The job in words, as in `4 KiB random reads`."""
        size = re.sub(r"(?<=\d)(?=[A-Za-z])", " ", quantities.render(self.size, "bytes"))
        kind = "random" if self.kind == _KINDS[0] else self.kind
        if self.read_fraction in {0.0, 1.0}:
            return f"{size} {kind} {'reads' if self.read_fraction else 'writes'}"
        return f"{size} {kind} I/Os with {100 * self.read_fraction:.3g} % reads"

    def make_stream(self, depth: int) -> dict[str, Any]:
        """Return the stream that keeps some requests outstanding."""
        return {
            "name": "load",
            "arrival": {"kind": "fixed_outstanding", "depth": depth},
            "operations": {
                "read_fraction": self.read_fraction,
                "size": {"kind": "constant", "value": f"{self.size}B"},
            },
            "address": {"kind": self.kind},
        }


def list_candidates(
    fitted: Iterable[Mapping[str, Any]], others: Iterable[Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return the streams of loads that were not measured, by a name that says the load.

    Args:
        fitted: The streams of the measured figures.
        others: Further streams that are known, such as those to be predicted.
    """
    measured = [_read(stream) for stream in fitted]
    given = {*measured, *map(_read, others)}
    jobs = list(dict.fromkeys(job for job, _ in filter(None, measured)))
    named = {
        f"{job.title} at {depth} outstanding": job.make_stream(depth)
        for job, depth in _alternate(_list_depths(jobs), _list_plain(jobs))
        if (job, depth) not in given
    }
    return dict(itertools.islice(named.items(), MOST))


def _alternate(*lists: Iterable[tuple[_Job, int]]) -> Iterator[tuple[_Job, int]]:
    yield from filter(None, itertools.chain.from_iterable(itertools.zip_longest(*lists)))


def _list_depths(jobs: Sequence[_Job]) -> Iterator[tuple[_Job, int]]:
    return ((job, depth) for depth in _DEPTHS for job in jobs)


def _list_plain(jobs: Sequence[_Job]) -> Iterator[tuple[_Job, int]]:
    sizes = list(dict.fromkeys(job.size for job in jobs)) or [_USUAL_SIZE]
    loads = itertools.product(sizes, _PLAIN_DEPTHS, _KINDS, (0.0, 1.0))
    return ((_Job(size, reads, kind), depth) for size, depth, kind, reads in loads)


def _read(stream: Mapping[str, Any]) -> tuple[_Job, int] | None:
    """Return the job and the depth of a stream; None if it has a rate, several sizes or other addresses."""
    arrival, operations = stream.get("arrival", {}), stream.get("operations", {})
    size, kind = operations.get("size", {}), stream.get("address", {}).get("kind")
    is_plain = arrival.get("kind") == "fixed_outstanding" and size.get("kind") == "constant"
    if not is_plain or kind not in _KINDS or "depth" not in arrival:
        return None
    reads = float(operations.get("read_fraction", 1.0))
    return _Job(int(quantities.parse(size["value"], "bytes")), reads, kind), int(arrival["depth"])
