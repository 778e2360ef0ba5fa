"""The answer in words, for studies that replay a trace and for those at a fixed load."""

import json
from typing import Any

import pyarrow as pa
import pytest

from destage.queries import Session
from destage.queries.report.figures import build_figures
from destage.queries.report.reported_kinds import compose_answer

CAPACITY = "controller.cache.capacity"
BATTERY = "controller.battery.state"
USERS = "workload.users"
TRACE = "workload.streams.0.arrival.file"
MIB = 2**20


def answer(session: Session) -> str:
    return " ".join(compose_answer(session))


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def replay(make_session: Any) -> Session:
    config = json.dumps({"workload": {"streams": [{"arrival": {"kind": "trace", "file": "t.parquet"}}]}})
    times = {("absent", 64): 100.0, ("present", 64): 80.0, ("present", 128): 41.0, ("present", 256): 40.0}
    runs = [
        {
            "point_id": f"{battery}-{capacity}",
            "replicate": 0,
            "run_id": f"{battery}-{capacity}",
            "config": config,
            BATTERY: battery,
            CAPACITY: capacity * MIB,
            "completion_time_s": seconds,
            "commit_p50_us": seconds * 100,
            "commit_p99_us": seconds * 1000,
            "commits_per_s": 8000 / seconds,
        }
        for (battery, capacity), seconds in times.items()
    ]
    session: Session = make_session(runs, axes={BATTERY: pa.string(), CAPACITY: pa.int64()})
    return session


def test_a_replay_is_compared_with_the_one_without_battery(replay: Session) -> None:
    assert answer(replay) == one_line("""
        The replay takes 40 s with 256 MiB of cache, battery present, and 100 s with 64 MiB of cache,
        battery absent: 2.5 times as fast.
        Commit latency: median 4 ms instead of 10 ms, 99th percentile 40 ms instead of 100 ms;
        200 commits/s instead of 80 commits/s.
        The replay takes 80 s with 64 MiB of cache, battery present.
        Commit latency: median 8 ms, 99th percentile 80 ms; 100 commits/s.
        128 MiB of cache, battery present is within 5 % of the shortest time: a larger cache gains little.
    """)


def _backup(
    file: str, replicate: int, seconds: float, commands: int, battery: str = "absent"
) -> dict[str, Any]:
    """One run of a replay of a whole trace or a part of it."""
    config = {"workload": {"streams": [{"arrival": {"kind": "trace", "file": "t.parquet"}}]}}
    point = f"{file}-{battery}"
    return {
        "point_id": point,
        "replicate": replicate,
        "run_id": f"{point}-{replicate}",
        "config": json.dumps(config),
        TRACE: f"/somewhere/{file}.parquet",
        BATTERY: battery,
        "completion_time_s": seconds - 1,
        "drain_s": 1.0,
        "reads": 0,
        "writes": commands - 20,
        "flushes": 20,
        "accepted_sectors": 1000,
        "absorbed_sectors": 100,
        "coalescing_factor": 5.0,
        "disk_busy_max_fraction": 0.9,
        "link_busy_fraction": 0.1,
        "firmware_busy_fraction": 0.1,
    }


def test_parts_of_a_trace_are_compared_within_each_replicate(make_session: Any) -> None:
    runs = [
        _backup(file, replicate, seconds + replicate, commands)
        for file, seconds, commands in [("all", 40.0, 100), ("tar", 10.0, 40), ("copy", 20.0, 60)]
        for replicate in range(2)
    ]
    runs += [_backup("all", replicate, 10.0, 100, "present") for replicate in range(2)]
    session = make_session(runs, axes={TRACE: pa.string(), BATTERY: pa.string()})
    # 30 of 40 and 32 of 41 s: means of 31 s and 0.765, t = 12.7 for two replicates.
    assert compose_answer(session)[0] == one_line("""
        One after the other, tar and copy take 31 s (95 % CI 18.3 to 43.7) with battery absent: 0.765 times
        (95 % CI 0.572 to 0.959) as long as together.
    """)
    text = answer(session)
    assert (
        "The replay, including the drain, takes 10 s with battery present, and 40.5 s "
        "(95 % CI 34.1 to 46.9) with battery absent: 4.05 times (95 % CI 3.41 to 4.69) as fast." in text
    )
    assert "Limiting resource with battery present: disks; busiest disk busy 90 % of the time" in text
    assert "20 % of all commands are flushes" in text


def test_writes_saved_by_a_larger_cache_are_stated(make_session: Any) -> None:
    runs = [
        _backup("all", 0, 20.0, 100, "present")
        | {"point_id": f"{mib}", "run_id": f"{mib}", CAPACITY: mib * MIB}
        | {"absorbed_sectors": 100 + mib, "coalescing_factor": mib / 10}
        for mib in (40, 80)
    ]
    session = make_session(runs, axes={TRACE: pa.string(), BATTERY: pa.string(), CAPACITY: pa.int64()})
    assert one_line("""
        The cache absorbs 14 % of all written data with 40 MiB of cache, battery present and 18 % with 80 MiB
        of cache, battery present; a larger cache absorbs hardly more.
        A write to the disks combines 4 host writes with the smaller cache and 8 with the larger one.
    """) in answer(session)


def test_each_array_has_an_answer_of_its_own(make_session: Any) -> None:
    disk = "array.disk.use"
    times = {("slow", 64): 90.0, ("slow", 128): 60.0, ("fast", 64): 50.5, ("fast", 128): 50.0}
    runs = [
        _backup("all", 0, seconds, 100)
        | {"point_id": f"{name}-{mib}", "run_id": f"{name}-{mib}", disk: name, CAPACITY: mib * MIB}
        for (name, mib), seconds in times.items()
    ]
    session = make_session(runs, axes={disk: pa.string(), CAPACITY: pa.int64()})
    text = answer(session)
    assert "slow: The replay, including the drain, takes 60 s with 128 MiB of cache" in text
    assert "fast: The replay, including the drain, takes 50 s with 128 MiB of cache" in text
    assert text.count("a larger cache gains little") == 1
    assert text.index("fast: ") < text.index("a larger cache gains little")


def test_each_trace_has_a_panel_of_its_own(make_session: Any) -> None:
    runs = [
        _backup(file, 0, 10.0, 50, battery)
        | {"point_id": f"{file}-{battery}-{mib}", CAPACITY: mib * MIB}
        | {"run_id": f"{file}-{battery}-{mib}"}
        for file in ("tar", "copy")
        for battery in ("absent", "present")
        for mib in (64, 128)
    ]
    axes = {TRACE: pa.string(), BATTERY: pa.string(), CAPACITY: pa.int64()}
    session = make_session(runs, axes=axes)
    drawn = {figure.name: figure.chart for figure in build_figures(session)}
    panels = drawn["completion_time_against_cache"].panels
    assert [panel.title for panel in panels] == ["tar.parquet", "copy.parquet"]
    assert [[one.name for one in panel.series] for panel in panels] == [
        ["battery present", "battery absent"]
    ] * 2


def test_a_replay_has_figures_of_commits(replay: Session) -> None:
    drawn = {figure.name: figure.chart for figure in build_figures(replay)}
    assert list(drawn) == [
        "completion_time_against_cache",
        "commit_latency_against_cache",
        "commit_rate_against_cache",
    ]
    series = {one.name: one for one in drawn["completion_time_against_cache"].panels[0].series}
    assert series["battery absent"].style == "reference"
    assert [(mark.x / MIB, mark.y) for mark in series["battery present"].marks] == [
        (64, 80),
        (128, 41),
        (256, 40),
    ]


def test_a_fixed_load_answers_with_extremes_and_battery_gain(make_session: Any) -> None:
    figures_ms = {("absent", 20): 14, ("present", 20): 7, ("absent", 40): 40, ("present", 40): 8}
    runs = [
        {
            "point_id": f"{battery}-{users}",
            "replicate": 0,
            "run_id": f"{battery}-{users}",
            BATTERY: battery,
            USERS: users,
            "response_p95_us": ms * 1000.0,
            "throughput_iops": 1.5 * users,
        }
        for (battery, users), ms in figures_ms.items()
    ]
    session = make_session(runs, axes={BATTERY: pa.string(), USERS: pa.int64()})
    assert answer(session) == one_line("""
        Without a battery, p95 is 5 times as long: 40 ms instead of 8 ms, with 40 users.
        Fastest: response p95 of 7 ms at 30 requests/s with 20 users, battery present.
        Slowest: response p95 of 40 ms at 60 requests/s with 40 users, battery absent.
        Rests on an assumed locality: Zipf 0.9 over 8 GB (preset call_center).
    """)


def test_a_bound_is_stated_as_a_bound(make_session: Any) -> None:
    answers = [
        {"point_id": "p", "label": "bare", CAPACITY: 0, "metric": "users_supported", "answer_mean": 40.0},
        {
            "point_id": "q",
            CAPACITY: 64 * MIB,
            "metric": "users_supported",
            "answer_mean": 1024.0,
            "censored": "at_least",
        },
    ]
    runs = [
        {"point_id": each["point_id"], "label": each.get("label"), "replicate": 0, "run_id": each["point_id"]}
        | {CAPACITY: each[CAPACITY], USERS: 1}
        for each in answers
    ]
    session = make_session(runs, axes={CAPACITY: pa.int64()}, seek=USERS, answers=answers)
    assert answer(session) == one_line("""
        At least 1024 users with 64 MiB of cache: at least 25.6 times the baseline.
        Baseline: 40 users with bare.
        1 point reached an end of the search range; the answer there is only a bound.
        Rests on an assumed locality: Zipf 0.9 over 8 GB (preset call_center).
    """)


def _faulty(name: str, kinds: list[str], response_ms: float, lost_mib: float = 0.0) -> list[dict[str, Any]]:
    faults = json.dumps([{"kind": kind, "at": 60 * 10**9} for kind in kinds])
    return [
        {
            "point_id": name,
            "replicate": replicate,
            "run_id": f"{name}-{replicate}",
            "faults": faults,
            "response_p95_us": response_ms * 1000.0,
            "throughput_iops": 200.0,
            "dirty_lost_bytes": int((lost_mib + 0.5 * replicate) * MIB) if lost_mib else 0,
        }
        for replicate in range(2)
    ]


def test_a_dead_battery_is_the_first_sentence(make_session: Any) -> None:
    runs = [
        *_faulty("none", [], 13.0),
        *_faulty("dead", ["battery_fails"], 182.0),
        *_faulty("mains", ["mains_lost"], 14.0),
        *_faulty("both", ["battery_fails", "mains_lost"], 130.0, 81.75),
    ]
    session = make_session(runs, axes={"faults": pa.string()})
    # Two replicates of 81.75 and 82.25 MiB: t = 12.7 times 0.25.
    assert compose_answer(session)[0] == (
        "A dead battery makes p95 14 times as long: 182 ms instead of 13 ms; "
        "a power cut then loses 82 MiB (95 % CI 78.82 to 85.18)."
    )


def test_a_battery_that_changes_nothing_is_said_to(make_session: Any) -> None:
    runs = [*_faulty("none", [], 13.0), *_faulty("dead", ["battery_fails"], 13.1)]
    session = make_session(runs, axes={"faults": pa.string()})
    assert compose_answer(session)[0] == "A dead battery does not increase p95: 13.1 ms instead of 13 ms."


def test_a_seek_says_how_many_users_a_battery_carries(make_session: Any) -> None:
    answers = [
        {
            "point_id": f"{state}-{mib}",
            BATTERY: state,
            CAPACITY: mib * MIB,
            "metric": "users_supported",
            "answer_mean": users,
            "censored": "at_least" if users == 128 else None,
        }
        for state, mib, users in [
            ("present", 32, 60.0),
            ("present", 64, 128.0),
            ("absent", 32, 40.0),
            ("absent", 64, 40.0),
        ]
    ]
    runs = [
        {"point_id": each["point_id"], "replicate": 0, "run_id": each["point_id"], USERS: 1}
        | {name: each[name] for name in (BATTERY, CAPACITY)}
        for each in answers
    ]
    session = make_session(
        runs, axes={BATTERY: pa.string(), CAPACITY: pa.int64()}, seek=USERS, answers=answers
    )
    assert compose_answer(session)[:2] == [
        (
            "Without a battery, 40 instead of at least 128 users are supported, a factor of at least 3.2, "
            "with 64 MiB of cache."
        ),
        "At least 128 users with 64 MiB of cache, battery present: at least 2.13 times the baseline.",
    ]
