"""`destage cluster status`."""

from dataclasses import asdict

from destage.cli.commands.cluster.job import (
    SHORT_PATIENCE_S,
    find_results,
    job_as_json,
    open_reader,
    summarize_job,
    trouble_as_issue,
)
from destage.cli.commands.cluster.options import Context, Name, Namespace, SweepOption
from destage.cli.options import Json
from destage.cli.output import print_json, print_pairs, print_warning
from destage.errors import ClusterError


def status(
    name: Name,
    sweep: SweepOption = "",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Show the state of a sweep: its job, problems of its pods, and the progress of its results."""
    from destage.cluster.troubles import find_troubles

    job, reader = open_reader(name, context, namespace, SHORT_PATIENCE_S)
    troubles = find_troubles(reader.connection, job)
    for trouble in troubles:
        print_warning(trouble_as_issue(trouble))
    try:
        remote = find_results(reader, job, sweep)
    except ClusterError as error:
        remote = None
        for issue in error.issues:
            print_warning(issue)
    if as_json:
        print_json(
            {
                "job": job_as_json(job),
                "troubles": [asdict(each) for each in troubles],
                "sweep": remote.name if remote else None,
                "results": remote.status if remote else None,
            }
        )
        return
    facts = {"job": job.name, "state": summarize_job(job)}
    if remote is not None:
        done = remote.status
        failed = f", {done['failed']} failed" if done["failed"] else ""
        finished = "finished" if done["finished"] else "unfinished"
        facts["sweep"] = remote.name
        facts["results"] = f"{finished}: {done['present']} of {done['planned']} runs{failed}"
    print_pairs(facts)
