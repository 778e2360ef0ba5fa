"""A sweep on Ray that makes the cluster grow, and one whose machine is drained."""

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_studies import small_study
from system.ray_machines import RayMachines, ray_machines
from system.test_ray_machines import RUNS, find_only_sweep, hosts, read_hosts, results, spread, wait_for_exit

from destage import sweeps

_LIMIT_S = 60.0
_NODES = 3


def _wait_for(machines: RayMachines, holds: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """Return the states of the cluster until one is as expected."""
    end = time.monotonic() + _LIMIT_S
    seen: list[dict[str, Any]] = []
    while not (seen and holds(seen[-1])):
        assert time.monotonic() < end, seen
        seen.append(machines.read_status())
    return seen


@pytest.mark.chaos
def test_one_request_starts_all_machines_and_an_interrupt_returns_them(tmp_path: Path) -> None:
    study = tmp_path / "long.yaml"
    axis = "workload.users: {range: [1, 20, 1]}"
    study.write_text(small_study("long", axis, requests=500_000, replicates=200))
    with ray_machines() as machines:
        machines.start_autoscaler(_NODES)
        driver = machines.drive(study, str(tmp_path / "store"), options=("--workers", str(_NODES)))
        seen = _wait_for(machines, lambda status: len(status["nodes"]) == _NODES)
        # The first machine starts for a worker that waits; its runs show what the plan can use.
        assert {status["asked"] for status in seen} <= {0, _NODES}
        assert max(status["pending"] for status in seen) <= 1
        driver.send_signal(signal.SIGINT)
        wait_for_exit(driver, 130)
        assert machines.read_status()["asked"] == 0
        _wait_for(machines, lambda status: not status["nodes"])


def test_a_drained_machine_commits_its_rows_and_none_is_repeated(tmp_path: Path) -> None:
    study = tmp_path / "spread.yaml"
    study.write_text(spread())
    reference = sweeps.run(sweeps.load_study(study), tmp_path / "reference", executor="inline", workers=2)
    store = tmp_path / "store"
    with ray_machines() as machines:
        machines.start("first")
        (first,) = machines.read_status()["nodes"]
        machines.start("second")
        (second,) = set(machines.read_status()["nodes"]) - {first}
        driver = machines.drive(study, str(store))
        while "second" not in hosts(store):
            assert driver.poll() is None, driver.communicate()
            time.sleep(0.05)
        machines.drain(second, deadline_s=60)
        # A node that is drained and idle ends by itself: its worker has left.
        _wait_for(machines, lambda status: second not in status["nodes"])
        assert len(hosts(store)) < RUNS
        wait_for_exit(driver)
    found = read_hosts(store)
    assert len(found) == len({run for run, _ in found}) == RUNS
    assert results(find_only_sweep(store)) == results(Path(str(reference.path)))
