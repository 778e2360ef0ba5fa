"""`destage cluster status`."""

from dataclasses import asdict

from destage.cli.commands.cluster.job import (
    SHORT_TIMEOUT_S,
    describe_continuation,
    describe_driver,
    find_results,
    job_as_json,
    open_reader,
    summarize_job,
)
from destage.cli.commands.cluster.options import Context, Name, Namespace, SweepOption
from destage.cli.parameters.shared_options import Json
from destage.cli.terminal.output import print_json, print_pairs, print_warning
from destage.errors import ClusterError


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
    for diagnostic in diagnostics:
        print_warning(diagnostic.issue)
    try:
        # A running head needs no further pod.
        with reader:
            remote = find_results(find_head_pod(reader.connection, job) or reader, job, sweep)
    except ClusterError as error:
        remote = None
        for issue in error.issues:
            print_warning(issue)
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
