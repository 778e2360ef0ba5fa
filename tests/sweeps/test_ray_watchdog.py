"""No process of Ray outlives a killed driver by more than seconds."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_studies import small_study

from destage.sweeps.ray.watchdog import GRACE_S, VARIABLE, RayWatchdog, find_processes

MARK = "DESTAGE_TEST_DRIVER"
END_S = 60.0
"""Time in which everything has ended on a busy machine [s]; the processes would run for ten minutes."""
DRIVER = """
import subprocess, sys, time
from destage.sweeps.ray.watchdog import RayWatchdog
sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
watchdog = RayWatchdog()
with watchdog.guard():
    inside = subprocess.Popen(sleeper)
outside = subprocess.Popen(sleeper)
print(inside.pid, outside.pid, watchdog._token, flush=True)
time.sleep(600)
"""
PROGRAM = "from destage.cli import app; app()"

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc")


def is_running(process: int) -> bool:
    """Return whether a process exists and has not ended; nobody may have read its exit code."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def find_marked(mark: str) -> dict[int, bytes]:
    """Return the command line of each process whose environment has a mark."""
    found = {}
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdigit() and f"{MARK}={mark}".encode() in (place / "environ").read_bytes():
                found[int(place.name)] = (place / "cmdline").read_bytes()
        except OSError:
            continue
    return {process: line for process, line in found.items() if is_running(process)}


@pytest.fixture
def left() -> Iterator[list[int]]:
    """Return a list of processes that are ended after the test."""
    processes: list[int] = []
    yield processes
    for process in filter(is_running, processes):
        os.kill(process, signal.SIGKILL)


def test_what_a_killed_driver_started_under_guard_is_ended(left: list[int]) -> None:
    with subprocess.Popen([sys.executable, "-c", DRIVER], stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        inside, outside, token = driver.stdout.readline().split()
        left += [int(inside), int(outside)]
        assert find_processes(token) == [int(inside)]
        driver.kill()
    ended = time.monotonic()
    while is_running(int(inside)):
        assert time.monotonic() - ended < END_S
        time.sleep(0.1)
    assert time.monotonic() - ended > GRACE_S - 1
    assert is_running(int(outside))


def test_a_process_that_named_itself_as_those_of_ray_do_is_found(left: list[int]) -> None:
    """Setproctitle writes over the beginning of the environment; the raylet's order is any."""
    watchdog = RayWatchdog()
    program = (
        "import time; from ray._raylet import setproctitle; "
        "setproctitle('ray::X'); print(1, flush=True); time.sleep(60)"
    )
    with watchdog.guard():
        environment = {VARIABLE: os.environ[VARIABLE]} | os.environ
        named = subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE)
    left.append(named.pid)
    assert named.stdout is not None
    assert named.stdout.readline() == b"1\n"
    assert find_processes(watchdog._token) == [named.pid]
    watchdog.end()
    named.kill()
    named.communicate()


def test_an_ended_watchdog_ends_nothing() -> None:
    watchdog = RayWatchdog()
    with watchdog.guard():
        assert os.environ[VARIABLE]
        sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    assert VARIABLE not in os.environ
    watchdog.end()
    watchdog.end()
    assert sleeper.poll() is None
    sleeper.kill()
    sleeper.wait()


def test_a_failed_start_has_no_watchdog() -> None:
    watchdog = RayWatchdog()
    with pytest.raises(ValueError, match="no start"), watchdog.guard():
        raise ValueError("no start")
    assert VARIABLE not in os.environ
    assert watchdog._process is None


@pytest.mark.parametrize("delay_s", [0.2, 1.5])
def test_ray_leaves_no_process_after_a_killed_driver(tmp_path: Path, left: list[int], delay_s: float) -> None:
    """The driver is killed while Ray's processes start."""
    study = tmp_path / "study.yaml"
    study.write_text(small_study("long", f"workload.users: {list(range(5, 1000))}"))
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        "run",
        str(study),
        "--store",
        str(tmp_path),
        "--executor",
        "ray",
    ]
    mark = str(tmp_path)
    with subprocess.Popen(
        command, env=os.environ | {MARK: mark}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as driver:
        began = time.monotonic()
        while not any(b"raylet" in line for line in find_marked(mark).values()):
            assert driver.poll() is None
            assert time.monotonic() - began < 120
            time.sleep(0.05)
        time.sleep(delay_s)
        left += find_marked(mark)
        driver.kill()
    ended = time.monotonic()
    while found := find_marked(mark):
        left += found
        assert time.monotonic() - ended < END_S, found
        time.sleep(0.2)
