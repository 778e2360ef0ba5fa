"""The keeper restarts a job after a loss of machines, a bounded number of times, and nothing else."""

from typing import Any

import pytest
from api_server import ApiServer

from destage.cluster.client.api_connection import Connection
from destage.cluster.client.interruption import is_interrupted
from destage.cluster.client.jobs import find_job, restart
from destage.cluster.in_pod.keeper import Clock, Keeper
from destage.errors import ClusterError

JOB = "/apis/ray.io/v1/namespaces/sweeps/rayjobs/demo-1"
OWN = "/apis/batch/v1/namespaces/sweeps/jobs/demo-1-keeper-1"
EXIT = "Job entrypoint command failed with exit code {}, last available logs (truncated):\nerror: it"
TIMEOUT = {
    "jobDeploymentStatus": "Failed",
    "jobStatus": "RUNNING",
    "reason": "JobStatusCheckTimeoutExceeded",
    "endTime": "2026-01-02T00:00:00Z",
}
LOST = [
    ("JobStatusCheckTimeoutExceeded", "Job status checks have been failing since 2026; exceeded 300s"),
    ("SubmissionFailed", "Job submission has failed. Reason: BackoffLimitExceeded."),
    ("JobDeploymentStatusTransitionGracePeriodExceeded", "The submitter finished"),
    ("AppFailed", EXIT.format(4)),
    ("AppFailed", "Submitter completed but Ray job not found in RayCluster."),
    ("AppFailed", "Unexpected error occurred: The actor died because its node has died."),
]
OWN_DOING = [
    ("AppFailed", EXIT.format(2)),
    ("AppFailed", EXIT.format(1)),
    ("DeadlineExceeded", "The RayJob has passed the activeDeadlineSeconds."),
    ("ValidationFailed", "spec.x is invalid"),
]


class World:
    """An API server with a RayJob, whose states follow in steps of the keeper's clock."""

    def __init__(self, *statuses: dict[str, Any] | ClusterError | None) -> None:
        self.statuses = list(statuses)
        self.objects: dict[str, dict[str, Any]] = {
            OWN: {"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}}
        }
        self.patches: list[dict[str, Any]] = []
        self.lines: list[str] = []
        self.slept: list[float] = []
        self.time = 0.0

    def send(self, method: str, path: str, body: Any) -> dict[str, Any] | None:
        if method == "PATCH":
            assert path == f"{JOB}/status"
            self.patches.append(body)
            return {}
        if path == OWN:
            return self.objects.get(OWN)
        assert path == JOB
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if isinstance(status, ClusterError):
            raise status
        return None if status is None else {"metadata": {"resourceVersion": "7"}, "status": status}

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def keep(self, max_failures: int = 20) -> str:
        clock = Clock(lambda: self.time, self.sleep)
        own = OWN.rpartition("/")[2]
        return Keeper(self.send, "sweeps", "demo-1", own, max_failures, self.lines.append, clock).keep()


COMPLETE = {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}


@pytest.mark.parametrize(("reason", "message"), LOST)
def test_a_loss_of_machines_is_restarted(reason: str, message: str) -> None:
    failed = {**TIMEOUT, "reason": reason, "message": message, "failed": 1}
    world = World({"jobDeploymentStatus": "Running"}, failed, {"jobDeploymentStatus": "Running"}, COMPLETE)
    assert world.keep() == "demo-1: Complete SUCCEEDED"
    # A changed version is a conflict: the server then rejects the restart.
    assert world.patches == [
        {"metadata": {"resourceVersion": "7"}, "status": {"jobDeploymentStatus": "Retrying"}}
    ]
    assert [reason in line for line in world.lines] == [True]


@pytest.mark.parametrize(("reason", "message"), OWN_DOING)
def test_a_failure_of_its_own_doing_is_left_alone(reason: str, message: str) -> None:
    world = World({**TIMEOUT, "reason": reason, "message": message, "failed": 1})
    assert "not a loss of machines" in world.keep()
    assert not world.patches


@pytest.mark.parametrize("state", ["", "Initializing", "Running", "Retrying", "Suspended", "Complete"])
def test_only_a_failed_job_counts_as_interrupted(state: str) -> None:
    assert not is_interrupted({**TIMEOUT, "jobDeploymentStatus": state})
    assert is_interrupted(TIMEOUT)


def test_restarts_are_bounded_and_later_ones_wait_longer() -> None:
    failures: list[dict[str, Any] | ClusterError | None] = [
        {**TIMEOUT, "failed": count} for count in range(1, 30)
    ]
    world = World(*failures)
    assert "left alone after 9 failures" in world.keep(max_failures=9)
    assert len(world.patches) == 8
    pauses = [each for each in world.slept if each != 10.0]
    assert pauses == [15.0, 30.0, 60.0, 120.0, 240.0, 480.0, 600.0, 600.0]


@pytest.mark.parametrize(("reason", "message"), [*LOST[:1], *OWN_DOING[:3]])
def test_an_upgrade_restarts_a_job_that_failed_before(reason: str, message: str) -> None:
    """For any reason, and after any number of failures, but once."""
    failed = {**TIMEOUT, "reason": reason, "message": message, "failed": 99}
    again = {**failed, "endTime": "2026-01-04T00:00:00Z", "reason": "AppFailed", "message": EXIT.format(2)}
    world = World(failed, {"jobDeploymentStatus": "Running"}, again)
    world.objects[OWN]["metadata"]["creationTimestamp"] = "2026-01-03T00:00:00Z"
    assert "not a loss of machines" in world.keep()
    assert len(world.patches) == 1
    assert "the release was upgraded" in world.lines[0]


def test_the_keeper_waits_for_its_job_and_survives_the_api_server() -> None:
    away = ClusterError("cluster.api-unreachable", "Connection refused", "https://10.96.0.1:443")
    world = World(None, None, away, away, away, {"jobDeploymentStatus": "Suspended"}, COMPLETE)
    assert world.keep() == "demo-1: Complete SUCCEEDED"
    assert len(world.lines) == 1  # a repeated error is one line
    gone = World(None)
    assert gone.keep() == "demo-1 does not exist"
    assert 300.0 < gone.time < 330.0


def restarted(server: ApiServer, connection: Connection) -> bool:
    """Read a failed job, restart it, and return whether it was still as read."""
    server.put(JOB, {"metadata": {"name": "demo-1", "labels": LABELS}, "spec": {}, "status": TIMEOUT})
    return restart(connection, find_job(connection, "demo-1"))


LABELS = {"destage.io/release": "demo", "app.kubernetes.io/name": "destage"}


@pytest.mark.parametrize("refusal", [None, (409, "the object has been modified"), (404, "gone")])
def test_a_restart_from_outside_reports_a_changed_job(
    server: ApiServer, connection: Connection, refusal: tuple[int, str] | None
) -> None:
    if refusal:
        server.refusals.append(("PATCH", "/status", *refusal))
    assert restarted(server, connection) == (refusal is None)
