"""`destage size --have` with objectives during a rebuild and with a dead battery."""

import json
from pathlib import Path
from typing import Any

import pytest

from destage.queries import open_session

ARRAY = """\
workload:
  users: 2
  streams:
  - name: files
    arrival: {kind: poisson, rate: 30/s, per_user: true}
    operations: {read_fraction: 0.5, size: {kind: constant, value: 8KiB}}
    address: {kind: uniform, footprint: 1TB}
controller: {use: megaraid_9560_8i, cache: {capacity: 64MiB}}
array: {raid: "10", disks: 4, disk: {use: exos_x18}}
run: {warm_up: {requests: 100}, window: {requests: 800}}
"""
MORE = ("--read-iops", "60", "--write-iops", "60", "--size", "8KiB", "--capacity", "1TB")
SAME = ("--controllers", "megaraid_9560_8i", "--disks", "exos_x18", "--raid", "10")
"""What the array has, so that further disks are the only change."""
REBUILD, BATTERY = "--during-rebuild", "--dead-battery"


@pytest.fixture
def ask(destage: Any, tmp_path: Path) -> Any:
    """Return a function that asks whether the load fits on an array, and returns the answer."""

    def check(array: str, *args: str) -> dict[str, Any]:
        file = tmp_path / "array.yaml"
        file.write_text(array)
        done = destage("size", "--have", str(file), *MORE, *args, "--quiet", "--json")
        assert done.issues == []
        answer: dict[str, Any] = json.loads(done.out)
        assert done.code == (0 if answer["fits"] else 1)
        return answer

    return check


def list_rows(answer: dict[str, Any], part: str, columns: str) -> list[dict[str, Any]]:
    """Return the runs of the sweeps that have a part in their name."""
    rows: list[dict[str, Any]] = []
    for path in answer["sweeps"]:
        if part in Path(path).name:
            with open_session(Path(path)) as session:
                rows += session.sql(f"SELECT {columns} FROM runs").to_pylist()  # noqa: S608
    assert rows
    return rows


def test_a_dead_battery_is_as_an_absent_one(ask: Any) -> None:
    """The same runs: 4 disks have 19 ms, over 15 ms, and 10 ms in normal operation."""
    dead = ask(ARRAY, *SAME, BATTERY, "response_p95 <= 15ms")
    absent = ask(
        ARRAY.replace("64MiB}", "64MiB}, battery: {state: absent}"),
        *(*SAME, "--response-p95", "15ms", "--subject-to", "disk_busy_max <= 1"),
    )
    assert not dead["fits"]
    for key in ("today", "with_addition"):
        assert dead[key]["is_met"]
        (state,) = dead[key]["states"]
        assert (state["state"], state["is_always"]) == ("dead_battery", False)
        for field in ("is_met", "verdict", "binding", "hit_ratio", "means"):
            assert state[field] == absent[key][field]
        assert state["measured"] == absent[key]["measured"][:1]
    assert "(dead battery)" in dead["answer"][0]
    # In each number of disks, normal operation meets its objectives: the state decides.
    change, other = (answer["changes"][0] for answer in (dead, absent))
    assert (change["kind"], other["kind"]) == ("disks", "disks")
    (state,) = change["array"]["states"]
    disks = change["array"]["disks"]
    assert disks == state["disks"] == other["array"]["disks"]
    assert state["measured"] == other["array"]["measured"][:1]
    assert state["is_met"]
    assert change["array"]["is_met"]
    assert any(f"{disks} in all" in line and "(dead battery)" in line for line in dead["answer"])


def test_a_change_has_to_meet_the_objectives_of_all_states(ask: Any) -> None:
    """A larger cache helps normal operation only: with a dead battery, it writes through as well.

    The dead battery is that of the new controller.
    """
    asked = (
        "--controllers",
        "megaraid_9560_16i",
        "--disks",
        "pm9a3_7680gb",
        "--raid",
        "10",
        "--keep",
        "2TB",
    )
    answer = ask(ARRAY, *asked, "--count", "4", BATTERY, "response_p95 <= 8ms", "--response-p95", "40ms")
    assert answer["with_addition"]["is_met"]
    fits = {change["kind"]: change["reliance"] is not None for change in answer["changes"]}
    assert fits == {"cache": False, "controller": False, "disk": True}
    cached = next(change["array"] for change in answer["changes"] if change["kind"] == "cache")
    assert (cached["is_met"], cached["states"][0]["is_met"]) == (True, False)
    (path,) = [path for path in answer["sweeps"] if "-dead-battery-changes" in Path(path).name]
    with open_session(Path(path)) as session:
        states = {session.sweep.configuration(row)["controller"]["battery"]["state"] for row in range(3)}
    assert states == {"absent"}


def test_the_recommended_disks_carry_the_load_during_a_rebuild(ask: Any) -> None:
    """Fewer disks do not, although they do in normal operation."""
    asked = (*SAME, REBUILD, "response_p95 <= 11ms")
    answer = ask(ARRAY, *asked)
    assert (answer["with_addition"]["is_met"], answer["fits"]) == (True, False)
    change = answer["changes"][0]
    disks = change["array"]["disks"]
    assert change["kind"] == "disks"
    assert [one["is_met"] for one in (change["array"], *change["array"]["states"])] == [True, True]
    assert ask(ARRAY, *asked, "--set", f"array.disks={disks}")["fits"]
    for row in list_rows(answer, "-during-rebuild-", "window_s, degraded_s, rebuild_s, rebuild_bytes"):
        assert row["degraded_s"] == pytest.approx(row["window_s"])
        assert (row["rebuild_s"], row["rebuild_bytes"] > 0) == (None, True)


def test_an_array_without_redundancy_needs_another_level(ask: Any) -> None:
    """RAID 0 loses its data as the disk fails; mirrored, it goes on."""
    asked = (*SAME[:4], "--keep", "2TB", "--count", "4", REBUILD, "response_p95 <= 1s")
    answer = ask(ARRAY.replace('"10"', '"0"'), *asked, "--raid", "10")
    (state,) = answer["with_addition"]["states"]
    assert (state["is_met"], state["binding"]) == (False, "array_failed")
    assert "lose more disks" in answer["answer"][0]
    fits = [(change["kind"], change["reliance"] is not None) for change in answer["changes"]]
    assert fits == [("cache", False), ("raid", True)]


def test_an_array_without_a_write_cache_is_always_in_the_state(ask: Any) -> None:
    uncached = ARRAY.replace("megaraid_9560_8i, cache: {capacity: 64MiB}", "megaraid_9540")
    answer = ask(uncached, *SAME, BATTERY, "response_p95 <= 1s", "--response-p95", "1s")
    for array in (answer["today"], answer["with_addition"]):
        (state,) = array["states"]
        assert (state["is_always"], state["measured"]) == (True, array["measured"][:1])
    assert any(line.startswith("Dead battery: the array is always") for line in answer["answer"])
    runs = [list_rows(answer, part, "run_id") for part in ("-120-with", "-dead-battery-with")]
    assert runs[0] == runs[1]


FAILED = ARRAY.replace("disks: 4,", "disks: 4, failed_disks: [1],")
FAULTS = f"{ARRAY}faults: [{{kind: disk_fails, at: 1s, disk: 0}}]\n"


@pytest.mark.parametrize(
    ("array", "options", "issue"),
    [
        (FAILED, (REBUILD, "response_p95 <= 1s"), ("study.no-effect", REBUILD)),
        (FAULTS, (REBUILD, "response_p95 <= 1s"), ("study.no-effect", REBUILD)),
        (ARRAY, (REBUILD, "response_p95 < slow"), ("study.bad-quantity", REBUILD)),
        (ARRAY, (BATTERY, "response_p96 <= 3ms"), ("study.unknown-name", BATTERY)),
        (ARRAY, (REBUILD, "rebuild <= 9h"), ("study.not-measured", REBUILD)),
    ],
)
def test_mistakes_have_a_code_and_a_place(
    destage: Any, tmp_path: Path, array: str, options: Any, issue: tuple[str, str]
) -> None:
    file = tmp_path / "array.yaml"
    file.write_text(array)
    done = destage("size", "--have", str(file), *MORE, *SAME, *options, "--quiet")
    assert (done.code, done.issues, done.out) == (2, [issue], "")
