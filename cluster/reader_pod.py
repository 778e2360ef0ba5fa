"""Asking the results where they lie: commands in a pod of the sweep's image that reaches them."""

import time
from dataclasses import dataclass

import urllib3
from kubernetes import client
from kubernetes.stream import stream
from websocket import WebSocketException

from destage.cluster.auxiliary_pod import companion
from destage.cluster.connection import Connection
from destage.cluster.diagnostics import HOPELESS, describe_pod_failure
from destage.cluster.jobs import Job
from destage.cluster.objects import create, delete, find, wait_until_deleted
from destage.cluster.pods import Manifest
from destage.errors import ClusterError

LIFE_S = 900
"""How long a reader waits for questions before it ends by itself [s]."""
PATIENCE_S = 180.0
"""How long a reader may take to start before whoever asks gives up [s]."""
_CONTAINER = "reader"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command in the pod gave.

    Attributes:
        out: Its standard output.
        err: Its standard error.
        code: Its exit code.
    """

    out: bytes
    err: str
    code: int


class Reader:
    """A pod that reads a release's results; made on first use, left to end by itself.

    Attributes:
        connection: The API server.
        store: The store, as `--store` takes it in the pod.
    """

    def __init__(self, connection: Connection, job: Job, patience_s: float = PATIENCE_S) -> None:
        self.connection = connection
        self.store = job.store
        self._patience_s = patience_s
        self._job = job
        self._pod = ""

    def run(self, *command: str) -> Reply:
        """Run a command beside the results.

        Args:
            command: The program and its arguments.

        Raises:
            ClusterError: The pod cannot be had, or the connection broke.
        """
        if not self._pod:
            self._pod = self._started()
        api = client.CoreV1Api(self.connection.api)
        try:
            session = stream(
                api.connect_get_namespaced_pod_exec,
                self._pod,
                self.connection.namespace,
                command=list(command),
                container=_CONTAINER,
                stdin=False,
                stdout=True,
                stderr=True,
                tty=False,
                _preload_content=False,
                binary=True,
            )
            out, err = [], []
            while session.is_open():
                session.update(timeout=5)
                out.append(session.read_stdout(timeout=0))
                err.append(session.read_stderr(timeout=0))
            out.append(session.read_stdout(timeout=0))
            err.append(session.read_stderr(timeout=0))
            code = session.returncode
        except (client.OpenApiException, urllib3.exceptions.HTTPError, WebSocketException, OSError) as error:
            told = " ".join(str(getattr(error, "reason", None) or error).split())[:300]
            raise ClusterError(f"the pod {self._pod} cannot be asked: {told}") from error
        if code is None:
            raise ClusterError(
                f"the connection to the pod {self._pod} broke; the same command goes on from there"
            )
        return Reply(b"".join(out), b"".join(err).decode(errors="replace"), int(code))

    def ask(self, *command: str) -> bytes:
        """Run a command that must succeed, and return what it printed.

        Args:
            command: The program and its arguments.

        Raises:
            ClusterError: It failed; the message is its last word.
        """
        reply = self.run(*command)
        if reply.code:
            *_, last = [line for line in reply.err.splitlines() if line.strip()] or ["it said nothing"]
            raise ClusterError(f"{command[0]} in the pod {self._pod} ended with {reply.code}: {last}")
        return reply.out

    def close(self) -> None:
        """Delete the pod, if there is one."""
        if self._pod:
            delete(self.connection, "Pod", self._pod)
            self._pod = ""

    def _started(self) -> str:
        end = time.monotonic() + self._patience_s
        manifest = build_reader_pod(self._job)
        name: str = manifest["metadata"]["name"]
        there = find(self.connection, "Pod", name)
        is_over = there is not None and _phase(there) not in ("Pending", "Running")
        if there is not None and (is_over or _source(there) != _source(manifest)):
            delete(self.connection, "Pod", name)
            wait_until_deleted(self.connection, "Pod", name, end)
            there = None
        if there is None:
            create(self.connection, manifest)
        while True:
            pod = find(self.connection, "Pod", name)
            if pod is not None and _phase(pod) == "Running":
                return name
            trouble = "it is gone" if pod is None else describe_pod_failure(pod)
            if pod is None or trouble.startswith(HOPELESS) or time.monotonic() > end:
                raise ClusterError(f"the pod {name} does not start: {trouble or 'it is still pending'}")
            time.sleep(0.5)


def build_reader_pod(job: Job) -> Manifest:
    """Return a pod that holds a sweep's results open for questions: the head's, without Ray.

    Args:
        job: The sweep.
    """
    command = ["sleep", str(LIFE_S)]
    return companion(job.head, f"{job.release}-reader", _CONTAINER, command, memory="1Gi", life_s=LIFE_S)


def _source(pod: Manifest) -> object:
    """Return what a reader reads, and with which program; the next job of its release may have others."""
    spec = pod["spec"]
    container = spec["containers"][0]
    claims = [each.get("persistentVolumeClaim") for each in spec["volumes"] if each["name"] == "results"]
    return container["image"], container["env"], container.get("envFrom"), claims


def _phase(pod: Manifest) -> str:
    return str(pod.get("status", {}).get("phase", "Pending"))
