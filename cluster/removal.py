"""Removing a sweep from a cluster: its objects there and, where that is asked for, its results."""

import time

from destage.cluster.connection import Connection
from destage.cluster.jobs import Job, cancel, delete_release, find_kept_claims, list_jobs
from destage.cluster.podlogs import pods_of
from destage.cluster.reader_pod import Reader
from destage.errors import ClusterError

_PODS_S, _PAUSE_S = 120.0, 0.5


def remove(connection: Connection, job: Job, *, with_results: bool, sweep: str = "") -> list[str]:
    """Delete all that belongs to a sweep's release, and return what it was.

    A claim goes whole. In a bucket others may have sweeps, too: there only those that the release's jobs are
    known to have run are deleted, and only once nobody writes them.

    Args:
        connection: The API server.
        job: A job of the release.
        with_results: Whether the results go, too.
        sweep: The sweep's directory in the bucket, where nobody noted it.

    Raises:
        ClusterError: The server refuses, the results are still written, or nobody knows which they are.
    """
    removed = _discarded(connection, job, sweep) if with_results and job.is_bucket else []
    return removed + delete_release(connection, job.release, with_results=with_results)


def delete_kept_results(connection: Connection, release: str) -> list[str]:
    """Delete the claim that has outlived its sweep, with whatever else is left, and return what it was.

    Args:
        connection: The API server.
        release: The name of the sweep's release.

    Returns:
        What was deleted; nothing where the sweep is there still, or has left no claim of its own.
    """
    if not find_kept_claims(connection, release):
        return []
    return delete_release(connection, release, with_results=True)


def _discarded(connection: Connection, job: Job, sweep: str) -> list[str]:
    jobs = [each for each in list_jobs(connection) if each.release == job.release]
    sweeps = [sweep] if sweep else sorted({each.sweep for each in jobs if each.sweep})
    if not sweeps:
        raise ClusterError(
            f"nobody noted which sweep {job.name} runs, as `destage cluster submit` does: say it with --sweep"
        )
    running = [each for each in jobs if not each.has_ended]
    for each in running:
        if not each.can_be_suspended:
            raise ClusterError(
                f"{each.name} has not ended, and deletion rules keep it from being cancelled: wait for it, "
                "or delete it without --results"
            )
        if not each.manifest["spec"].get("suspend"):
            cancel(connection, each)
    if running:
        _await_end(connection, job)
    reader = Reader(connection, job)
    lines = (
        reader.ask("destage", "cluster", "discard", *sweeps, "--store", reader.store).decode().splitlines()
    )
    return [f"{name} in {job.place} ({count} objects)" for name, count in (line.split() for line in lines)]


def _await_end(connection: Connection, job: Job) -> None:
    """Wait until the pods that write are gone: what one of them writes later would stay."""
    end = time.monotonic() + _PODS_S
    while any(pods_of(connection, job, component) for component in ("head", "worker")):
        if time.monotonic() > end:
            raise ClusterError(f"the pods of {job.release} have not ended yet: try again in a minute")
        time.sleep(_PAUSE_S)
