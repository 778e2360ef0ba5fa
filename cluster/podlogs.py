"""What the pods of a sweep said."""

from collections.abc import Iterator

from destage.cluster.connection import Connection, RefusedError
from destage.cluster.jobs import Job
from destage.cluster.labels import COMPONENT, RELEASE
from destage.cluster.objects import find_all, place
from destage.cluster.reader import pod_trouble
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
    selector = f"{RELEASE}={job.release},{COMPONENT}={component}"
    pods = find_all(connection, "Pod", labelSelector=selector)
    if not pods:
        raise ClusterError(
            f"{job.name} ({job.state}) has no {component} pod: there is none yet, or it is deleted"
        )
    for pod in pods:
        name = pod["metadata"]["name"]
        container = pod["spec"]["containers"][0]["name"]
        query = {"container": container, "tailLines": tail}
        try:
            yield name, connection.read_text(f"{place(connection, 'Pod', name)}/log", query=query)
        except RefusedError as error:
            yield name, f"no log yet: {pod_trouble(pod) or error}"
