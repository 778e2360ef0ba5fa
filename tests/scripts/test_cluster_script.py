"""`scripts/cluster_test.sh` begins with an empty cluster, also after a run that was killed."""

import fcntl
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kube-proxy",
    "kubelet",
    "coredns",
)


def write_program(path: Path, text: str = "exit 0") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the folder of a test cluster with what a killed run leaves: its objects and its containers."""
    home = tmp_path / "home"
    for part in PARTS:
        write_program(home / "bin" / part)
    (home / "rootfs").mkdir()
    (home / "ray.tar").touch()
    for left in ("run/etcd", "c/root"):
        (home / left).mkdir(parents=True)
    return home


def start_script(home: Path, folder: Path) -> "subprocess.Popen[str]":
    """Start a copy of the script that may build nothing, and that finds no Helm after it has the lock."""
    shutil.copytree(ROOT / "scripts", folder / "scripts", ignore=shutil.ignore_patterns("*.json", "*.sum"))
    write_program(folder / "scripts" / "chart_tools.sh", "exit 69")
    write_program(folder / "recipe" / "in-ns.sh")
    for program in ("unshare", "containerd"):
        write_program(folder / "bin" / program)
    write_program(folder / "bin" / "id", "echo 0")
    environment = os.environ | {
        "BUILD": "0",
        "DESTAGE_TEST_CLUSTER": str(home),
        "DESTAGE_TEST_CLUSTER_RECIPE": str(folder / "recipe"),
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
    }
    script = str(folder / "scripts" / "cluster_test.sh")
    return subprocess.Popen([script], env=environment, text=True, stdout=-1, stderr=subprocess.STDOUT)


def test_what_a_killed_run_left_is_deleted(home: Path, tmp_path: Path) -> None:
    process = start_script(home, tmp_path)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, "Helm" in out) == (0, True), out
    assert not (home / "run").exists()
    assert not (home / "c").exists()
    assert (home / "rootfs").exists()


def test_what_another_run_uses_is_left(home: Path, tmp_path: Path) -> None:
    with (home / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        process = start_script(home, tmp_path)
        assert process.stdout is not None
        assert "waiting for another run" in process.stdout.readline()
        time.sleep(0.2)
        assert (home / "run" / "etcd").exists()
    process.communicate(timeout=60)
    assert not (home / "run").exists()
