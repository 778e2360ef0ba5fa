"""Replay of small traces: when each record is issued, worked by hand."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from error_codes import has_code
from small_scenarios import Scenario, constant_server, write_back

from destage.engine import simulate, simulate_batch, traces
from destage.errors import TraceError

READ, WRITE, FLUSH = 0, 1, 2
SYNC, FUA = 1, 2

Record = tuple[float, int, int, int]
"""Time [ms], process, operation, flags."""


def _write(path: Path, records: list[Record], *, places: list[int] | None = None, sectors: int = 8) -> Path:
    places = places or [16 * index for index in range(len(records))]
    table = pa.table(
        {
            "t_ns": [round(time * 1e6) for time, *_ in records],
            "process": [process for _, process, *_ in records],
            "lba_512": [
                0 if record[2] == FLUSH else place for record, place in zip(records, places, strict=True)
            ],
            "n_512": [0 if operation == FLUSH else sectors for *_, operation, _ in records],
            "op": [operation for *_, operation, _ in records],
            "flags": [flags for *_, flags in records],
        },
        schema=traces.SCHEMA,
    )
    traces.write_parquet(traces.from_table(table), path)
    return path


def _replay(file: Path, disk: Scenario, **arrival: Any) -> Scenario:
    return {
        "workload": {
            "streams": [{"name": "trace", "arrival": {"kind": "trace", "file": str(file), **arrival}}]
        },
        "array": {"raid": "0", "disks": 1, "disk": disk},
    }


def _completion_ms(path: Path, records: list[Record], disk: Scenario, **arrival: Any) -> float:
    row = simulate(_replay(_write(path / "trace.parquet", records), disk, **arrival))
    assert row["status"] == "ok"
    assert row["requests"] + row["flushes"] == len(records)
    completion: float = row["completion_time_s"]
    return completion * 1e3


def test_open_keeps_the_recorded_times(tmp_path: Path) -> None:
    records = [(time, 1, READ, 0) for time in (0.0, 10.0, 20.0)]
    assert _completion_ms(tmp_path, records, constant_server("1ms"), mode="open") == pytest.approx(21)
    assert _completion_ms(tmp_path, records, constant_server("30ms"), mode="open") == pytest.approx(90)


def test_open_is_scaled_by_speed(tmp_path: Path) -> None:
    records = [(time, 1, READ, 0) for time in (0.0, 10.0, 20.0)]
    fast = _completion_ms(tmp_path, records, constant_server("1ms"), mode="open", speed=2.0)
    assert fast == pytest.approx(11)


def test_an_overloading_open_replay_has_status_overloaded(tmp_path: Path) -> None:
    file = _write(tmp_path / "trace.parquet", [(index * 0.5, 1, READ, 0) for index in range(3_000)])
    row = simulate(_replay(file, constant_server("1ms"), mode="open"))
    assert row["status"] == "overloaded"
    assert row["disk_busy_max_fraction"] == pytest.approx(1.0)
    assert simulate(_replay(file, constant_server("0.4ms"), mode="open"))["status"] == "ok"


@pytest.mark.parametrize(("depth", "expected"), [(1, 100), (4, 25), (16, 7), (100, 7)])
def test_asap_keeps_its_depth_outstanding(tmp_path: Path, depth: int, expected: float) -> None:
    records = [(index * 100.0, 1, READ, 0) for index in range(100)]
    disk = constant_server("1ms", servers=16)
    assert _completion_ms(tmp_path, records, disk, mode="asap", depth=depth) == pytest.approx(expected)


def test_a_synchronous_write_blocks_its_process(tmp_path: Path) -> None:
    """Issued at 0, complete at S, then the gap of 5 ms as think time, then the second: 5 ms + 2 S."""
    records = [(0.0, 1, WRITE, SYNC), (5.0, 1, WRITE, SYNC)]
    for service in (0.1, 3.0, 40.0):
        found = _completion_ms(tmp_path, records, constant_server(f"{service}ms"), mode="dependent")
        assert found == pytest.approx(5 + 2 * service)


def test_a_forced_write_blocks_its_process(tmp_path: Path) -> None:
    records = [(0.0, 1, WRITE, FUA), (5.0, 1, READ, 0)]
    found = _completion_ms(tmp_path, records, constant_server("3ms"), mode="dependent")
    assert found == pytest.approx(5 + 2 * 3)


def test_reads_and_plain_writes_block_no_process(tmp_path: Path) -> None:
    """The gap runs from the issue: 5 ms + S."""
    for operation in (READ, WRITE):
        records = [(0.0, 1, operation, 0), (5.0, 1, operation, 0)]
        disk = constant_server("20ms", servers=4)
        assert _completion_ms(tmp_path, records, disk, mode="dependent") == pytest.approx(25)


def test_a_flush_blocks_its_process_until_its_writes_finish(tmp_path: Path) -> None:
    """A synchronous write, its flush 1 ms later, the next write 2 ms after that."""
    records = [(0.0, 1, WRITE, SYNC), (1.0, 1, FLUSH, SYNC), (3.0, 1, WRITE, SYNC)]
    disk = constant_server("10ms")
    # 10 + 1, the flush takes no time with nothing volatile, + 2 + 10.
    assert _completion_ms(tmp_path, records, disk, mode="dependent") == pytest.approx(23)


def test_long_gaps_are_limited_to_one_second(tmp_path: Path) -> None:
    records = [(0.0, 1, WRITE, SYNC), (30_000.0, 1, WRITE, SYNC), (30_400.0, 1, READ, 0)]
    found = _completion_ms(tmp_path, records, constant_server("1ms"), mode="dependent")
    assert found == pytest.approx(1 + 1_000 + 1 + 400 + 1)


def test_concurrent_synchronous_writes_block_together(tmp_path: Path) -> None:
    """Less than 10 us apart: both are issued, and the gap after the second runs from the end of both."""
    records = [(0.0, 1, WRITE, SYNC), (0.005, 1, WRITE, SYNC), (2.005, 1, WRITE, SYNC)]
    both = _completion_ms(tmp_path, records, constant_server("1ms", servers=2), mode="dependent")
    assert both == pytest.approx(0.005 + 1 + 2 + 1)
    apart = [(0.0, 1, WRITE, SYNC), (0.011, 1, WRITE, SYNC), (2.011, 1, WRITE, SYNC)]
    held = _completion_ms(tmp_path, apart, constant_server("1ms", servers=2), mode="dependent")
    assert held == pytest.approx(1 + 0.011 + 1 + 2 + 1)


def test_processes_do_not_wait_for_each_other(tmp_path: Path) -> None:
    records = [(0.0, 1, WRITE, SYNC), (1.0, 2, WRITE, SYNC), (2.0, 1, WRITE, SYNC), (3.0, 2, WRITE, SYNC)]
    found = _completion_ms(tmp_path, records, constant_server("10ms", servers=4), mode="dependent")
    # Process 2 starts at 1 ms, and its second write 2 ms after the end of its first.
    assert found == pytest.approx(1 + 10 + 2 + 10)


def test_a_commit_is_a_synchronous_write_and_its_flush(tmp_path: Path) -> None:
    records = [
        record
        for index in range(10)
        for record in ((index * 20.0, 1, WRITE, SYNC), (index * 20.0 + 1, 1, FLUSH, SYNC))
    ]
    file = _write(tmp_path / "trace.parquet", records)
    through = simulate(_replay(file, constant_server("5ms"), mode="dependent"))
    assert through["commits"] == 10
    assert through["commit_mean_us"] == pytest.approx(6_000)
    cached = simulate(
        {
            **_replay(file, constant_server("5ms"), mode="dependent"),
            "controller": write_back(write_fraction=1.0),
        }
    )
    assert cached["commits"] == 10
    transfer = 4096 / 320e6 * 1e6
    assert cached["commit_mean_us"] == pytest.approx(50 + 20 + transfer + 1_000 + 50, rel=1e-4)
    assert cached["completion_time_s"] < through["completion_time_s"]


def test_a_commit_starts_at_the_write_directly_before_its_flush(tmp_path: Path) -> None:
    """A checkpoint writes for a long time and flushes once: its earlier writes are not part of the commit."""
    records = [
        (0.0, 1, WRITE, SYNC),
        (500.0, 1, WRITE, SYNC),
        (900.0, 1, WRITE, SYNC),
        (901.0, 1, FLUSH, SYNC),
    ]
    file = _write(tmp_path / "trace.parquet", records)
    row = simulate(_replay(file, constant_server("5ms"), mode="dependent"))
    assert row["commits"] == 1
    assert row["commit_max_us"] == pytest.approx(6_000)


def test_a_trace_beyond_the_array_is_rejected(tmp_path: Path) -> None:
    file = _write(tmp_path / "trace.parquet", [(0.0, 1, READ, 0)], places=[1 << 30])
    scenario = _replay(file, constant_server("1ms"), mode="asap")
    with pytest.raises(TraceError, check=has_code("trace.beyond-array")):
        simulate(scenario)
    (row,) = simulate_batch([scenario]).to_pylist()
    assert (row["status"], row["error_kind"]) == ("failed", "trace")
    for mapping in ("wrap", "compact"):
        assert simulate(_replay(file, constant_server("1ms"), mode="asap", map=mapping))["reads"] == 1


def test_compact_needs_only_the_touched_extents(tmp_path: Path) -> None:
    """Five records touch three extents of 1 MiB."""
    extent = 2048
    places = [0, 8, 1000 * extent, 5000 * extent, 5000 * extent + 64]
    file = _write(tmp_path / "trace.parquet", [(0.0, 1, READ, 0)] * 5, places=places)

    def replay(mib: int) -> Scenario:
        disk = constant_server("1ms", capacity=f"{mib}MiB")
        return {**_replay(file, disk, mode="asap", map="compact")}

    assert simulate(replay(3))["reads"] == 5
    with pytest.raises(TraceError):
        simulate(replay(2))


def test_a_request_larger_than_the_array_cannot_be_wrapped(tmp_path: Path) -> None:
    file = _write(tmp_path / "trace.parquet", [(0.0, 1, READ, 0)], places=[4096], sectors=4096)
    (row,) = simulate_batch(
        [_replay(file, constant_server("1ms", capacity="1MiB"), mode="asap", map="wrap")]
    ).to_pylist()
    assert (row["status"], row["error_kind"]) == ("failed", "trace")


def test_a_replay_starts_cold_and_is_measured_whole(tmp_path: Path) -> None:
    file = _write(tmp_path / "trace.parquet", [(float(index), 1, WRITE, 0) for index in range(50)])
    row = simulate({**_replay(file, constant_server("1ms"), mode="open"), "controller": write_back()})
    assert (row["warm_up_requests"], row["warm_up_s"], row["dirty_start_sectors"]) == (0, 0.0, 0)
    assert row["writes"] == 50
    assert row["accepted_sectors"] == 50 * 8 == row["dirty_end_sectors"] + row["destaged_sectors"]


def test_a_missing_trace_is_named(tmp_path: Path) -> None:
    scenario = _replay(tmp_path / "nowhere.parquet", constant_server("1ms"), mode="asap")
    with pytest.raises(TraceError, match=r"^trace\.unreadable at .*nowhere\.parquet"):
        simulate(scenario)
