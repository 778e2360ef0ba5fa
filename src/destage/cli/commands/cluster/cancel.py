"""`destage cluster cancel`."""

from destage.cli.commands.cluster.job import connect_to_job
from destage.cli.commands.cluster.options import Context, Name, Namespace
from destage.cli.parameters.shared_options import Json
from destage.cli.terminal.output import print_json, print_note


def cancel(name: Name, context: Context = None, namespace: Namespace = None, as_json: Json = False) -> None:
    """Stop a sweep's pods and keep its results; `submit` resumes it."""
    from destage.cluster.client import jobs

    connection, job = connect_to_job(name, context, namespace)
    jobs.cancel(connection, job)
    if as_json:
        print_json({"cancelled": job.name})
    print_note(f"{job.name} cancelled; submit the study again to continue")
