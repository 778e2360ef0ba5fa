"""`destage cluster list`."""

from destage.cli.commands.cluster.job import job_as_json, summarize_job
from destage.cli.commands.cluster.options import Context, Namespace
from destage.cli.parameters.shared_options import Json
from destage.cli.terminal.output import print_json, print_note, print_pairs


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
