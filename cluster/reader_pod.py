"""The reader: a pod with a sweep's image and access to its results, in which commands are run."""

import time
from dataclasses import dataclass

import urllib3
from kubernetes import client
from kubernetes.stream import stream
from websocket import WebSocketException

from destage.cluster.auxiliary_pod import build_auxiliary_pod
from destage.cluster.connection import Connection
from destage.cluster.diagnostics import FATAL_REASONS, describe_pod_failure
from destage.cluster.jobs import Job
from destage.cluster.objects import create, delete, find, wait_until_deleted
from destage.cluster.pods import Manifest
from destage.errors import ClusterError

LIFETIME_S = 900
"""The pod's deadline [s]."""
START_TIMEOUT_S = 180.0
"""Default limit for the start of the pod [s]."""
_CONTAINER = "reader"


@dataclass(frozen=True, slots=True)
class _Result:
    """The result of a command in the pod."""

    stdout: bytes
    stderr: str
    exit_code: int


class ReaderPod:
    """The reader of a release; created on first use, and deleted by its deadline.

    Attributes:
        store: The store, for `--store` in the pod.
    """

    def __init__(self, connection: Connection, job: Job, start_timeout_s: float = START_TIMEOUT_S) -> None:
        self.connection = connection
        self.store = job.store
        self._start_timeout_s = start_timeout_s
        self._job = job
        self._pod = ""

    def run(self, *command: str) -> bytes:
        """Run a command and return its standard output."""
        if not self._pod:
            self._pod = self._start()
        result = self._execute(*command)
        if result.exit_code:
            *_, last = [line for line in result.stderr.splitlines() if line.strip()] or [
                "no output on stderr"
            ]
            message = f"`{command[0]}` failed with exit code {result.exit_code}: {last}"
            raise ClusterError("cluster.pod-command-failed", message, self._pod)
        return result.stdout

    def _execute(self, *command: str) -> _Result:
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
            exit_code = session.returncode
        except (client.OpenApiException, urllib3.exceptions.HTTPError, WebSocketException, OSError) as error:
            text = " ".join(str(getattr(error, "reason", None) or error).split())[:300]
            message = f"no command can be run in the pod: {text}"
            raise ClusterError("cluster.pod-unreachable", message, self._pod) from error
        if exit_code is None:
            message = "the connection to the pod broke; run the same command again to continue"
            raise ClusterError("cluster.connection-lost", message, self._pod)
        return _Result(b"".join(out), b"".join(err).decode(errors="replace"), int(exit_code))

    def _start(self) -> str:
        end = time.monotonic() + self._start_timeout_s
        manifest = build_reader_pod(self._job)
        name: str = manifest["metadata"]["name"]
        existing = find(self.connection, "Pod", name)
        has_ended = existing is not None and _phase(existing) not in ("Pending", "Running")
        if existing is not None and (has_ended or _source(existing) != _source(manifest)):
            delete(self.connection, "Pod", name)
            wait_until_deleted(self.connection, "Pod", name, end)
            existing = None
        if existing is None:
            create(self.connection, manifest)
        while True:
            pod = find(self.connection, "Pod", name)
            if pod is not None and _phase(pod) == "Running":
                return name
            failure = "it was deleted" if pod is None else describe_pod_failure(pod)
            if pod is None or failure.startswith(FATAL_REASONS) or time.monotonic() > end:
                message = f"the pod does not start: {failure or 'still pending'}"
                raise ClusterError("cluster.pod-not-started", message, name)
            time.sleep(0.5)


def build_reader_pod(job: Job) -> Manifest:
    """Return the reader of a sweep's release."""
    command = ["sleep", str(LIFETIME_S)]
    name = f"{job.release}-reader"
    return build_auxiliary_pod(job.head, name, _CONTAINER, command, memory="1Gi", lifetime_s=LIFETIME_S)


def _source(pod: Manifest) -> object:
    """Return the image and the store of a reader, which the next job of its release may change."""
    spec = pod["spec"]
    container = spec["containers"][0]
    claims = [each.get("persistentVolumeClaim") for each in spec["volumes"] if each["name"] == "results"]
    return container["image"], container["env"], container.get("envFrom"), claims


def _phase(pod: Manifest) -> str:
    return str(pod.get("status", {}).get("phase", "Pending"))
