"""A sweep on spot machines: two of three are drained or killed while it runs, and others take their places.

`make spot` is the long form, with more runs and machines. Both print what was executed twice.
"""

import os
import subprocess  # noqa: TC003
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_studies import small_study
from system.ray_machines import RayMachines, ray_machines
from system.test_ray_machines import find_only_sweep, read_hosts, results, wait_for_exit

from destage import sweeps

_RUNS = int(os.environ.get("SPOT_RUNS", "1200"))
_IS_LONG = "SPOT_RUNS" in os.environ
_THIRDS = 2 if _IS_LONG else 1
"""The machines of a third."""
_POINTS = 20
_REQUESTS = 10_000
_MOST_AGAIN = 0.1 if _IS_LONG else 0.25
"""The largest share of the runs that may be executed again: a batch is up to an eighth of a short sweep."""
_LIMIT_S = 60.0 + _RUNS / 50

_RECORDING = """
import os
import sys
from importlib.machinery import PathFinder


def write(line):
    with open({file!r}, "a") as file:
        file.write(line)


class Recorder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "destage.sweeps.workers.executors":
            return None
        spec = PathFinder.find_spec(name, path, target)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            run_batch = module.run_batch

            def record(batch, **options):
                write(f"{{os.getpid()}} begins {{len(batch.run_ids)}}\\n")
                executed = 0
                try:
                    rows, seconds = run_batch(batch, **options)
                    executed = rows.num_rows
                    return rows, seconds
                finally:
                    write(f"{{os.getpid()}} ends {{executed}}\\n")

            module.run_batch = record

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Recorder)
"""
"""Code of a machine whose workers record the runs of each batch when it begins, and when it ends."""


class SpotMachines:
    """Machines that are lost and replaced; what their workers execute is recorded."""

    def __init__(self, machines: RayMachines) -> None:
        """Start the head, one of the machines that are not lost."""
        self._machines = machines
        self._record = machines.folder / "record"
        self._record.touch()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.add()

    def add(self) -> str:
        """Start a machine of one processor, and return its name."""
        name = f"machine{len(self._processes)}"
        self._processes[name] = self._machines.start(name, _RECORDING.format(file=str(self._record)))
        return name

    def drain(self, name: str) -> None:
        """Take a machine away after a notice."""
        self._machines.drain(name, deadline_s=30)

    def kill(self, name: str) -> None:
        """Take a machine away at once."""
        self._machines.kill(self._processes[name])

    def count_executed(self) -> int:
        """Return how many runs were executed, those of a batch that has not ended included."""
        executed = 0
        open_batches: dict[str, int] = {}
        for line in self._record.read_text().splitlines():
            process, event, runs = line.split()
            if event == "ends":
                executed += int(runs)
                del open_batches[process]
            else:
                executed += open_batches.get(process, 0)
                open_batches[process] = int(runs)
        return executed + sum(open_batches.values())


@pytest.fixture
def spot() -> Iterator[tuple[RayMachines, SpotMachines]]:
    with ray_machines() as machines:
        yield machines, SpotMachines(machines)


def test_a_sweep_keeps_its_rows_while_its_machines_are_replaced(
    spot: tuple[RayMachines, SpotMachines], tmp_path: Path
) -> None:
    machines, spot_machines = spot
    study = tmp_path / "spot.yaml"
    axis = f"workload.users: {{range: [1, {_POINTS}, 1]}}"
    study.write_text(small_study("spot", axis, requests=_REQUESTS, replicates=_RUNS // _POINTS))
    names = [spot_machines.add() for _ in range(3 * _THIRDS - 1)]
    store = tmp_path / "store"
    driver = machines.drive(study, str(store))
    losses = [spot_machines.kill, spot_machines.drain] * _THIRDS
    for number, (name, lose) in enumerate(zip(names, losses, strict=False), start=1):
        # In the first half, as it takes seconds to drain a machine and to start another.
        wanted = number * _RUNS // (2 * len(losses))
        end = time.monotonic() + _LIMIT_S
        while spot_machines.count_executed() < wanted:
            assert driver.poll() is None, driver.communicate()
            assert time.monotonic() < end
            time.sleep(0.1)
        assert driver.poll() is None, "the sweep ended before its machines were lost"
        lose(name)
    for _ in losses:
        spot_machines.add()
    wait_for_exit(driver, timeout_s=_LIMIT_S)
    again = spot_machines.count_executed() - _RUNS
    found = read_hosts(store)
    stored_again = len(found) - len({run for run, _ in found})
    print(  # noqa: T201
        f"{_RUNS} runs on {3 * _THIRDS} machines, of which {len(losses)} were replaced: "
        f"{again} executed again ({again / _RUNS:.1%}), {stored_again} stored again; machines with rows: "
        f"{len({host for _, host in found})}"
    )
    assert len({run for run, _ in found}) == _RUNS
    assert again < _MOST_AGAIN * _RUNS
    reference = sweeps.run(sweeps.load_study(study), tmp_path / "reference", executor="inline", workers=2)
    assert results(find_only_sweep(store)) == results(Path(str(reference.path)))
