"""Synthetic traces: a profile fitted to a trace, a trace drawn from it, and their comparison."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from destage.engine import _engine, traces
from destage.engine.configuration import translated_errors
from destage.engine.miss_ratio_curves import SECTOR_BYTES, block_bytes, miss_ratio_curve
from destage.errors import TraceError

_READ, _WRITE, _FLUSH = 0, 1, 2
_QUANTILES = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "max": 1.0}
_FEWEST = 2

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Synthesis:
    """A synthetic trace and its profile."""

    trace: _engine.Trace
    profile: dict[str, Any]


def synthesise(
    trace: _engine.Trace,
    *,
    block: int | str = 4096,
    seed: int = 0,
    requests: int | None = None,
    duration_ns: int | None = None,
) -> Synthesis:
    """Fit a profile to a trace and draw a synthetic trace from it, reproducible by seed.

    Releases the GIL.

    Args:
        block: The unit of reuse [bytes], a multiple of 512.
        seed: The root of the random streams.
        requests: Requests to draw (default: those of the original).
        duration_ns: Duration of the trace [ns], instead of `requests`.
    """
    if requests is not None and duration_ns is not None:
        raise TraceError("trace.requests-and-duration", "`requests` and `duration` exclude each other")
    count = len(trace) if requests is None else requests
    with translated_errors():
        drawn, profile = _engine.synthesise(
            trace, block_bytes(block) // SECTOR_BYTES, seed, count, duration_ns
        )
    return Synthesis(drawn, json.loads(profile))


def compare(
    original: _engine.Trace, synthetic: _engine.Trace, *, block: int | str = 4096
) -> list[dict[str, Any]]:
    """Compare a synthetic trace with its original: one row per statistic.

    A row has `subject`, `statistic`, `original`, `synthetic` and, for the last row of a subject, `distance`:
    for curves the largest difference over all sizes, for distributions the Kolmogorov-Smirnov distance.

    Args:
        block: The unit of the curves [bytes].
    """
    pair = (_columns(original), _columns(synthetic))
    gaps = [_gaps(columns) for columns in pair]
    rows = [
        _row("mix", name, *(float((columns["op"] == op).mean()) for columns in pair))
        for name, op in (("reads", _READ), ("writes", _WRITE), ("flushes", _FLUSH))
    ]
    rows += [
        _row("runs", f"sequential {name}", *(_sequential(columns, op) for columns in pair))
        for name, op in (("reads", _READ), ("writes", _WRITE))
    ]
    rows += _distribution("gap [us]", *(gap / 1e3 for gap in gaps))
    rows += [
        _row("burstiness", "dispersion of requests per s", *(_dispersion(columns) for columns in pair)),
        _row("burstiness", "correlation of successive gaps", *(_correlation(gap) for gap in gaps)),
    ]
    for name, op in (("read", _READ), ("write", _WRITE)):
        sizes = [columns["n_512"][columns["op"] == op] * (SECTOR_BYTES / 1024) for columns in pair]
        if min(map(len, sizes)):
            rows += _distribution(f"{name} size [KiB]", *sizes)
    return rows + _curves(original, synthetic, block)


def _row(
    subject: str, statistic: str, original: float, synthetic: float, distance: float | None = None
) -> dict[str, Any]:
    return {
        "subject": subject,
        "statistic": statistic,
        "original": original,
        "synthetic": synthetic,
        "distance": distance,
    }


def _columns(trace: _engine.Trace) -> dict[str, Numbers]:
    table = traces.table(trace)
    return {name: table[name].to_numpy().astype(np.float64) for name in ("t_ns", "lba_512", "n_512", "op")}


def _gaps(columns: dict[str, Numbers]) -> Numbers:
    return np.diff(columns["t_ns"]) if len(columns["t_ns"]) >= _FEWEST else np.zeros(1)


def _sequential(columns: dict[str, Numbers], op: int) -> float:
    chosen = columns["op"] == op
    first, count = columns["lba_512"][chosen], columns["n_512"][chosen]
    return float((first[1:] == first[:-1] + count[:-1]).mean()) if len(first) >= _FEWEST else 0.0


def _dispersion(columns: dict[str, Numbers]) -> float:
    """Return the variance of requests per second over their mean: 1 for Poisson, more for bursts."""
    counts = np.bincount((columns["t_ns"] // 1e9).astype(np.int64)).astype(np.float64)
    # The last second is incomplete.
    counts = counts[:-1] if len(counts) > 1 else counts
    return float(counts.var() / counts.mean())


def _correlation(gaps: Numbers) -> float:
    """Return the rank correlation of successive gaps, which span many decades."""
    ranks = np.argsort(np.argsort(gaps, kind="stable"), kind="stable").astype(np.float64)
    if len(ranks) <= _FEWEST:
        return 0.0
    return float(np.corrcoef(ranks[:-1], ranks[1:])[0, 1])


def _distribution(subject: str, original: Numbers, synthetic: Numbers) -> list[dict[str, Any]]:
    rows = [_row(subject, "mean", float(original.mean()), float(synthetic.mean()))]
    rows += [
        _row(
            subject,
            name,
            float(np.quantile(original, share, method="inverted_cdf")),
            float(np.quantile(synthetic, share, method="inverted_cdf")),
        )
        for name, share in _QUANTILES.items()
    ]
    rows[-1]["distance"] = _kolmogorov_smirnov(original, synthetic)
    return rows


def _kolmogorov_smirnov(numbers: Numbers, other: Numbers) -> float:
    """Return the largest distance between two cumulative distributions."""
    values = np.unique(np.concatenate([numbers, other]))
    shares = [
        np.searchsorted(np.sort(sample), values, side="right") / len(sample) for sample in (numbers, other)
    ]
    return float(np.abs(shares[0] - shares[1]).max())


def _curves(original: _engine.Trace, synthetic: _engine.Trace, block: int | str) -> list[dict[str, Any]]:
    original_curve = miss_ratio_curve(original, block=block)
    sizes = sorted(set(original_curve["size_bytes"].to_pylist()))
    drawn = miss_ratio_curve(synthetic, block=block, sizes=sizes)
    curves = [
        {(row["side"], row["size_bytes"]): row["miss_ratio"] for row in table.to_pylist()}
        for table in (original_curve, drawn)
    ]
    whole = block_bytes(block)
    rows = []
    for side in ("reads", "writes", "both"):
        own = [size for size in sizes if all((side, size) in curve for curve in curves)]
        shown = [size for size in own if size % whole == 0 and (size // whole).bit_count() == 1]
        subject = f"miss ratio, {side}"
        part = [_row(subject, str(size), curves[0][side, size], curves[1][side, size]) for size in shown[::2]]
        if part:
            part[-1]["distance"] = max(abs(curves[0][side, size] - curves[1][side, size]) for size in own)
        rows += part
    return rows
