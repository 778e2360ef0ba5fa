"""A Ray cluster of several simulated machines on this one: `ray start` with separate ports and folders."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TIMEOUT_S = 60.0
_HEAD = "f" * 51 + "00000"
"""The id of the head for Ray's provider of machines that are processes."""
_LOOK_S = 0.2
_STATUS = """
import json, sys
from ray.autoscaler.v2.sdk import get_cluster_status

def read():
    status = get_cluster_status(sys.argv[1])
    nodes = [node for node in status.active_nodes + status.idle_nodes if node.total_resources().get("CPU")]
    demands = status.resource_demands
    asked = [one for demand in demands.cluster_constraint_demand for one in demand.bundles_by_count]
    pending = [one for demand in demands.ray_task_actor_demand for one in demand.bundles_by_count]
    return {
        "nodes": {node.node_id: node.node_status for node in nodes},
        "asked": sum(one.count for one in asked),
        "pending": sum(one.count for one in pending),
    }

for _ in sys.stdin:
    print(json.dumps(read()), flush=True)
"""
"""A process that prints the status for each line that it reads: its imports take seconds."""


@dataclass
class RayMachines:
    """The machines; the first is the head.

    Attributes:
        folder: Holds a folder per machine, in which its workers run.
        gcs: The head's port.
        client: The head's port for clients of Ray.
        env: The environment of a driver.
        nodes: The id of the node of each machine by its name, but for those that an autoscaler starts.
    """

    folder: Path
    gcs: int
    client: int
    env: dict[str, str]
    nodes: dict[str, str] = field(default_factory=dict)
    _started: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    _status: "subprocess.Popen[str] | None" = None

    def start(
        self, name: str, patch: str = "", options: Sequence[str] = ("--num-cpus=1",), **env: str
    ) -> "subprocess.Popen[bytes]":
        """Start a machine with one processor.

        Args:
            name: Its host name and the name of its folder.
            patch: Python code that each of its processes runs first.
            options: Further options of `ray start`.
            env: Further variables of its environment.
        """
        here = self.folder / name
        here.mkdir(exist_ok=True)
        renamed = f"import socket\nsocket.gethostname = lambda: {name!r}\n"
        (here / "sitecustomize.py").write_text(renamed + patch)
        path = os.pathsep.join(filter(None, (str(here), os.environ.get("PYTHONPATH"))))
        self.nodes[name] = env.setdefault("RAY_OVERRIDE_NODE_ID_FOR_TESTING", secrets.token_hex(28))
        role = ["--address", f"127.0.0.1:{self.gcs}"]
        if not self._started:
            role = ["--head", "--port", str(self.gcs), "--ray-client-server-port", str(self.client)]
            role += ["--include-dashboard=false"]
        command = [str(Path(sys.executable).with_name("ray")), "start", *role, *options, "--block"]
        command += ["--object-store-memory=100000000", "--disable-usage-stats"]
        with (self.folder / f"{name}.log").open("wb") as log:
            machine = subprocess.Popen(
                command, cwd=here, env={**self.env, **env, "PYTHONPATH": path}, stdout=log, stderr=log
            )
        self._started[name] = machine
        end = time.monotonic() + TIMEOUT_S
        while "block forever" not in (output := (self.folder / f"{name}.log").read_text()):
            assert machine.poll() is None, output
            assert time.monotonic() < end, output
            time.sleep(_LOOK_S)
        return machine

    def start_autoscaler(self, most: int) -> "subprocess.Popen[bytes]":
        """Start a head without processors, whose autoscaler starts and ends machines of one processor.

        It is Ray's second autoscaler with Ray's provider of machines that are processes.
        `ray.cluster_utils.AutoscalingCluster` would end all of Ray's processes on this machine first, and
        lacks a file in Ray's package.

        Args:
            most: The most machines.
        """
        config = {
            "cluster_name": "fake",
            "max_workers": most,
            "idle_timeout_minutes": 0.05,
            "upscaling_speed": 100.0,
            "provider": {
                "type": "external",
                "module": "ray.autoscaler._private.fake_multi_node.node_provider.FakeMultiNodeProvider",
                "gcs_address": f"127.0.0.1:{self.gcs}",
                "head_node_id": _HEAD,
                "launch_multiple": True,
            },
            "available_node_types": {
                "ray.head.default": {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
                "worker": {"resources": {"CPU": 1}, "node_config": {}, "max_workers": most},
            },
            "head_node_type": "ray.head.default",
            "auth": {},
            "cluster_synced_files": [],
            **{f"{role}setup_commands": [] for role in ("", "head_", "worker_")},
        }
        file = self.folder / "autoscaling.json"
        file.write_text(json.dumps(config))
        return self.start(
            "head",
            options=("--num-cpus=0", f"--autoscaling-config={file}"),
            RAY_FAKE_CLUSTER="1",
            AUTOSCALER_UPDATE_INTERVAL_S="1",
            RAY_enable_autoscaler_v2="1",
            RAY_CLOUD_INSTANCE_ID=_HEAD,
            RAY_OVERRIDE_NODE_ID_FOR_TESTING=_HEAD,
        )

    def read_status(self) -> dict[str, Any]:
        """Return the running nodes by their ids with their states, and the processors that were asked for."""
        if self._status is None:
            command = [sys.executable, "-c", _STATUS, f"127.0.0.1:{self.gcs}"]
            pipe = subprocess.PIPE
            self._status = subprocess.Popen(command, env=self.env, text=True, stdin=pipe, stdout=pipe)
        assert self._status.stdin is not None
        assert self._status.stdout is not None
        self._status.stdin.write("\n")
        self._status.stdin.flush()
        line = self._status.stdout.readline()
        assert line, "the process that reads the status has ended"
        status: dict[str, Any] = json.loads(line)
        return status

    def wait_for(self, holds: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Return the states of the cluster until one is as expected."""
        end = time.monotonic() + TIMEOUT_S
        seen = [self.read_status()]
        while not holds(seen[-1]):
            assert time.monotonic() < end, seen
            time.sleep(_LOOK_S)
            seen.append(self.read_status())
        return seen

    def drain(self, name: str, deadline_s: int) -> None:
        """Drain a machine as the autoscaler does, or `ray start` on SIGTERM."""
        ray = str(Path(sys.executable).with_name("ray"))
        command = [ray, "drain-node", "--address", f"127.0.0.1:{self.gcs}", "--node-id", self.nodes[name]]
        command += ["--reason", "DRAIN_NODE_REASON_PREEMPTION", "--reason-message", "test"]
        command += ["--deadline-remaining-seconds", str(deadline_s)]
        subprocess.run(command, env=self.env, check=True, capture_output=True)

    def is_running(self, name: str) -> bool:
        """Return whether a machine was started and has not ended."""
        return name in self._started and self._started[name].poll() is None

    def kill(self, machine: "subprocess.Popen[bytes]") -> None:
        """Kill all processes of a machine at once, as a power cut does."""
        for pid in process_tree(machine.pid):
            os.kill(pid, signal.SIGKILL)
        machine.wait()

    def drive(
        self, study: Path, store: str, address: str = "", options: Sequence[str] = (), **more: object
    ) -> "subprocess.Popen[str]":
        """Start `destage run` on the cluster.

        Args:
            address: The cluster's address (default: the head's).
            options: Further options of `destage run`.
        """
        program = "import sys; from destage.cli import app; app(sys.argv[1:])"
        where = ["--store", store, "--ray-address", address or f"127.0.0.1:{self.gcs}"]
        command = [sys.executable, "-c", program, "run", str(study), *where, *options, "--quiet"]
        settings = {"env": self.env, **more}
        return subprocess.Popen(
            command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **settings
        )

    def end(self) -> None:
        """End all machines."""
        if self._status is not None:
            self._status.communicate()
        for machine in reversed(self._started.values()):
            if machine.poll() is None:
                tree = process_tree(machine.pid)
                machine.terminate()
                machine.wait(TIMEOUT_S)
                for pid in filter(_is_alive, tree):
                    os.kill(pid, signal.SIGKILL)
        for pid in self._find_strays():
            os.kill(pid, signal.SIGKILL)

    def _find_strays(self) -> list[int]:
        """Return the processes of machines that an autoscaler started while its head ended."""
        wanted, strays = f"RAY_TMPDIR={self.folder}".encode(), []
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended, or is another user's
                if wanted in (place / "environ").read_bytes().split(b"\0"):
                    strays.append(int(place.name))
        return strays


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
