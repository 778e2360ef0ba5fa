"""`destage cluster delete`."""

from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.commands.cluster.options import Context, Name, Namespace
from destage.cli.parameters.shared_options import Json
from destage.cli.terminal.output import print_data, print_json, print_note

if TYPE_CHECKING:
    from destage.cluster.client.api_connection import Connection
    from destage.cluster.client.jobs import Job


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
