"""`destage size` for a load in ranges, with objectives in states of failure."""

import io
import json
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import yaml

import destage as package
from destage.cli import app

LOAD = """\
users: 2
streams:
- name: files
  arrival: {kind: poisson, rate: 30/s, per_user: true}
  operations: {read_fraction: 0.5, size: {kind: constant, value: 8KiB}}
  address: {kind: uniform, footprint: 1TB}
"""
PARTS = (
    *("--controllers", "megaraid_9560_8i", "--disks", "exos_x18", "--raid", "10"),
    *("--set", "controller.cache.capacity=64MiB"),
)
SHORT = ("--set", "run={warm_up: {requests: 100}, window: {requests: 800}}", "--quiet", "--json")
NORMAL = ("--response-p95", "40ms", "--subject-to", "disk_busy_max <= 1")
STATES = {"normal", "during_rebuild", "dead_battery"}
USERS = "2..6"
PRICES = {
    "currency": "EUR",
    "date": "2026-11-01",
    "controllers": {"smart_array_p400i_256": 100},
    "disks": {"exos_x18": 100},
}
"""A controller whose cache is soon full, where the command would set its capacity."""

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(destage: Any, tmp_path: Path) -> Ask:
    """Return a function that sizes the load in a range, and returns the answer."""
    file = tmp_path / "load.yaml"
    file.write_text(LOAD)

    def size(*args: str, users: str = USERS) -> dict[str, Any]:
        done = destage("size", "--workload", str(file), "--users", users, *PARTS, *NORMAL, *args, *SHORT)
        assert (done.code, done.issues) == (0, [])
        answer: dict[str, Any] = json.loads(done.out)
        return answer

    return size


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the answer to `ask()`: in normal operation alone."""
    folder = tmp_path_factory.mktemp("healthy")
    file = folder / "load.yaml"
    file.write_text(LOAD)
    asked = ("size", "--workload", str(file), "--users", USERS, *PARTS, *NORMAL, *SHORT)
    with redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit, match="^0$"):
        app([*asked, "--store", str(folder / "store")])
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


def list_by_disks(answer: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {one["disks"]: one for one in answer["candidates"]}


def test_with_a_dead_battery_an_array_carries_what_one_without_carries(ask: Ask) -> None:
    """The state is a battery that is absent; without the cache, all other results are worse."""
    bounds = ("--dead-battery", "response_p95 <= 40ms", "--dead-battery", "disk_busy_max <= 1")
    answers = [ask(*args, users="4..20") for args in (bounds, ("--set", "controller.battery.state=absent"))]
    dead, absent = map(list_by_disks, answers)
    both = dead.keys() & absent.keys()
    assert len(both) > 1
    for disks in both:
        assert dead[disks]["carried"] == absent[disks]["carried"]
        assert dead[disks]["odds"] == absent[disks]["odds"]
        assert dead[disks]["limiting"] == ["dead_battery"]
        assert absent[disks]["limiting"] == ["normal"]


@pytest.mark.xdist_group("size ranges in normal operation")
def test_a_state_never_raises_what_is_carried(ask: Ask, healthy: dict[str, Any]) -> None:
    """A rebuild takes some of the disks' time; RAID 0 has none to be rebuilt."""
    rebuilding = ask("--during-rebuild", "response_p95 <= 40ms", "--raid", "0")
    assert {one["parts"]["array.raid"] for one in rebuilding["candidates"]} == {"10"}
    candidates, in_normal = list_by_disks(rebuilding), list_by_disks(healthy)
    both = candidates.keys() & in_normal.keys()
    assert both
    for disks in both:
        assert candidates[disks]["carried"][0] <= in_normal[disks]["carried"][0]
    assert {state for one in candidates.values() for state in one["limiting"]} == {"during_rebuild"}
    assert any(line.startswith("  states  ") for line in rebuilding["answer"])
    assert any("limited in" in line for line in rebuilding["answer"])


@pytest.mark.xdist_group("size ranges in normal operation")
def test_a_state_without_a_bound_changes_nothing(ask: Ask, healthy: dict[str, Any]) -> None:
    free = ask("--dead-battery", "response_p95 <= 1000s")
    assert {state for one in free["candidates"] for state in one["limiting"]} <= STATES - {"during_rebuild"}
    odds = [
        (one["disks"], one["carried"], one["odds"], one["odds_with_error"]) for one in healthy["candidates"]
    ]
    for disks, carried, share, with_error in odds:
        same = list_by_disks(free)[disks]
        assert (same["carried"], same["odds"]) == (carried, share)
        assert same["odds_with_error"] <= with_error


def test_python_takes_states_with_ranges(tmp_path: Path) -> None:
    load = yaml.safe_load(LOAD)
    bounds = {"dead_battery": ["response_p95 <= 40ms"], "subject_to": ["disk_busy_max <= 1"]}
    parts = {"prices": PRICES, "raid": ["10"], "most": 10, "store": str(tmp_path)}
    answer = package.size((2, 3), load, response_p95="40ms", **bounds, **parts)
    assert {state for one in answer.sized.candidates for state in one.limiting} <= {"normal", "dead_battery"}
    assert answer.sized.states == ["dead_battery"]
