"""Asking the results where they lie: commands in a pod of the sweep's image that mounts them."""

import copy
import time
from dataclasses import dataclass

import urllib3
from kubernetes import client
from kubernetes.stream import stream
from websocket import WebSocketException

from destage.cluster.connection import Connection
from destage.cluster.jobs import Job
from destage.cluster.labels import COMPONENT, RELEASE
from destage.cluster.objects import create, delete, find
from destage.cluster.pods import Manifest, resources
from destage.errors import ClusterError

LIFE_S = 900
"""How long a reader waits for questions before it ends by itself [s]."""
_START_S = 180.0
_CONTAINER = "reader"
_HOPELESS = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError")


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
    """A pod that reads one sweep's results; made on first use, left to end by itself.

    Attributes:
        connection: The API server.
    """

    def __init__(self, connection: Connection, job: Job) -> None:
        self.connection = connection
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
        manifest = reader_pod(self._job)
        name: str = manifest["metadata"]["name"]
        there = find(self.connection, "Pod", name)
        if there is not None and _phase(there) not in ("Pending", "Running"):
            delete(self.connection, "Pod", name)
            while find(self.connection, "Pod", name) is not None:
                time.sleep(0.5)
            there = None
        if there is None:
            create(self.connection, manifest)
        end = time.monotonic() + _START_S
        while True:
            pod = find(self.connection, "Pod", name)
            if pod is not None and _phase(pod) == "Running":
                return name
            trouble = "it is gone" if pod is None else pod_trouble(pod)
            if pod is None or trouble.startswith(_HOPELESS) or time.monotonic() > end:
                raise ClusterError(f"the pod {name} does not start: {trouble or 'it is still pending'}")
            time.sleep(0.5)


def reader_pod(job: Job) -> Manifest:
    """Return a pod that holds a sweep's results open for questions: the head's, without Ray.

    Args:
        job: The sweep.
    """
    head = job.manifest["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    spec = copy.deepcopy(head)
    ray = spec["containers"][0]
    mounts = [each for each in ray["volumeMounts"] if each["name"] in ("tmp", "results")]
    container = {
        "name": _CONTAINER,
        "image": ray["image"],
        "imagePullPolicy": ray["imagePullPolicy"],
        "command": ["sleep", str(LIFE_S)],
        "env": ray["env"],
        "resources": resources("250m", "1Gi"),
        "securityContext": ray["securityContext"],
        "volumeMounts": mounts,
    }
    spec |= {
        "containers": [container],
        "volumes": [each for each in spec["volumes"] if each["name"] in ("tmp", "results")],
        "automountServiceAccountToken": False,
        "restartPolicy": "Never",
        "activeDeadlineSeconds": LIFE_S,
        "terminationGracePeriodSeconds": 0,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{job.name}-reader", "labels": {RELEASE: job.release, COMPONENT: "reader"}},
        "spec": spec,
    }


def pod_trouble(pod: Manifest) -> str:
    """Return why a pod does not run yet; empty where nothing is told.

    Args:
        pod: The pod as the server has it.
    """
    status = pod.get("status", {})
    for container in status.get("containerStatuses", []):
        waiting = container.get("state", {}).get("waiting")
        if waiting and waiting.get("reason") != "ContainerCreating":
            text = " ".join(str(waiting.get("message") or "").split())
            return f"{waiting['reason']}: {text}" if text else str(waiting["reason"])
    for condition in status.get("conditions", []):
        if (
            condition["status"] == "False"
            and condition.get("message")
            and condition["type"] == "PodScheduled"
        ):
            return f"{condition.get('reason', 'unscheduled')}: {condition['message']}"
    return ""


def _phase(pod: Manifest) -> str:
    return str(pod.get("status", {}).get("phase", "Pending"))
