"""`destage cluster submit`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.commands.cluster.job import job_as_json
from destage.cli.commands.cluster.options import NO_SWEEP, Assignments, Context, Namespace, Values
from destage.cli.parameters.shared_options import Catalog, Json, Spec, use_catalog
from destage.cli.terminal.output import print_data, print_json, print_note
from destage.errors import ConfigError, StoreError, TraceError

if TYPE_CHECKING:
    from destage.cluster.setup.cluster_settings import Settings


def submit(
    spec: Spec,
    values: Values = None,
    given: Assignments = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name on the cluster (default: the study's name).")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the manifests without submitting them.")
    ] = False,
    context: Context = None,
    namespace: Namespace = None,
    catalog_files: Catalog = None,
    as_json: Json = False,
) -> None:
    """Run a study on the cluster.

    Runs that are already in its volume or bucket are not executed again.
    """
    use_catalog(catalog_files)
    from importlib.metadata import version

    from destage import cluster, sweeps
    from destage.cluster.setup.helm_values import merge_settings
    from destage.cluster.setup.object_labels import to_release_name

    fields, path = sweeps.load_fields(spec), Path(spec)
    sweep = NO_SWEEP | ({"spec": _read_text(path, fields)} if path.is_file() else {"study": spec})
    settings = merge_settings(values or [], given or [], {"mode": "job", "sweep": sweep})
    study, directory = _read_study(spec, fields, settings)
    release_text = name or to_release_name(study)
    if dry_run:
        release = cluster.Release(release_text, namespace or "default", version("destage"))
        manifests = cluster.build(release, settings)
        if as_json:
            print_json({"apiVersion": "v1", "kind": "List", "items": manifests})
        else:
            import yaml

            print_data(yaml.safe_dump_all(manifests, sort_keys=False))
        return
    from destage.cluster.client import jobs
    from destage.cluster.client.api_connection import connect

    connection = connect(context, namespace)
    release = cluster.Release(release_text, connection.namespace, version("destage"))
    job = jobs.submit(connection, cluster.build(release, settings), sweep=directory)
    if as_json:
        print_json(job_as_json(job))
    else:
        print_data(f"{job.name}\n")
    following = f"destage cluster watch {job.release} --namespace {connection.namespace}"
    print_note(f"submitted; follow it with `{following}`")


def _read_text(path: Path, fields: dict[str, Any]) -> str:
    """Return a study as pods can read it: with its own parts, which lie in files of this machine."""
    if "catalog" not in fields["scenario"]:
        return path.read_text()
    import yaml

    text: str = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)
    return text


def _read_study(spec: str, fields: dict[str, Any], settings: "Settings") -> tuple[str, str]:
    """Return a study's name and its sweep's directory, empty if only the pods can read the trace."""
    from destage import sweeps
    from destage.cluster.resources.storage import RESULTS, find_trace_issues

    text = settings.sweep.spec
    # The traces of a bundled study lie beside it, in the image as well.
    if text and (issues := find_trace_issues(fields, settings)):
        raise ConfigError(issues, spec)
    try:
        study = sweeps.load_study(spec)
    except TraceError as error:
        # A volume exists only in the cluster; a bucket may have an endpoint or credentials only there.
        is_there = isinstance(error.__cause__, StoreError) if settings.store.url else f"{RESULTS}/" in text
        if not is_there:
            raise
        print_note(f"the trace is checked by the pods, because it cannot be read from here: {error}")
        return str(fields["name"]), ""
    return study.name, f"{study.name}-{study.id}"
