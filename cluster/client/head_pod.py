"""The running head of a sweep, which is asked for its progress: no other pod has to start for that."""

from destage.cluster.client.api_connection import Connection
from destage.cluster.client.jobs import Job
from destage.cluster.client.objects import find_all
from destage.cluster.client.pod_command import run_in_pod
from destage.cluster.setup.object_labels import COMPONENT, RELEASE

_CONTAINER = "ray-head"
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
        return run_in_pod(self.connection, self._name, _CONTAINER, command)


def find_head_pod(connection: Connection, job: Job) -> HeadPod | None:
    """Return the head of a sweep if its container runs."""
    if not job.cluster:
        return None
    selector = f"{RELEASE}={job.release},{COMPONENT}=head,{_CLUSTER}={job.cluster}"
    for pod in find_all(connection, "Pod", labelSelector=selector):
        containers = pod.get("status", {}).get("containerStatuses", [])
        is_running = any(each["name"] == _CONTAINER and "running" in each["state"] for each in containers)
        if is_running and not pod["metadata"].get("deletionTimestamp"):
            return HeadPod(connection, pod["metadata"]["name"], job.store)
    return None
