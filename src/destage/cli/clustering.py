"""The verbs that make and unmake sweeps on a cluster: submit, list, logs, cancel, delete, doctor."""

import json
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
import yaml

from destage.cli.output import Json, complain, print_data, print_json, print_pairs, say
from destage.errors import ConfigError, StoreError, TraceError

if TYPE_CHECKING:
    from destage.cluster.connection import Connection
    from destage.cluster.jobs import Job
    from destage.cluster.settings import Settings

app = typer.Typer(
    help="Sweeps on a Kubernetes cluster, through KubeRay.", no_args_is_help=True, rich_markup_mode=None
)
Context = Annotated[
    str | None,
    typer.Option(
        "--context", help="The kubeconfig's context; by default its current one.", show_default=False
    ),
]
Namespace = Annotated[
    str | None,
    typer.Option("--namespace", "-n", help="The namespace; by default the context's.", show_default=False),
]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="A sweep on the cluster, as `destage cluster list` has it.")
]
Values = Annotated[
    list[Path] | None,
    typer.Option(
        "--values", "-f", help="Settings, as the chart's values; later files win.", show_default=False
    ),
]
Given = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="One setting, as in workers.0.replicas=8.", show_default=False
    ),
]
_NO_SWEEP = {"spec": "", "configMap": "", "study": ""}
"""The settings of a sweep, empty: what a file gives of them, for Helm say, does not count."""
_UNWELL = 4


@app.command("submit")
def submit(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC", help="A study: a YAML file, or the name of a bundled one.")
    ],
    values: Values = None,
    given: Given = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", help="What it is called there; by default the study's name.", show_default=False
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the manifests and send nothing.")] = False,
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Run a study on a cluster; what its claim holds already is not run again."""
    from destage import cluster, sweeps
    from destage.cluster.labels import to_release_name
    from destage.cluster.values import merge_settings

    fields, path = sweeps.load_fields(spec), Path(spec)
    sweep = _NO_SWEEP | ({"spec": path.read_text()} if path.is_file() else {"study": spec})
    settings = merge_settings(values or [], given or [], {"mode": "job", "sweep": sweep})
    study, known_as = _read(spec, fields, settings)
    release_text = name or to_release_name(study)
    if dry_run:
        release = cluster.Release(release_text, namespace or "default", version("destage"))
        manifests = cluster.build(release, settings)
        if as_json:
            print_json({"apiVersion": "v1", "kind": "List", "items": manifests})
        else:
            print_data(yaml.safe_dump_all(manifests, sort_keys=False))
        return
    from destage.cluster.connection import connect
    from destage.cluster.jobs import submit as make

    connection = connect(context, namespace)
    release = cluster.Release(release_text, connection.namespace, version("destage"))
    job = make(connection, cluster.build(release, settings), sweep=known_as)
    if as_json:
        print_json(told(job))
    else:
        print_data(f"{job.name}\n")
    say(f"submitted; follow it with: destage cluster watch {job.release} --namespace {connection.namespace}")


@app.command("list")
def list_sweeps(context: Context = None, namespace: Namespace = None, as_json: Json = False) -> None:
    """List the sweeps of a namespace and the state of each."""
    from destage.cluster.connection import connect
    from destage.cluster.jobs import list_jobs

    jobs = list_jobs(connect(context, namespace))
    if as_json:
        print_json([told(job) for job in jobs])
        return
    print_pairs({job.name: sentence(job) for job in jobs})
    if not jobs:
        say("no sweeps yet")


@app.command("logs")
def logs(
    name: Name,
    component: Annotated[
        Literal["submitter", "head", "worker"],
        typer.Option("--component", help="Which pods: submitter (what the sweep says), head, worker."),
    ] = "submitter",
    tail: Annotated[int, typer.Option("--tail", min=1, help="The last so many lines of each.")] = 200,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on with what they say next, until they have ended.")
    ] = False,
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Print what the pods of a sweep said."""
    from destage.cluster.logs import follow_logs, read_logs

    connection, job = found(name, context, namespace)
    if follow:
        pod = ""
        for pod_now, line in follow_logs(connection, job, component, tail):
            if as_json:
                print_data(json.dumps({"pod": pod_now, "line": line}, ensure_ascii=False) + "\n")
                continue
            if pod_now != pod:
                pod = pod_now
                say(f"{pod}:")
            print_data(f"{line}\n")
        return
    said = read_logs(connection, job, component, tail)
    if as_json:
        print_json(dict(said))
        return
    for pod, text in said:
        say(f"{pod}:")
        print_data(text if text.endswith("\n") or not text else f"{text}\n")


@app.command("cancel")
def cancel(name: Name, context: Context = None, namespace: Namespace = None, as_json: Json = False) -> None:
    """End a sweep's pods; what is committed stays, and submitting it again goes on from there."""
    from destage.cluster.jobs import cancel as end

    connection, job = found(name, context, namespace)
    end(connection, job)
    if as_json:
        print_json({"cancelled": job.name})
    say(f"{job.name} is cancelled; submit the study again to go on from what is there")


@app.command("delete")
def delete(
    name: Name,
    results: Annotated[
        bool,
        typer.Option("--results", help="Delete the results, too: the claim, or the sweep in its bucket."),
    ] = False,
    sweep: Annotated[
        str,
        typer.Option("--sweep", help="Which sweep of the bucket, where nobody noted it.", show_default=False),
    ] = "",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Delete all that belongs to a sweep but its results."""
    from destage.cluster.connection import connect
    from destage.cluster.jobs import JobMissingError, find_job
    from destage.cluster.removal import delete_kept_results, delete_sweep

    connection = connect(context, namespace)
    job, deleted = None, delete_kept_results(connection, name) if results else []
    if not deleted:
        try:
            job = find_job(connection, name)
        except JobMissingError as error:
            if not results:
                raise
            message = (
                f"{error.message}; to delete results that it left in a bucket, submit the study again, then "
                "delete it with --results"
            )
            raise JobMissingError(error.code, message, error.place, error.data) from error
        deleted = delete_sweep(connection, job, with_results=results, sweep=sweep)
    if as_json:
        print_json(deleted)
    else:
        print_data("".join(f"{each}\n" for each in deleted))
    if job is None:
        return
    if not results:
        say(_where_results_stay(connection, job))
    elif job.is_bucket:
        say(f"other sweeps in {job.place} stay")
    elif f"PersistentVolumeClaim {job.claim}" not in deleted:
        say(f"{job.place} was there before the sweep, and stays")


@app.command("doctor")
def doctor(
    image: Annotated[
        str | None, typer.Option("--image", help="Start this image once, too.", show_default=False)
    ] = None,
    values: Values = None,
    given: Given = None,
    name: Annotated[
        str, typer.Option("--name", help="What the sweep will be called: workload identity goes by it.")
    ] = "doctor",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Say what a cluster offers a sweep, what is missing, and how to mend it.

    With the settings that a sweep is to have, their image is started once, too, and writes to their store.
    """
    from destage import cluster
    from destage.cluster.checks import run_checks
    from destage.cluster.connection import connect
    from destage.cluster.values import merge_settings

    wanted = None
    if values or given or image:
        # What is run does not matter here, and need not be given.
        nothing = {"mode": "cluster", "sweep": _NO_SWEEP}
        wanted = merge_settings(values or [], given or [], nothing)
    connection = connect(context, namespace)
    release = cluster.Release(name, connection.namespace, version("destage"))
    results = list(run_checks(connection, release, wanted, image))
    if as_json:
        print_json([asdict(each) for each in results])
    else:
        print_pairs({each.subject: each.message for each in results})
    for each in results:
        if not each.has_passed:
            complain(str(each))
    if not all(each.has_passed for each in results):
        raise typer.Exit(_UNWELL)
    say("all checks passed")


def _read(spec: str, fields: dict[str, Any], settings: "Settings") -> tuple[str, str]:
    """Return a study's name and its sweep's directory, which is unknown where only the pods see its trace."""
    from destage import sweeps
    from destage.cluster.storage import RESULTS
    from destage.cluster.trace_addresses import find_trace_issues

    text = settings.sweep.spec
    # What a bundled study replays lies beside it, in the image as here.
    if text and (issues := find_trace_issues(fields, settings)):
        raise ConfigError(issues, spec)
    try:
        study = sweeps.load_study(spec)
    except TraceError as error:
        # A volume is nowhere but there; a bucket may have an endpoint, or let somebody in, only there.
        is_there = isinstance(error.__cause__, StoreError) if settings.store.url else f"{RESULTS}/" in text
        if not is_there:
            raise
        say(f"{error}; the pods will look for themselves")
        return str(fields["name"]), ""
    return study.name, f"{study.name}-{study.id}"


def _where_results_stay(connection: "Connection", job: "Job") -> str:
    """Return what can be done with the results of a sweep that was just deleted."""
    from destage.cluster.jobs import describe_recovery, find_claims

    told = f"the results stay in {job.place}: {describe_recovery(job.release)}"
    deleting = f"`destage cluster delete {job.release} --results`"
    if job.is_bucket:
        return f"{told}, and {deleting} deletes them; `--store {job.store}` reads them from here"
    if job.claim in find_claims(connection, job.release):
        return f"{told}; {deleting} deletes them"
    return f"{told}; the claim was there before the sweep, and no verb deletes it"


def found(name: str, context: str | None, namespace: str | None) -> "tuple[Connection, Job]":
    """Return a sweep's job, and the connection by which it was found.

    Args:
        name: The sweep, as `destage cluster list` has it.
        context: The kubeconfig's context; None for its current one.
        namespace: The namespace; None for the context's.

    Raises:
        ClusterError: There is none, or the cluster does not answer.
    """
    from destage.cluster.connection import connect
    from destage.cluster.jobs import find_job

    connection = connect(context, namespace)
    return connection, find_job(connection, name)


def sentence(job: "Job") -> str:
    """Return what a job's state is, as one line.

    Args:
        job: The job.
    """
    outcome = f" ({job.outcome})" if job.outcome else ""
    message = f": {job.message[:400]}" if job.message and job.outcome != "SUCCEEDED" else ""
    if job.is_cancelled:
        message = ": cancelled; submit the study again to go on"
    ended = f", ended {job.ended}" if job.ended else ""
    return f"{job.state}{outcome}, submitted {job.created}{ended}{message}"


def told(job: "Job") -> dict[str, Any]:
    """Return a job as JSON has it.

    Args:
        job: The job.
    """
    return {name: value for name, value in asdict(job).items() if name != "manifest"}
