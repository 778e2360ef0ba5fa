"""A Ray cluster of several simulated machines on this one: `ray start` with separate ports and folders."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

TIMEOUT_S = 60.0


@dataclass
class RayMachines:
    """The machines; the first is the head.

    Attributes:
        folder: Holds a folder per machine, in which its workers run.
        gcs: The head's port.
        client: The head's port for clients of Ray.
        env: The environment of a driver.
    """

    folder: Path
    gcs: int
    client: int
    env: dict[str, str]
    _started: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def start(self, name: str, patch: str = "") -> "subprocess.Popen[bytes]":
        """Start a machine with one processor.

        Args:
            name: Its host name and the name of its folder.
            patch: Python code that each of its processes runs first.
        """
        here = self.folder / name
        here.mkdir(exist_ok=True)
        renamed = f"import socket\nsocket.gethostname = lambda: {name!r}\n"
        (here / "sitecustomize.py").write_text(renamed + patch)
        path = os.pathsep.join(filter(None, (str(here), os.environ.get("PYTHONPATH"))))
        role = ["--address", f"127.0.0.1:{self.gcs}"]
        if not self._started:
            role = ["--head", "--port", str(self.gcs), "--ray-client-server-port", str(self.client)]
            role += ["--include-dashboard=false"]
        command = [str(Path(sys.executable).with_name("ray")), "start", *role, "--num-cpus=1", "--block"]
        command += ["--object-store-memory=100000000", "--disable-usage-stats"]
        with (self.folder / f"{name}.log").open("wb") as log:
            machine = subprocess.Popen(
                command, cwd=here, env={**self.env, "PYTHONPATH": path}, stdout=log, stderr=log
            )
        self._started.append(machine)
        end = time.monotonic() + TIMEOUT_S
        while "block forever" not in (output := (self.folder / f"{name}.log").read_text()):
            assert machine.poll() is None, output
            assert time.monotonic() < end, output
            time.sleep(0.2)
        return machine

    def kill(self, machine: "subprocess.Popen[bytes]") -> None:
        """Kill all processes of a machine at once, as a power cut does."""
        for pid in process_tree(machine.pid):
            os.kill(pid, signal.SIGKILL)
        machine.wait()

    def drive(self, study: Path, store: str, address: str = "", **more: object) -> "subprocess.Popen[str]":
        """Start `destage run` on the cluster.

        Args:
            address: The cluster's address (default: the head's).
        """
        program = "import sys; from destage.cli import app; app(sys.argv[1:])"
        where = ["--store", store, "--ray-address", address or f"127.0.0.1:{self.gcs}"]
        command = [sys.executable, "-c", program, "run", str(study), *where, "--quiet"]
        settings = {"env": self.env, **more}
        return subprocess.Popen(
            command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **settings
        )

    def end(self) -> None:
        """End all machines."""
        for machine in reversed(self._started):
            if machine.poll() is None:
                tree = process_tree(machine.pid)
                machine.terminate()
                machine.wait(TIMEOUT_S)
                for pid in filter(_is_alive, tree):
                    os.kill(pid, signal.SIGKILL)


@contextmanager
def ray_machines() -> Iterator[RayMachines]:
    """Yield a cluster without machines; machines started in the `with` block end with it."""
    # Not pytest's folder: socket paths are limited to about a hundred characters.
    folder = Path(tempfile.mkdtemp(prefix="ray-"))
    env = {
        **os.environ,
        "RAY_TMPDIR": str(folder),
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(16),
    }
    env.pop("RAY_ADDRESS", None)
    machines = RayMachines(folder, _free_port(), _free_port(), env)
    try:
        yield machines
    finally:
        machines.end()
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def process_tree(pid: int) -> list[int]:
    """Return a process and its descendants, youngest first."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return []
    return [*(each for child in children for each in process_tree(int(child))), pid]


def _is_alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()
