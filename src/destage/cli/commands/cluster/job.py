"""The job of a sweep and its results, as the commands find and print them."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from destage.cli.terminal.progress_line import format_duration
from destage.errors import DestageError

if TYPE_CHECKING:
    from destage.cluster.client.api_connection import Connection
    from destage.cluster.client.jobs import Job
    from destage.cluster.client.pod_command import HeadPod, ReaderPod
    from destage.cluster.in_pod.fetched_results import RemoteSweep

    Pod = HeadPod | ReaderPod

SHORT_TIMEOUT_S = 30.0
"""Longest wait for the reader's pod where the command can go on without results [s]."""
_LONGEST_MESSAGE = 400


def connect_to_job(name: str, context: str | None, namespace: str | None) -> "tuple[Connection, Job]":
    """Return the connection to a cluster and a sweep's job on it."""
    from destage.cluster.client.api_connection import connect
    from destage.cluster.client.jobs import find_job

    connection = connect(context, namespace)
    return connection, find_job(connection, name)


def open_reader(
    name: str, context: str | None, namespace: str | None, timeout_s: float | None = None
) -> "tuple[Job, ReaderPod]":
    """Return a sweep's job and the reader of its results, which may take `timeout_s` to start [s]."""
    from destage.cluster.client.pod_command import START_TIMEOUT_S, ReaderPod

    connection, job = connect_to_job(name, context, namespace)
    return job, ReaderPod(connection, job, START_TIMEOUT_S if timeout_s is None else timeout_s)


def find_results(reader: "Pod", job: "Job", sweep: str) -> "RemoteSweep":
    """Return the state of a sweep's results; an empty `sweep` is the job's own."""
    from destage.cluster.in_pod import fetched_results

    return fetched_results.find_results(reader, find_sweep(reader, job, sweep))


def find_sweep(reader: "Pod", job: "Job", sweep: str) -> str:
    """Return the sweep's directory in the store; empty where only the store itself knows it."""
    return sweep or job.sweep or _find_sweep_of_study(reader, job)


def summarize_job(job: "Job") -> str:
    """Return the state of a job as one line."""
    outcome = f" ({job.outcome})" if job.outcome else ""
    message = ""
    if job.is_cancelled:
        message = ": cancelled; submit the study again to continue"
    elif job.message and job.outcome != "SUCCEEDED":
        message = f": {job.message[:_LONGEST_MESSAGE]}"
    ended = f", ended {job.ended}" if job.ended else ""
    return f"{job.state}{outcome}, submitted {job.created}{ended}{message}"


def describe_driver(status: dict[str, Any]) -> str:
    """Return when the driver last recorded its progress, from the status of its sweep; empty if unknown."""
    age = status.get("recorded_s")  # an image of an earlier release does not report it
    if age is None:
        return ""
    return f"last sign of life {format_duration(age)} ago" if status["writer"] else "none"


def describe_continuation(job: "Job", *, has_keeper: bool) -> str:
    """Return how a job that its machines ended continues; empty for any other job."""
    if not job.is_interrupted:
        return ""
    how = "its keeper" if has_keeper else f"`destage cluster watch {job.release} --keep`"
    return f"; machines were lost, but no committed result: {how} restarts the sweep, which continues"


def job_as_json(job: "Job") -> dict[str, Any]:
    """Return a job as `--json` prints it."""
    return {name: value for name, value in asdict(job).items() if name != "manifest"}


def _find_sweep_of_study(reader: "Pod", job: "Job") -> str:
    """Return the sweep of a job that Helm made, from its study; empty where it cannot be read from here."""
    from destage import sweeps
    from destage.cluster.client.jobs import read_study

    try:
        name, text = read_study(reader.connection, job)
        study = sweeps.load_study(name) if name else sweeps.parse_study(text, name=job.name, is_stored=True)
    except DestageError:
        return ""
    return f"{study.name}-{study.id}"
