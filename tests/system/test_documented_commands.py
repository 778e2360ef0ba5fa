"""The command of docs/cluster.md for a Ray cluster without Kubernetes, with a folder instead of a bucket."""

import shlex
from pathlib import Path

import pytest
from documented_commands import RAY, find_commands
from small_studies import small_study
from system.ray_machines import ray_machines

pytestmark = pytest.mark.chaos


def test_a_sweep_runs_on_the_cluster_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(small_study("small", "workload.users: [5, 10]"))
    (command,) = find_commands("docs/cluster.md", RAY)
    _, run, study, *options = shlex.split(command)
    assert (run, options[0], options[2]) == ("run", "--store", RAY)
    with ray_machines() as machines:
        machines.start("first")
        address = options[3].replace("HEAD:6379", f"127.0.0.1:{machines.gcs}")
        driver = machines.drive(tmp_path / study, str(tmp_path / "store"), address)
        _, errors = driver.communicate(timeout=300)
    assert driver.returncode == 0, errors
    assert "4 executed (ray" in errors
