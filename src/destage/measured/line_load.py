"""The load of a measured line as a stream of a workload."""

from typing import Any

from destage.measured.line import MeasuredLine

_SECTOR = 512
_RANDOM = 0.5
"""The share of random requests from which on a load counts as random."""
_ALIKE = 0.01
"""How far the mean sizes of reads and writes may be from each other to count as one, as a ratio."""
_WHOLE = 1e-3
"""How far a mean size may be from whole sectors, in sectors."""


def make_stream(line: MeasuredLine) -> dict[str, Any] | None:
    """Return the stream of a line, called `load`; None if the line does not say enough."""
    if line.request_bytes is None:
        return None
    if line.outstanding:
        arrival: dict[str, Any] = {"kind": "fixed_outstanding", "depth": max(1, round(line.outstanding))}
    elif line.throughput_iops:
        arrival = {"kind": "poisson", "rate": f"{line.throughput_iops:g}/s"}
    else:
        return None
    reads = round(1.0 if line.read_fraction is None else line.read_fraction, 4)
    is_random = line.random_fraction is None or line.random_fraction >= _RANDOM
    address: dict[str, Any] = {"kind": "uniform" if is_random else "sequential"}
    stream = {"name": "load", "arrival": arrival}
    # A share that rounds to none or all has no weight.
    if 0 < reads < 1 and (sizes := _find_sizes(line)) is not None:
        kinds = zip((reads, 1 - reads), (1.0, 0.0), sizes, strict=True)
        return stream | {
            "mix": [
                {
                    "weight": round(weight, 4),
                    "operations": {"read_fraction": share, "size": make_size(size)},
                    "address": dict(address),
                }
                for weight, share, size in kinds
            ]
        }
    if line.footprint_bytes:
        address["footprint"] = f"{line.footprint_bytes}B"
    return stream | {
        "operations": {"read_fraction": reads, "size": make_size(line.request_bytes)},
        "address": address,
    }


def _find_sizes(line: MeasuredLine) -> tuple[float, float] | None:
    """Return the mean sizes of reads and of writes, where a line of a device has both and they differ."""
    reads = line.read_fraction or 0.0
    rates = line.throughput_iops, line.read_bytes_per_s, line.write_bytes_per_s
    if not all(rates) or not 0 < reads < 1 or line.footprint_bytes:
        return None
    throughput, read, written = map(float, filter(None, rates))
    sizes = read / (throughput * reads), written / (throughput * (1 - reads))
    return sizes if abs(sizes[0] / sizes[1] - 1) > _ALIKE else None


def make_size(mean: float) -> dict[str, Any]:
    """Return request sizes with a mean: whole sectors, two sizes next to it if it is none."""
    sectors = max(1.0, mean / _SECTOR)
    if abs(sectors - round(sectors)) < _WHOLE:
        return {"kind": "constant", "value": f"{round(sectors) * _SECTOR}B"}
    below = int(sectors)
    share = sectors - below
    return {
        "kind": "choice",
        "options": [
            {"value": f"{size * _SECTOR}B", "weight": round(weight, 4)}
            for size, weight in ((below, 1 - share), (below + 1, share))
        ],
    }
