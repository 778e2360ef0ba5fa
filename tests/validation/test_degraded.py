"""Disk I/Os of degraded arrays and the duration of rebuilds, against closed forms, without a cache."""

import pytest
from validation.mutations import LAST_WRITE, UNCOUNTED, simulate_mutants
from validation.replicates import Row, assert_covers, assert_equal, each, mutants_of, replicate
from validation.scenarios import Scenario, closed, constant, poisson, scenario, server

from destage.engine import simulate

UNIT = 64 << 10


def _at_the_start(
    raid: str, disks: int, failed: list[int], read_fraction: float, **array: object
) -> Scenario:
    """Host reads or writes of 4 KB at the start of the array, on disk 0."""
    return scenario(
        closed(constant("1us")),
        server(constant("1ms"), capacity="1GB"),
        read_fraction=read_fraction,
        address={"kind": "uniform", "footprint": "4KiB"},
        array={"raid": raid, "disks": disks, "stripe_unit": UNIT, "failed_disks": failed, **array},
        warm_up=10,
        window=1_000,
    )


def _ios(row: Row) -> tuple[float, float]:
    """Disk reads and writes of a host request."""
    assert row["status"] == "ok"
    assert row["degraded_s"] == pytest.approx(row["window_s"])
    return row["disk_reads"] / row["requests"], row["disk_writes"] / row["requests"]


# Stripe 0 of eight disks: in RAID 5 data from disk 0 on and P on 7; in RAID 6 Q on 0, data from 1 on, P on 7.
@pytest.mark.parametrize(
    ("raid", "disks", "failed", "reads"),
    [
        ("1", 2, [0], 1),
        ("10", 8, [0], 1),
        ("10", 8, [1], 1),
        ("5", 8, [0], 7),
        ("5", 8, [3], 1),
        ("6", 8, [1], 6),
        ("6", 8, [1, 2], 6),
        ("6", 8, [1, 7], 6),
        ("6", 8, [2, 3], 1),
        ("50", 8, [0], 3),
        ("50", 8, [0, 5], 3),
        ("60", 12, [1, 2, 7, 8], 4),
    ],
)
def test_reads_of_a_degraded_array(raid: str, disks: int, failed: list[int], reads: int) -> None:
    """A missing strip takes n - 1 reads in RAID 5 and n - 2 in RAID 6, of its group; any other takes one."""
    counted, written = _ios(simulate(_at_the_start(raid, disks, failed, 1.0)))
    assert_equal(f"RAID {raid} of {disks} without {failed}: disk reads of a read", "I/Os", reads, counted)
    assert written == 0


# The disk that the last write of a small one to stripe 0 goes to: the second copy, P or Q.
_LAST_WRITTEN = {"1": 1, "10": 1, "5": 7, "6": 0, "50": 3, "60": 0}


@pytest.mark.parametrize(
    ("raid", "disks", "failed", "reads", "writes"),
    [
        ("1", 2, [1], 0, 1),
        ("10", 8, [0], 0, 1),
        ("10", 8, [2], 0, 2),
        ("5", 8, [0], 6, 1),
        ("5", 8, [3], 2, 2),
        ("5", 8, [7], 0, 1),
        ("6", 8, [1], 5, 2),
        ("6", 8, [2], 3, 3),
        ("6", 8, [7], 2, 2),
        ("6", 8, [0, 7], 0, 1),
        ("6", 8, [1, 2], 6, 2),
        ("6", 8, [2, 3], 3, 3),
        ("6", 8, [1, 7], 5, 1),
        ("50", 8, [0], 2, 1),
        ("50", 8, [4], 2, 2),
        ("60", 12, [1], 3, 2),
    ],
)
def test_small_writes_to_a_degraded_array(
    raid: str, disks: int, failed: list[int], reads: int, writes: int
) -> None:
    """Its strip is missing: the others are read. Parity is missing: the data alone. Otherwise RMW."""
    load = _at_the_start(raid, disks, failed, 0.0)
    read, written = _ios(simulate(load))
    title = f"RAID {raid} of {disks} without {failed}: disk {{}} of a small write"
    assert_equal(title.format("reads"), "I/Os", reads, read)
    mutants = {}
    # Without its only write, an operation would have no I/O at all, which the engine takes for a deadlock.
    if _LAST_WRITTEN[raid] not in failed and writes > 1:
        for change, mutation in LAST_WRITE.items():
            for row in simulate_mutants([load], mutation):
                mutants[change] = _ios(row)[1]
    assert_equal(title.format("writes"), "I/Os", writes, written, mutants=mutants)


def _anywhere(read_fraction: float) -> Scenario:
    return scenario(
        closed(constant("1us")),
        server(constant("1ms"), capacity="1GB"),
        read_fraction=read_fraction,
        array={"raid": "5", "disks": 8, "stripe_unit": UNIT, "failed_disks": [2]},
        warm_up=10,
        window=40_000,
    )


@pytest.mark.parametrize(
    ("kind", "read_fraction", "exact"),
    [("read", 1.0, 2 * 7 / 8), ("write", 0.0, (6 * 4 + 7 + 1) / 8)],
)
def test_mean_over_a_degraded_raid_5(kind: str, read_fraction: float, exact: float) -> None:
    """Of n strips one is missing: a read takes 2 (n - 1) / n I/Os, a write (4 (n - 2) + (n - 1) + 1) / n."""

    def ios(row: Row) -> float:
        return float(row["disk_reads"] + row["disk_writes"]) / float(row["requests"])

    load = _anywhere(read_fraction)
    # The mean of a write is 4, as on an intact array, so the wrong model must omit an I/O.
    assert_covers(
        f"RAID 5 of 8 without one: disk I/Os of a random {kind}",
        "I/Os",
        exact,
        each(replicate(load), ios),
        mutants=mutants_of(load, UNCOUNTED, ios),
        rounding=0.001,
    )


def _rebuilt(raid: str, capacity: str, seconds: float, **array: object) -> dict[str, float]:
    """Return a nearly idle array whose first disk has failed and is rebuilt onto a hot spare."""
    return simulate(
        scenario(
            poisson(0.01),
            server(constant("1ms"), capacity=capacity),
            array={"raid": raid, "disks": 4, "failed_disks": [0], "hot_spares": 1, **array},
            warm_up=0,
            window={"duration": f"{seconds}s"},
        )
    )


@pytest.mark.parametrize("raid", ["10", "5", "6"])
def test_rebuild_time_at_a_rate(raid: str) -> None:
    """Capacity / rate: 73 GB at 30 MB/s take 40.6 min."""
    row, faster = (
        _rebuilt(raid, "73GB", 2600, stripe_unit="1MiB", rebuild={"rate": rate})
        for rate in ("30MB/s", "33MB/s")
    )
    used = 73 * 10**9 // 2**20 * 2**20
    title = f"RAID {raid} of 4: rebuild of 73 GB at 30 MB/s"
    mutants = {"rated 33 MB/s": faster["rebuild_s"] / 60}
    assert_equal(title, "min", used / 30e6 / 60, row["rebuild_s"] / 60, tolerance=1e-9, mutants=mutants)
    assert row["rebuild_s"] / 60 == pytest.approx(40.6, abs=0.05)
    assert row["rebuild_bytes"] == used
    assert row["rebuild_progress_fraction"] == 1.0
    assert row["degraded_s"] == pytest.approx(row["rebuild_s"])
    reads, writes = {"10": (1, 1), "5": (3, 1), "6": (2, 1)}[raid]
    rows = used // 2**20
    assert abs(row["disk_reads"] - reads * rows) <= 200
    assert row["disk_writes"] == writes * rows


def test_rebuild_time_without_a_rate() -> None:
    """One row at a time: a read and a write of 1 ms each."""
    row = _rebuilt("10", "64MB", 30, stripe_unit="64KiB", rebuild={"depth": 1})
    rows = 64 * 10**6 // UNIT
    assert_equal("RAID 10: rebuild of one row at a time", "s", rows * 2e-3, row["rebuild_s"], tolerance=2e-3)


def test_a_rebuild_reports_its_progress() -> None:
    """Failure, spare, start, each tenth, end."""
    row = _rebuilt("5", "1GB", 60, stripe_unit="1MiB", rebuild={"rate": "30MB/s"})
    events = list(zip(row["timeline_event"], row["timeline_subject"], row["timeline_value"], strict=True))
    names = [event for event, _, _ in events if event not in {"window_begins", "window_ends"}]
    assert names[:4] == ["disk_failed", "array_degraded", "spare_taken", "rebuild_started"]
    assert names[4:13] == ["rebuild_progress"] * 9
    assert names[13:] == ["rebuild_done", "array_optimal"]
    progress = [value for event, _, value in events if event == "rebuild_progress"]
    assert progress == pytest.approx([tenth / 10 for tenth in range(1, 10)], abs=2e-3)


def test_an_array_that_loses_too_much_ends_the_run() -> None:
    """The second failure in RAID 5 ends the run before the end of its window."""
    row = simulate(
        scenario(
            poisson(100),
            server(constant("1ms"), capacity="1GB"),
            array={"raid": "5", "disks": 4},
            warm_up=0,
            window={"duration": "60s"},
        )
        | {"faults": [{"kind": "disk_fails", "at": f"{at}s", "disk": at} for at in (1, 2)]}
    )
    assert row["status"] == "array_failed"
    assert row["window_s"] == pytest.approx(2.0)
    assert row["degraded_s"] == pytest.approx(1.0)
    assert row["failed_requests"] < 20
