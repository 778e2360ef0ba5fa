"""`destage size` with objectives during a rebuild and with a dead battery."""

import json
from pathlib import Path
from typing import Any

import pytest

import destage as package
from destage.queries import open_session

QUICK = (
    *("--set", "run.warm_up={requests: 500}"),
    *("--set", "run.window={requests: 3000}"),
    *("--quiet", "--json"),
)
LOAD = ("--users", "20", "--workload", "vdi")
SMALL_CACHE = ("--set", "controller.cache.capacity=256MiB")
"""A cache that is soon full: a run takes a tenth of the processor time."""
CACHED = (
    *("--disks", "exos_x18", "--controllers", "megaraid_9560_8i", "--raid", "10", "--count", "4-16"),
    *SMALL_CACHE,
)
UNCACHED = (
    *("--disks", "dc600m_960gb", "--controllers", "megaraid_9540", "--count", "2-4"),
    *("--set", "array.disk.precondition=empty"),
)
REBUILD, BATTERY = "--during-rebuild", "--dead-battery"


def list_states(answer: dict[str, Any]) -> list[str]:
    """Return the states in which the first array was examined."""
    return [result["state"] for result in answer["carrying"][0]["states"]]


def list_runs(answer: dict[str, Any], name: str, without: str = " ") -> set[str]:
    """Return the ids of the runs of the sweeps that have a part in their name, and not another one."""
    runs: set[str] = set()
    for path in map(Path, answer["sweeps"]):
        if name in path.name and without not in path.name:
            with open_session(path) as session:
                runs |= {row["run_id"] for row in session.sql("SELECT run_id FROM runs").to_pylist()}
    assert runs
    return runs


def test_the_fewest_disks_are_those_of_the_hardest_state(destage: Any) -> None:
    """A search in normal operation and one of an array without a battery give both numbers on their own."""
    size = ("size", *LOAD, *CACHED, *QUICK)
    healthy = json.loads(destage(*size).out)
    assert list_states(healthy) == []
    absent = ("--set", "controller.battery.state=absent", "--subject-to", "disk_busy_max <= 1")
    dead = json.loads(destage(*size, *absent, "--response-p95", "60ms").out)
    counts = [answer["carrying"][0]["disks"] for answer in (healthy, dead)]
    assert counts[0] < counts[1]

    done = destage(*size, BATTERY, "response_p95 <= 60ms")
    both = json.loads(done.out)
    (best,) = both["carrying"]
    assert (done.code, best["disks"]) == (0, max(counts))
    # These results are those of the answer, not of the fewest disks in normal operation.
    alone = ("--count", f"{best['disks']}-{best['disks']}")
    assert both["by_destages"] == json.loads(destage(*size, *alone).out)["by_destages"] != {}
    assert best["failing"] < best["disks"]
    assert best["binding"] == "response_p95 <= 60ms (dead battery)"
    (result,) = best["states"]
    assert (result["is_met"], result["is_always"], result["disks"]) == (True, False, best["disks"])
    (measured,) = result["measured"]
    assert measured["mean"] == pytest.approx(dead["carrying"][0]["measured"][0]["mean"])
    assert both["battery"]["without"]["response_p95_us"] == pytest.approx(measured["mean"], rel=0.1)
    assert any(line.split()[:3] == ["dead", "battery", "response"] for line in both["answer"])

    looser = json.loads(destage(*size, BATTERY, "response_p95 <= 200ms").out)
    assert counts[0] <= looser["carrying"][0]["disks"] <= best["disks"]
    too_few = json.loads(destage(*size, BATTERY, "response_p95 <= 60ms", "--count", "4").out)
    assert too_few["carrying"] == []
    assert "(dead battery)" in too_few["answer"][0]
    assert not too_few["candidates"][0]["states"][0]["is_met"]


def test_the_search_goes_on_beyond_arrays_that_fail(destage: Any, tmp_path: Path) -> None:
    """Six disks have 49 ms with a dead battery: over 30 ms, and far over 5 ms. SSDs have less.

    SSDs cost more, and are not searched in normal operation.
    """
    prices = tmp_path / "prices.yaml"
    disks = "{exos_x18: 100, exos_x16: 101, exos_x20: 102, dc600m_960gb: 900}"
    prices.write_text(
        f"{{currency: USD, date: 2026-11-01, controllers: {{megaraid_9560_8i: 400}}, disks: {disks}}}"
    )
    size = ("size", *LOAD, "--prices", str(prices), "--raid", "10,5", "--count", "4-6", *SMALL_CACHE, *QUICK)
    healthy = json.loads(destage(*size).out)
    assert "dc600m_960gb" not in {one["parts"]["array.disk.use"] for one in healthy["carrying"]}
    for limit in ("30ms", "5ms"):
        answer = json.loads(destage(*size, BATTERY, f"response_p95 <= {limit}").out)
        assert {one["parts"]["array.disk.use"] for one in answer["carrying"]} == {"dc600m_960gb"}
        assert [one["price"] for one in answer["carrying"]] == [4_000.0, 4_000.0]
        failed = [one for one in answer["candidates"] if one["parts"]["array.disk.use"] != "dc600m_960gb"]
        assert len(failed) == 6
        assert all("(dead battery)" in one["binding"] and one["disks"] is None for one in failed)
        budget = destage(*size, BATTERY, f"response_p95 <= {limit}", "--budget", "3999")
        assert (budget.code, json.loads(budget.out)["carrying"]) == (1, [])


def test_objectives_that_are_met_anyway_change_nothing(destage: Any) -> None:
    size = ("size", *LOAD, *UNCACHED, *QUICK)
    plain = json.loads(destage(*size).out)
    asked = (REBUILD, "response_p95 <= 10s", REBUILD, "response_p99 <= 10s", BATTERY, "response_p95 <= 10s")
    done = destage(*size, *asked)
    answer = json.loads(done.out)
    assert list_states(answer) == ["during_rebuild", "dead_battery"]
    rebuilt, dead = answer["carrying"][0]["states"]
    assert [len(result["measured"]) for result in (rebuilt, dead)] == [2, 1]
    assert [result["is_always"] for result in (rebuilt, dead)] == [False, True]
    for one in answer["carrying"][:2]:
        one["states"] = []
    for key in ("held", "assured", "battery", "currency", "outclassed"):
        assert answer[key] == plain[key]
    for one, other in zip(answer["carrying"][:2], plain["carrying"][:2], strict=True):
        assert {**one, "odds": other["odds"]} == other
    # Without a write cache, the runs with a dead battery are those of normal operation.
    names = [Path(path).name for path in answer["sweeps"]]
    in_normal = [name for name in names if "-during-rebuild-" not in name and "-dead-battery-" not in name]
    assert [Path(path).name for path in plain["sweeps"]] == in_normal
    assert list_runs(answer, "-dead-battery-") <= list_runs(plain, "size-vdi-20-")
    rebuilds = [Path(path) for path in answer["sweeps"] if "-during-rebuild-" in path]
    assert len({*rebuilds}) == len(rebuilds)
    for path in rebuilds:
        with open_session(path) as session:
            rows = session.sql(
                "SELECT window_s, degraded_s, rebuild_s, rebuild_bytes, rebuild_progress_fraction FROM runs"
            ).to_pylist()
        for row in rows:
            assert row["degraded_s"] == pytest.approx(row["window_s"])
            assert row["rebuild_s"] is None
            assert row["rebuild_bytes"] > 0
            assert row["rebuild_progress_fraction"] < 1


def test_an_array_without_redundancy_cannot_be_rebuilt(destage: Any) -> None:
    size = ("size", *LOAD, *UNCACHED, *QUICK, REBUILD, "response_p95 <= 10s")
    only = destage(*size, "--raid", "0")
    answer = json.loads(only.out)
    assert (only.code, answer["carrying"], answer["sweeps"]) == (1, [], [])
    assert "RAID 0" in answer["answer"][0]
    some = json.loads(destage(*size, "--raid", "0,10").out)
    assert {one["parts"]["array.raid"] for one in some["candidates"]} == {"10"}
    assert any(line.startswith("RAID 0 is left out") for line in some["answer"])


def test_an_array_whose_battery_is_absent_is_not_run_twice(destage: Any) -> None:
    absent = ("--set", "controller.battery.state=absent", BATTERY, "response_p95 <= 60ms")
    done = destage("size", *LOAD, *CACHED, *QUICK, *absent, "--response-p95", "60ms")
    answer = json.loads(done.out)
    assert answer["carrying"][0]["states"][0]["is_always"]
    assert list_runs(answer, "-dead-battery-") <= list_runs(answer, "size-vdi-20-", "-dead-battery-")


def test_a_rebuild_that_ends_in_the_window_excludes_the_array(destage: Any, tmp_path: Path) -> None:
    """A disk of 9.1 GB is rebuilt within ten minutes; a user has 9 requests a second."""
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "{currency: USD, date: 2026-11-01, controllers: {megaraid_9540: 100}, disks: {cheetah_9lp: 50}}"
    )
    one = ("--users", "1", "--workload", "vdi", "--capacity", "4GB", "--raid", "10", "--count", "2")
    size = ("size", *one, "--prices", str(prices), "--response-p95", "1s", *QUICK)
    asked = (REBUILD, "response_p95 <= 10s")
    assert destage(*size, *asked).code == 0
    done = destage(*size, *asked, "--set", "run.window={requests: 9000}")
    answer = json.loads(done.out)
    assert (done.code, answer["carrying"]) == (1, [])
    assert [one["verdict"] for one in answer["candidates"]] == ["rebuild_ended"]


@pytest.mark.parametrize(
    ("options", "issue"),
    [
        ((REBUILD, "response_p95 < slow"), ("study.bad-quantity", REBUILD)),
        ((BATTERY, "response_p96 <= 3ms"), ("study.unknown-name", BATTERY)),
        ((REBUILD, "rebuild <= 9h"), ("study.not-measured", REBUILD)),
        ((REBUILD, "response_p95 <= 1s", "--set", "faults=[]"), ("usage.conflicting-options", "--set")),
        ((REBUILD, "rebuild <= 9h", "--users", "5..9"), ("study.not-measured", REBUILD)),
    ],
)
def test_mistakes_have_a_code_and_a_place(destage: Any, options: Any, issue: tuple[str, str]) -> None:
    done = destage("size", *LOAD, *UNCACHED, "--raid", "10", "--count", "2", *QUICK, *options)
    assert (done.code, done.issues) == (2, [issue])


def test_python_takes_the_same_objectives(tmp_path: Path) -> None:
    options = {"disks": ["dc600m_960gb"], "controllers": ["megaraid_9540"], "raid": ["10"], "most": 2}
    asked = ["response_p95 <= 0.001ms"]
    answer = package.size(20, "vdi", dead_battery=asked, store=str(tmp_path), **options)
    assert answer.best is None
    assert "(dead battery)" in str(answer)
