"""The number of workers of a sweep: of its running Ray cluster, and of its job, for later clusters."""

from dataclasses import dataclass

from destage.cluster.client.api_connection import ApiError, Connection
from destage.cluster.client.jobs import Job
from destage.cluster.client.objects import build_path
from destage.cluster.resources.pods import Manifest
from destage.errors import ClusterError

_PATCH = "application/json-patch+json"


@dataclass(frozen=True, slots=True)
class Scale:
    """The bounds of a group of workers, and the number to start with."""

    low: int
    replicas: int
    high: int


def scale_workers(
    connection: Connection,
    job: Job,
    *,
    group: str = "",
    workers: int | None = None,
    low: int | None = None,
    high: int | None = None,
) -> tuple[str, Scale, bool]:
    """Set the number of workers of a group, or with autoscaling its bounds.

    KubeRay keeps the number between the bounds and ignores changes of the job while its cluster runs, so
    all three are set, in both. A bound that is not given stays.

    Returns:
        The group, its new numbers, and whether a running cluster has them.

    Raises:
        ClusterError: There is no such group, or the numbers do not suit the autoscaling.
    """
    spec = job.manifest["spec"]["rayClusterSpec"]
    index, group_spec = _find_group(spec["workerGroupSpecs"], group, job)
    is_elastic = bool(spec.get("enableInTreeAutoscaling"))
    if is_elastic == (workers is not None) or (workers is None and low is None and high is None):
        wanted = "--min or --max, because Ray's autoscaler decides" if is_elastic else "--workers"
        raise ClusterError("cluster.cannot-scale", f"give {wanted} the number of workers", job.name)
    if workers is not None:
        scale = Scale(workers, workers, workers)
    else:
        bottom = group_spec["minReplicas"] if low is None else low
        top = group_spec["maxReplicas"] if high is None else high
        scale = Scale(bottom, max(bottom, min(group_spec["replicas"], top)), top)
    if scale.low > scale.high:
        message = f"the minimum ({scale.low}) exceeds the maximum ({scale.high})"
        raise ClusterError("cluster.cannot-scale", message, job.name)
    name = str(group_spec["groupName"])
    _patch(connection, "RayJob", job.name, f"/spec/rayClusterSpec/workerGroupSpecs/{index}", name, scale)
    if not job.cluster or job.has_ended:
        return name, scale, False
    try:
        _patch(connection, "RayCluster", job.cluster, f"/spec/workerGroupSpecs/{index}", name, scale)
    except ApiError as error:
        if error.is_missing:  # KubeRay is about to create it from the job
            return name, scale, False
        raise
    return name, scale, True


def _find_group(groups: list[Manifest], name: str, job: Job) -> tuple[int, Manifest]:
    matching = [(index, group) for index, group in enumerate(groups) if name in ("", group["groupName"])]
    if len(matching) == 1:
        return matching[0]
    names = ", ".join(str(group["groupName"]) for group in groups)
    raise ClusterError("cluster.cannot-scale", f"name one group with --group: {names}", job.name)


def _patch(connection: Connection, kind: str, name: str, path: str, group: str, scale: Scale) -> None:
    changes = (("minReplicas", scale.low), ("maxReplicas", scale.high), ("replicas", scale.replicas))
    body: list[Manifest] = [{"op": "test", "path": f"{path}/groupName", "value": group}]
    body += [{"op": "add", "path": f"{path}/{field}", "value": value} for field, value in changes]
    connection.call("PATCH", build_path(connection, kind, name), body=body, content_type=_PATCH)
