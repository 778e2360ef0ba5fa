"""The Ray cluster of two machines that schedules share; a machine that is killed is replaced."""

import os
import random
import signal
import subprocess  # noqa: TC003
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chaos.injection import sitecustomize
from chaos.zygote import RAY_TOKEN
from objects.servers import client_environment
from system.ray_machines import RayMachines, process_tree, ray_machines


@dataclass
class Machines:
    """Two machines with one processor each.

    Attributes:
        orders: Folder of the files that name the faults which their workers inject.
    """

    cluster: RayMachines
    orders: Path
    second: "subprocess.Popen[bytes] | None" = None
    _count: int = 1

    def driver_env(self) -> dict[str, str]:
        """Return the environment of a session."""
        return {**os.environ, **self.cluster.env, "RAY_ADDRESS": f"127.0.0.1:{self.cluster.gcs}"}

    def ensure(self) -> None:
        """Start the second machine if it does not run."""
        if self.second is None:
            self._count += 1
            self.second = self.cluster.start(f"machine{self._count}", _PATCH)

    def kill_machine(self) -> None:
        """Kill all processes of the second machine."""
        assert self.second is not None
        self.cluster.kill(self.second)
        self.second = None

    def signal_worker(self, choose: random.Random, number: signal.Signals) -> int | None:
        """Send a signal to a worker of the second machine; return its id, None without workers."""
        assert self.second is not None
        workers = [pid for pid in process_tree(self.second.pid) if _is_worker(pid)]
        if not workers:
            return None
        pid = choose.choice(workers)
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return None
        return pid


_PATCH = Path(sitecustomize.__file__).read_text()


def _is_worker(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::")
    except FileNotFoundError:
        return False


@contextmanager
def run_machines(orders: Path) -> Iterator[Machines]:
    """Run the cluster for a `with` block."""
    with ray_machines() as cluster:
        # Its workers get their environment when it starts.
        cluster.env.update({**client_environment(), **RAY_TOKEN, sitecustomize.FOLDER: str(orders)})
        cluster.start("machine1", _PATCH)
        machines = Machines(cluster, orders)
        machines.ensure()
        yield machines
