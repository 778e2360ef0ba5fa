"""Commands in a running pod, through the API server: of a job's head, or of a reader of its store.

The running head of a sweep is asked for its progress: no other pod has to start for that. The reader is a pod
with the sweep's image and access to its results, for commands where there is no head.
"""

import secrets
import time
from typing import Self

import urllib3
from kubernetes import client
from kubernetes.stream import stream
from websocket import WebSocketException

from destage.cluster.client.api_connection import Connection
from destage.cluster.client.diagnostics import FATAL_REASONS, describe_pod_failure
from destage.cluster.client.jobs import Job
from destage.cluster.client.objects import create, delete, find, find_all
from destage.cluster.resources.pods import Manifest, build_auxiliary_pod
from destage.cluster.setup.object_labels import COMPONENT, RELEASE
from destage.errors import ClusterError

_HANDSHAKE_DETAILS = "-+-+-"
"""The WebSocket client appends all headers of a rejection after this mark."""
_MISSING = "404 Not Found"


def run_in_pod(connection: Connection, pod: str, container: str, command: tuple[str, ...]) -> bytes:
    """Run a command in a container and return its standard output.

    Raises:
        ClusterError: The pod cannot be reached or no longer exists, or the command fails.
    """
    stdout, stderr, exit_code = _execute(connection, pod, container, command)
    if exit_code:
        *_, last = [line for line in stderr.splitlines() if line.strip()] or ["no output on stderr"]
        message = f"`{command[0]}` failed with exit code {exit_code}: {last}"
        raise ClusterError("cluster.pod-command-failed", message, pod)
    return stdout


def _execute(
    connection: Connection, pod: str, container: str, command: tuple[str, ...]
) -> tuple[bytes, str, int]:
    api = client.CoreV1Api(connection.api)
    try:
        session = stream(
            api.connect_get_namespaced_pod_exec,
            pod,
            connection.namespace,
            command=list(command),
            container=container,
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
        message = f"no command can be run in the pod: {_describe(error)}"
        raise ClusterError("cluster.pod-unreachable", message, pod) from error
    if exit_code is None:
        message = "the connection to the pod broke; run the same command again to continue"
        raise ClusterError("cluster.connection-lost", message, pod)
    return b"".join(out), b"".join(err).decode(errors="replace"), int(exit_code)


def _describe(error: BaseException) -> str:
    """Return a failure as one line, without the headers and the body of a response."""
    text = str(getattr(error, "reason", None) or error).partition(_HANDSHAKE_DETAILS)[0]
    if _MISSING in text:
        return "it no longer exists"
    return " ".join(text.split())[:300] or type(error).__name__


_HEAD_CONTAINER = "ray-head"
_CLUSTER = "ray.io/cluster"
"""KubeRay's label with the RayCluster of a pod."""


class HeadPod:
    """Runs commands in a head. Only small ones: their memory is that of the sweep's driver.

    Attributes:
        store: The store, for `--store` in the pod.
    """

    def __init__(self, connection: Connection, name: str, store: str) -> None:
        self.store = store
        self.connection = connection
        self._name = name

    def run(self, *command: str) -> bytes:
        """Run a command and return its standard output."""
        return run_in_pod(self.connection, self._name, _HEAD_CONTAINER, command)


def find_head_pod(connection: Connection, job: Job) -> HeadPod | None:
    """Return the head of a sweep if its container runs."""
    if not job.cluster:
        return None
    selector = f"{RELEASE}={job.release},{COMPONENT}=head,{_CLUSTER}={job.cluster}"
    for pod in find_all(connection, "Pod", labelSelector=selector):
        containers = pod.get("status", {}).get("containerStatuses", [])
        is_running = any(
            status["name"] == _HEAD_CONTAINER and "running" in status["state"] for status in containers
        )
        if is_running and not pod["metadata"].get("deletionTimestamp"):
            return HeadPod(connection, pod["metadata"]["name"], job.store)
    return None


LIFETIME_S = 900
"""The pod's deadline [s], if the command that created it is killed."""
START_TIMEOUT_S = 180.0
"""Default limit for the start of the pod [s]."""
_CONTAINER = "reader"


class ReaderPod:
    """A reader of a release, for a `with` block: created on first use, deleted at the end of the block.

    Each command has a reader of its own, so that none deletes another's.

    Attributes:
        store: The store, for `--store` in the pod.
    """

    def __init__(self, connection: Connection, job: Job, start_timeout_s: float = START_TIMEOUT_S) -> None:
        self.connection = connection
        self.store = job.store
        self._start_timeout_s = start_timeout_s
        self._job = job
        self._pod = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if not self._pod:
            return
        try:
            delete(self.connection, "Pod", self._pod)
        except ClusterError:
            if error is None:
                raise

    def run(self, *command: str) -> bytes:
        """Run a command and return its standard output; a reader that was deleted is replaced."""
        if self._pod and not _is_running(find(self.connection, "Pod", self._pod)):
            delete(self.connection, "Pod", self._pod)
            self._pod = ""
        if not self._pod:
            self._start()
        return run_in_pod(self.connection, self._pod, _CONTAINER, command)

    def _start(self) -> None:
        end = time.monotonic() + self._start_timeout_s
        manifest = build_reader_pod(self._job)
        create(self.connection, manifest)
        self._pod = manifest["metadata"]["name"]
        while True:
            pod = find(self.connection, "Pod", self._pod)
            if _is_running(pod):
                return
            failure = "it was deleted" if pod is None else describe_pod_failure(pod)
            if pod is None or failure.startswith(FATAL_REASONS) or time.monotonic() > end:
                message = f"the pod does not start: {failure or 'still pending'}"
                raise ClusterError("cluster.pod-not-started", message, self._pod)
            time.sleep(0.5)


def build_reader_pod(job: Job) -> Manifest:
    """Return a reader of a sweep's release, which Kubernetes deletes with the sweep's job."""
    command = ["sleep", str(LIFETIME_S)]
    name = f"{job.release}-reader-{secrets.token_hex(3)}"
    pod = build_auxiliary_pod(job.head, name, _CONTAINER, command, memory="1Gi", lifetime_s=LIFETIME_S)
    if job.manifest["metadata"].get("uid"):
        pod["metadata"]["ownerReferences"] = [job.as_owner]
    return pod


def _is_running(pod: Manifest | None) -> bool:
    return pod is not None and pod.get("status", {}).get("phase") == "Running"
