"""The verbs that look at a sweep on a cluster: status, watch, fetch, query."""

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.clustering import Context, Name, Namespace, found, sentence, told
from destage.cli.options import Format, Out, Quiet, Store
from destage.cli.output import Json, has_terminal, print_data, print_json, print_pairs, say, warn
from destage.cli.progress import ProgressDisplay
from destage.errors import ClusterError

if TYPE_CHECKING:
    from destage.cluster.jobs import Job
    from destage.cluster.reader import Reader
    from destage.cluster.results import Remote

SweepOption = Annotated[
    str, typer.Option("--sweep", help="Which sweep of the claim, where several share it.", show_default=False)
]
_FAILED = 4
_LOOK_S = 5.0


def status(
    name: Name,
    sweep: SweepOption = "",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Say how far a sweep is: its results, as the store has them, and its job."""
    job, reader = _opened(name, context, namespace)
    facts: dict[str, Any] = {"job": job.name, "state": sentence(job)}
    try:
        remote = _remote(reader, job, sweep)
    except ClusterError as error:
        remote = None
        warn(str(error))
    if as_json:
        print_json(
            {
                "job": told(job),
                "sweep": remote.name if remote else None,
                "results": remote.status if remote else None,
            }
        )
        return
    if remote is not None:
        done = remote.status
        failed = f", {done['failed']} failed" if done["failed"] else ""
        finished = "finished" if done["finished"] else "unfinished"
        facts |= {
            "sweep": remote.name,
            "results": f"{finished}: {done['present']} of {done['planned']} runs{failed}",
        }
    print_pairs(facts)


def watch(
    name: Name,
    sweep: SweepOption = "",
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, help="Stop looking after so long [s].")
    ] = 86400.0,
    context: Context = None,
    namespace: Namespace = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Follow a sweep to its end, with the bar of a local run; ends with 0 when it succeeded."""
    from destage.cluster.watching import watch as follow
    from destage.sweeps import Progress

    job, reader = _opened(name, context, namespace)
    connection = reader.connection
    end, state = time.monotonic() + timeout, ""
    began, first = time.monotonic(), None
    with ProgressDisplay(job.release, is_quiet=quiet) as display:
        while not job.has_ended and time.monotonic() < end:
            until = min(end, time.monotonic() + _LOOK_S)
            for manifest in follow(connection, "RayJob", job.name, until=until):
                job = _job(manifest)
                if job.has_ended:
                    break
            if sentence(job) != state:
                state = sentence(job)
                say(f"{job.name}: {state}")
            done = _peek(reader, job, sweep)
            if done is None:
                continue
            first = done["present"] if first is None else first
            rate = (done["present"] - first) / max(time.monotonic() - began, 1e-3)
            left = done["planned"] - done["present"]
            display(
                Progress(
                    phase="run" if left else "answer",
                    round=max(0, done["rounds"] - 1),
                    done=done["present"],
                    planned=done["planned"],
                    reused=0,
                    failed=done["failed"],
                    rate=rate,
                    eta_s=left / rate if rate > 0 else None,
                )
            )
    if not job.has_ended:
        raise ClusterError(f"{job.name} has not ended after {timeout:g} s: {sentence(job)}")
    say(f"{job.name}: {sentence(job)}")
    if as_json:
        print_json(told(job))
    if job.outcome != "SUCCEEDED":
        raise typer.Exit(_FAILED)


def fetch(
    name: Name,
    store: Store = None,
    sweep: SweepOption = "",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Copy a sweep's results into a store here; what is here already is not fetched again."""
    from destage.cluster import results
    from destage.store import default_store

    job, reader = _opened(name, context, namespace)
    remote = _remote(reader, job, sweep)

    def show(done: int, total: int) -> None:
        if has_terminal():
            typer.echo(f"\r{done / 1e6:.1f} of {total / 1e6:.1f} MB", err=True, nl=done == total)

    copy = results.fetch(reader, remote.name, store if store is not None else default_store(), show)
    if as_json:
        print_json(asdict(copy))
    else:
        print_data(f"{copy.path}\n")
    say(f"{copy.files} files fetched ({copy.size / 1e6:.1f} MB), {copy.kept} were here already")


def query(
    name: Name,
    statement: Annotated[str, typer.Argument(help="One SELECT or EXPLAIN.")],
    form: Format = "table",
    out: Out = None,
    sweep: SweepOption = "",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Ask a sweep's rows in SQL where they lie; only the answer travels."""
    from destage.cluster import results

    job, reader = _opened(name, context, namespace)
    remote = _remote(reader, job, sweep)
    data = results.query(reader, remote.name, statement, "json" if as_json else form)
    if out is None:
        print_data(data)
    else:
        out.write_bytes(data)
        say(f"{len(data)} bytes in {out}")


def _opened(name: str, context: str | None, namespace: str | None) -> "tuple[Job, Reader]":
    from destage.cluster.reader import Reader

    connection, job = found(name, context, namespace)
    return job, Reader(connection, job)


def _job(manifest: dict[str, Any]) -> "Job":
    from destage.cluster.jobs import job_of

    return job_of(manifest)


def _remote(reader: "Reader", job: "Job", sweep: str) -> "Remote":
    from destage.cluster.results import find_results

    return find_results(reader, sweep or job.sweep)


def _peek(reader: "Reader", job: "Job", sweep: str) -> dict[str, Any] | None:
    """Return how far a sweep's results are, or None while nothing can be seen of them."""
    try:
        return _remote(reader, job, sweep).status
    except ClusterError:
        return None
