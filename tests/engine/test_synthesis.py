"""Synthetic traces: reproducible by seed, and close to their original."""

from pathlib import Path

import pytest

from destage.engine import _engine, traces
from destage.errors import TraceError
from destage.trace_synthesis import compare, synthesise

PGBENCH = Path(__file__).parents[2] / "examples" / "pgbench.parquet"


@pytest.fixture(scope="module")
def pgbench() -> _engine.Trace:
    return traces.load(PGBENCH)


def test_a_synthetic_pgbench_is_near_the_captured_one(pgbench: _engine.Trace) -> None:
    made = synthesise(pgbench, seed=1)
    assert len(made.trace) == len(pgbench)
    rows = compare(pgbench, made.trace)
    distances = {row["subject"]: row["distance"] for row in rows if row["distance"] is not None}
    # Checkpoints come in bursts, in the synthetic trace at any time, so the curves differ most.
    for side in ("reads", "writes", "both"):
        assert distances.pop(f"miss ratio, {side}") < 0.2
    assert max(distances.values()) < 0.01, distances
    for row in rows:
        if row["subject"] == "mix":
            assert row["synthetic"] == pytest.approx(row["original"], abs=0.01)


def test_a_seed_gives_one_trace(pgbench: _engine.Trace) -> None:
    one, same, other = (synthesise(pgbench, seed=seed, requests=2000) for seed in (1, 1, 2))
    assert one.trace.columns() == same.trace.columns()
    assert one.trace.columns() != other.trace.columns()
    assert one.profile == other.profile


def test_a_trace_can_end_at_a_time(pgbench: _engine.Trace) -> None:
    times = traces.table(synthesise(pgbench, duration_ns=2 * 10**9).trace)["t_ns"].to_numpy()
    assert 1.5e9 < times.max() <= 2e9


def test_invalid_requests_are_rejected(pgbench: _engine.Trace) -> None:
    with pytest.raises(TraceError, match="^trace.requests-and-duration"):
        synthesise(pgbench, requests=1, duration_ns=1)
    with pytest.raises(TraceError, match="^trace.empty"):
        synthesise(pgbench, requests=0)
