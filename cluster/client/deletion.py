"""Deletion of a sweep from a cluster: its objects and, on request, its results."""

import time

from destage.cluster.client.api_connection import Connection
from destage.cluster.client.jobs import Job, cancel, delete_release, find_kept_claims, list_jobs
from destage.cluster.client.logs import find_pods
from destage.cluster.client.pod_command import ReaderPod
from destage.errors import ClusterError

_PODS_S, _PAUSE_S = 120.0, 0.5


def delete_sweep(connection: Connection, job: Job, *, with_results: bool, sweep: str = "") -> list[str]:
    """Delete all objects of a sweep's release and return what was deleted.

    A claim is deleted with all its contents. In a bucket, which others may share, only the sweeps that the
    release's jobs record are deleted, or else `sweep`, after the pods have ended.

    Raises:
        ClusterError: The server rejects a request, pods still run, or the sweep's directory is unknown.
    """
    discarded = _discard_results(connection, job, sweep) if with_results and job.is_bucket else []
    return discarded + delete_release(connection, job.release, with_results=with_results)


def delete_kept_results(connection: Connection, release: str) -> list[str]:
    """Delete the claim that a deleted sweep left, and other remaining objects of its release.

    Returns:
        What was deleted; empty if the sweep still exists or has left no claim of its own.
    """
    if not find_kept_claims(connection, release):
        return []
    return delete_release(connection, release, with_results=True)


def _discard_results(connection: Connection, job: Job, sweep: str) -> list[str]:
    jobs = [release_job for release_job in list_jobs(connection) if release_job.release == job.release]
    sweeps = [sweep] if sweep else sorted({release_job.sweep for release_job in jobs if release_job.sweep})
    if not sweeps:
        message = "the job does not record its sweep, as a job of `destage cluster submit` does; set --sweep"
        raise ClusterError("cluster.sweep-unknown", message, job.name)
    running = [release_job for release_job in jobs if not release_job.has_ended]
    for release_job in running:
        if not release_job.can_be_suspended:
            message = (
                "still running, and KubeRay cannot suspend a job with deletion rules; wait for its end, or "
                "delete it without --results"
            )
            raise ClusterError("cluster.cannot-suspend", message, release_job.name)
        if not release_job.manifest["spec"].get("suspend"):
            cancel(connection, release_job)
    if running:
        _wait_for_end(connection, job)
    with ReaderPod(connection, job) as pod:
        lines = pod.run("destage", "cluster", "discard", *sweeps, "--store", pod.store).decode().splitlines()
    return [f"{name} in {job.place} ({count} objects)" for name, count in (line.split() for line in lines)]


def _wait_for_end(connection: Connection, job: Job) -> None:
    """Wait until no pod can write results any more."""
    end = time.monotonic() + _PODS_S
    while any(find_pods(connection, job, component) for component in ("head", "worker")):
        if time.monotonic() > end:
            message = f"pods still running after {_PODS_S:g} s; try again in a minute"
            raise ClusterError("cluster.pods-still-running", message, job.release)
        time.sleep(_PAUSE_S)
