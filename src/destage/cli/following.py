"""The verbs that look at a sweep's results on a cluster: status, fetch, query."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.clustering import Context, Name, Namespace, found, sentence, told
from destage.cli.options import Format, Out, Store
from destage.cli.output import Json, has_terminal, print_data, print_json, print_pairs, say, warn
from destage.errors import ClusterError, DestageError, StoreError

if TYPE_CHECKING:
    from destage.cluster.jobs import Job
    from destage.cluster.reader_pod import ReaderPod
    from destage.cluster.results import RemoteSweep
    from destage.store import Location

SweepOption = Annotated[
    str, typer.Option("--sweep", help="Which sweep of the store, where several share it.", show_default=False)
]
PATIENCE_S = 30.0
"""Whoever only looks does not wait minutes for a pod that finds no room [s]."""


def status(
    name: Name,
    sweep: SweepOption = "",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Say how far a sweep is: its job, what keeps its pods waiting, and its results as the store has them."""
    from destage.cluster.diagnostics import diagnose_pods

    job, reader = opened(name, context, namespace, PATIENCE_S)
    facts: dict[str, Any] = {"job": job.name, "state": sentence(job)}
    troubles = diagnose_pods(reader.connection, job)
    for trouble in troubles:
        warn(str(trouble))
    try:
        remote = remote_results(reader, job, sweep)
    except ClusterError as error:
        remote = None
        warn(str(error))
    if as_json:
        print_json(
            {
                "job": told(job),
                "troubles": [asdict(each) for each in troubles],
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

    job, reader = opened(name, context, namespace)
    remote = remote_results(reader, job, sweep)

    def show(done: int, total: int) -> None:
        if has_terminal():
            typer.echo(f"\r{done / 1e6:.1f} of {total / 1e6:.1f} MB", err=True, nl=done == total)

    copy = results.fetch_results(
        reader, remote.name, _folder(store if store is not None else default_store()), show
    )
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

    job, reader = opened(name, context, namespace)
    known = _known(reader, job, sweep) or remote_results(reader, job, sweep).name
    data = results.query_results(reader, known, statement, "json" if as_json else form)
    if out is None:
        print_data(data)
    else:
        out.write_bytes(data)
        say(f"{len(data)} bytes in {out}")


def _folder(store: "Location") -> Path:
    if not isinstance(store, Path):
        message = "results are fetched into a local folder, not a bucket; set --store"
        raise StoreError("store.not-a-folder", message, str(store))
    return store


def opened(
    name: str, context: str | None, namespace: str | None, patience_s: float | None = None
) -> "tuple[Job, ReaderPod]":
    """Return a sweep's job, and what reads its results.

    Args:
        name: The sweep, as `destage cluster list` has it.
        context: The kubeconfig's context; None for its current one.
        namespace: The namespace; None for the context's.
        patience_s: How long the reader may take to start [s]; None for its own default.

    Raises:
        ClusterError: There is none, or the cluster does not answer.
    """
    from destage.cluster.reader_pod import START_TIMEOUT_S, ReaderPod

    connection, job = found(name, context, namespace)
    return job, ReaderPod(connection, job, START_TIMEOUT_S if patience_s is None else patience_s)


def remote_results(reader: "ReaderPod", job: "Job", sweep: str) -> "RemoteSweep":
    """Return how far a sweep's results are.

    Args:
        reader: What reads them.
        job: The sweep's job.
        sweep: Which sweep of the claim; empty for the job's own.

    Raises:
        ClusterError: There are none yet, or they cannot be read.
    """
    from destage.cluster.results import find_results

    return find_results(reader, _known(reader, job, sweep))


def _known(reader: "ReaderPod", job: "Job", sweep: str) -> str:
    """Return the sweep's directory in the store without a look at it; empty where that cannot be told."""
    return sweep or job.sweep or _sweep_of(reader, job)


def _sweep_of(reader: "ReaderPod", job: "Job") -> str:
    """Return the sweep of a job that Helm made, from its study; empty where that cannot be told from here."""
    from destage import sweeps
    from destage.cluster.jobs import read_study

    try:
        name, text = read_study(reader.connection, job)
        study = sweeps.load_study(name) if name else sweeps.parse_study(text, name=job.name)
    except DestageError:
        return ""
    return f"{study.name}-{study.id}"
