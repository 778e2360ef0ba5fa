"""`destage cluster list`, `status`, `scale`, `cancel` and `delete`.

They act on the jobs of sweeps, which all commands find and print in the same way.
"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.commands.cluster.options import Context, Name, Namespace, SweepOption
from destage.cli.parameters.shared_options import Json
from destage.cli.terminal.output import print_data, print_json, print_note, print_pairs, print_warning
from destage.cli.terminal.progress_line import format_duration
from destage.errors import ClusterError, DestageError

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


def list_sweeps(context: Context = None, namespace: Namespace = None, as_json: Json = False) -> None:
    """List the sweeps in a namespace and their states."""
    from destage.cluster.client.api_connection import connect
    from destage.cluster.client.jobs import list_jobs

    jobs = list_jobs(connect(context, namespace))
    if as_json:
        print_json([job_as_json(job) for job in jobs])
        return
    print_pairs({job.name: summarize_job(job) for job in jobs})
    if not jobs:
        print_note("no sweeps")


def status(
    name: Name,
    sweep: SweepOption = "",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Show a sweep's job, the problems of its pods, and its progress."""
    from destage.cluster.client.diagnostics import diagnose_pods
    from destage.cluster.client.jobs import has_keeper
    from destage.cluster.client.pod_command import find_head_pod

    job, reader = open_reader(name, context, namespace, SHORT_TIMEOUT_S)
    diagnostics = diagnose_pods(reader.connection, job)
    print_warning(*(diagnostic.issue for diagnostic in diagnostics))
    try:
        # A running head needs no further pod.
        with reader:
            remote = find_results(find_head_pod(reader.connection, job) or reader, job, sweep)
    except ClusterError as error:
        remote = None
        print_warning(*error.issues)
    if as_json:
        print_json(
            {
                "job": job_as_json(job),
                "diagnostics": [asdict(diagnostic) for diagnostic in diagnostics],
                "sweep": remote.name if remote else None,
                "results": remote.status if remote else None,
            }
        )
        return
    continuation = ""
    if job.is_interrupted:
        continuation = describe_continuation(job, has_keeper=has_keeper(reader.connection, job))
    facts = {"job": job.name, "state": summarize_job(job) + continuation}
    if remote is not None:
        done = remote.status
        failed = f", {done['failed']} failed" if done["failed"] else ""
        finished = "finished" if done["finished"] else "unfinished"
        facts["sweep"] = remote.name
        facts["results"] = f"{finished}: {done['present']} of {done['planned']} runs{failed}"
        if not job.has_ended and (driver := describe_driver(done)):
            facts["driver"] = driver
    print_pairs(facts)


def cancel(name: Name, context: Context = None, namespace: Namespace = None, as_json: Json = False) -> None:
    """Stop a sweep's pods and keep its results; `submit` resumes it."""
    from destage.cluster.client import jobs

    connection, job = connect_to_job(name, context, namespace)
    jobs.cancel(connection, job)
    if as_json:
        print_json({"cancelled": job.name})
    print_note(f"{job.name} cancelled; submit the study again to continue")


def scale(
    name: Name,
    workers: Annotated[
        int | None, typer.Option("--workers", min=0, help="Number of worker pods.", show_default=False)
    ] = None,
    low: Annotated[
        int | None, typer.Option("--min", min=0, help="Least number with autoscaling.", show_default=False)
    ] = None,
    high: Annotated[
        int | None, typer.Option("--max", min=0, help="Greatest number with autoscaling.", show_default=False)
    ] = None,
    group: Annotated[
        str, typer.Option("--group", help="Group of workers, if there are several.", show_default=False)
    ] = "",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Change the number of workers of a sweep, also while it runs."""
    from destage.cluster.client.scaling import scale_workers

    connection, job = connect_to_job(name, context, namespace)
    scaled_group, numbers, is_running = scale_workers(
        connection, job, group=group, workers=workers, low=low, high=high
    )
    if as_json:
        print_json({"group": scaled_group, **asdict(numbers), "running": is_running})
    text = str(numbers.high) if numbers.low == numbers.high else f"{numbers.low} to {numbers.high}"
    when = "" if is_running else " when the sweep starts again"
    print_note(f"{job.name}: group {scaled_group} has {text} workers{when}")


def delete(
    name: Name,
    results: Annotated[
        bool,
        typer.Option(
            "--results", help="Also delete the results: the volume claim, or the sweep in its bucket."
        ),
    ] = False,
    sweep: Annotated[
        str,
        typer.Option(
            "--sweep",
            help="With --results: directory of the sweep in the bucket, if the job has no record of it.",
            show_default=False,
        ),
    ] = "",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Delete a sweep from the cluster and keep its results."""
    from destage.cluster.client.api_connection import connect
    from destage.cluster.client.deletion import delete_kept_results, delete_sweep
    from destage.cluster.client.jobs import JobMissingError, find_job

    connection = connect(context, namespace)
    job, deleted = None, delete_kept_results(connection, name) if results else []
    if not deleted:
        try:
            job = find_job(connection, name)
        except JobMissingError as error:
            if not results:
                raise
            message = (
                f"{error.message}; to delete results that a deleted sweep left in a bucket, submit it again"
            )
            raise JobMissingError(error.code, message, error.place, error.data) from error
        deleted = delete_sweep(connection, job, with_results=results, sweep=sweep)
    if as_json:
        print_json(deleted)
    else:
        print_data("".join(f"{line}\n" for line in deleted))
    if job is None:
        return
    if not results:
        print_note(_describe_results(connection, job))
    elif job.is_bucket:
        print_note(f"other sweeps in {job.place} are kept")
    elif f"PersistentVolumeClaim {job.claim}" not in deleted:
        print_note(f"{job.place} is kept, because it existed before the sweep")


def _describe_results(connection: "Connection", job: "Job") -> str:
    """Return where the results of a deleted sweep are and what can be done with them."""
    from destage.cluster.client.jobs import describe_recovery, find_claims

    kept = f"the results are kept in {job.place}: {describe_recovery(job.release)}"
    deleting = f"`destage cluster delete {job.release} --results`"
    if job.is_bucket:
        return f"{kept}, and {deleting} deletes them; `--store {job.store}` reads them from here"
    if job.claim in find_claims(connection, job.release):
        return f"{kept}; {deleting} deletes them"
    return f"{kept}; no command deletes the claim, because it existed before the sweep"
