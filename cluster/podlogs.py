"""What the pods of a sweep said."""

from collections.abc import Iterator

from destage.cluster.connection import ApiError, Connection
from destage.cluster.diagnostics import describe_pod_failure
from destage.cluster.jobs import Job
from destage.cluster.labels import COMPONENT, RELEASE
from destage.cluster.objects import find_all, place
from destage.cluster.pods import Manifest
from destage.errors import ClusterError


def read_logs(connection: Connection, job: Job, component: str, tail: int) -> Iterator[tuple[str, str]]:
    """Yield the pods of a kind and the last lines of each.

    Args:
        connection: The API server.
        job: The sweep.
        component: `submitter`, `head` or `worker`.
        tail: How many lines.

    Raises:
        ClusterError: There are no such pods.
    """
    pods = pods_of(connection, job, component)
    if not pods:
        raise no_pods(job, component)
    for pod in pods:
        name = pod["metadata"]["name"]
        query: dict[str, str | int] = {"container": container_of(pod), "tailLines": tail}
        try:
            yield name, connection.read_text(f"{place(connection, 'Pod', name)}/log", query=query)
        except ApiError as error:
            yield name, f"no log yet: {describe_pod_failure(pod) or error}"


def pods_of(connection: Connection, job: Job, component: str) -> list[Manifest]:
    """Return the pods of a kind.

    Args:
        connection: The API server.
        job: The sweep.
        component: `submitter`, `head` or `worker`.
    """
    return find_all(connection, "Pod", labelSelector=f"{RELEASE}={job.release},{COMPONENT}={component}")


def no_pods(job: Job, component: str) -> ClusterError:
    """Return what is to be said where there are no pods of a kind.

    Args:
        job: The sweep.
        component: `submitter`, `head` or `worker`.
    """
    return ClusterError(
        f"{job.name} ({job.state}) has no {component} pod: there is none yet, or it is deleted"
    )


def container_of(pod: Manifest) -> str:
    """Return the name of the container that a pod is for.

    Args:
        pod: The pod.
    """
    return str(pod["spec"]["containers"][0]["name"])
