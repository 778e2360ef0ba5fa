"""The reader: a pod with a sweep's image and access to its results, in which commands are run."""

import secrets
import time
from types import TracebackType
from typing import Self

from destage.cluster.client.api_connection import Connection
from destage.cluster.client.diagnostics import FATAL_REASONS, describe_pod_failure
from destage.cluster.client.jobs import Job
from destage.cluster.client.objects import create, delete, find
from destage.cluster.client.pod_command import run_in_pod
from destage.cluster.resources.auxiliary_pod import build_auxiliary_pod
from destage.cluster.resources.pods import Manifest
from destage.errors import ClusterError

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
    if uid := job.manifest["metadata"].get("uid"):
        owner = {"apiVersion": "ray.io/v1", "kind": "RayJob", "name": job.name, "uid": uid}
        pod["metadata"]["ownerReferences"] = [owner]
    return pod


def _is_running(pod: Manifest | None) -> bool:
    return pod is not None and pod.get("status", {}).get("phase") == "Running"
