"""A sweep on Ray that makes the cluster grow."""

import signal
from pathlib import Path

import pytest
from small_studies import small_study
from system.ray_machines import ray_machines
from system.test_ray_machines import wait_for_exit

_NODES = 3


@pytest.mark.chaos
def test_one_request_starts_all_machines_and_an_interrupt_returns_them(tmp_path: Path) -> None:
    study = tmp_path / "long.yaml"
    axis = "workload.users: {range: [1, 20, 1]}"
    study.write_text(small_study("long", axis, requests=500_000, replicates=200))
    with ray_machines() as machines:
        machines.start_autoscaler(_NODES)
        driver = machines.drive(study, str(tmp_path / "store"), options=("--workers", str(_NODES)))
        seen = machines.wait_for(lambda status: len(status["nodes"]) == _NODES)
        # The first machine starts for a worker that waits; its runs show what the plan can use.
        assert {status["asked"] for status in seen} <= {0, _NODES}
        assert max(status["pending"] for status in seen) <= 1
        driver.send_signal(signal.SIGINT)
        wait_for_exit(driver, 130)
        assert machines.read_status()["asked"] == 0
        machines.wait_for(lambda status: not status["nodes"])
