"""Scaling sets all three numbers, of the running cluster and of the job."""

from typing import Any

import pytest
from api_server import ApiServer
from cluster_settings import CASES
from error_codes import has_code

from destage.cluster import Release, build, read_settings
from destage.cluster.client.api_connection import Connection
from destage.cluster.client.jobs import Job, find_job, submit
from destage.cluster.client.scaling import Scale, scale_workers
from destage.errors import ClusterError

GROUP = "/apis/ray.io/v1/namespaces/sweeps"
CLUSTER = f"{GROUP}/rayclusters/demo-1-x"


def start(server: ApiServer, connection: Connection, case: str) -> Job:
    """Submit a sweep and let its cluster run."""
    job = submit(connection, build(Release("demo", "sweeps", "1"), read_settings(CASES[case])))
    path = f"{GROUP}/rayjobs/{job.name}"
    status = {"jobDeploymentStatus": "Running", "rayClusterName": "demo-1-x"}
    server.put(path, {**server.objects[path], "status": status})
    server.put(CLUSTER, {"metadata": {"name": "demo-1-x"}, "spec": job.manifest["spec"]["rayClusterSpec"]})
    return find_job(connection, "demo")


def numbers(groups: list[dict[str, Any]], at: int) -> tuple[int, int, int]:
    return (groups[at]["minReplicas"], groups[at]["replicas"], groups[at]["maxReplicas"])


def both(server: ApiServer, job: Job, at: int = 0) -> set[tuple[int, int, int]]:
    """Return the numbers of the job and of its cluster."""
    spec = server.objects[f"{GROUP}/rayjobs/{job.name}"]["spec"]["rayClusterSpec"]
    found = server.objects[CLUSTER]["spec"]["workerGroupSpecs"]
    return {numbers(spec["workerGroupSpecs"], at), numbers(found, at)}


def test_a_running_sweep_and_its_job_get_all_three_numbers(server: ApiServer, connection: Connection) -> None:
    job = start(server, connection, "bundled")
    assert scale_workers(connection, job, workers=80) == ("workers", Scale(80, 80, 80), True)
    assert both(server, job) == {(80, 80, 80)}


def test_with_autoscaling_the_bounds_of_one_group_change(server: ApiServer, connection: Connection) -> None:
    job = start(server, connection, "elastic")
    assert scale_workers(connection, job, group="spot", low=4) == ("spot", Scale(4, 4, 50), True)
    assert both(server, job) == {(4, 4, 50)}
    assert both(server, job, at=1) == {(0, 1, 1)}


def test_an_ended_sweep_has_the_number_when_it_starts_again(
    server: ApiServer, connection: Connection
) -> None:
    job = start(server, connection, "bundled")
    del server.objects[CLUSTER]
    assert scale_workers(connection, job, workers=3)[2] is False
    spec = find_job(connection, "demo").manifest["spec"]["rayClusterSpec"]
    assert numbers(spec["workerGroupSpecs"], 0) == (3, 3, 3)


@pytest.mark.parametrize(
    ("case", "given"),
    [
        ("bundled", {}),
        ("bundled", {"low": 1}),
        ("bundled", {"workers": 1, "group": "other"}),
        ("elastic", {"workers": 5, "group": "spot"}),
        ("elastic", {"low": 1}),
        ("elastic", {"low": 60, "group": "spot"}),
    ],
)
def test_numbers_that_do_not_suit_change_nothing(
    server: ApiServer, connection: Connection, case: str, given: dict[str, Any]
) -> None:
    job = start(server, connection, case)
    before = both(server, job)
    with pytest.raises(ClusterError, check=has_code("cluster.cannot-scale")):
        scale_workers(connection, job, **given)
    assert both(server, job) == before
