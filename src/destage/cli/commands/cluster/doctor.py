"""`destage cluster doctor`."""

from dataclasses import asdict
from typing import Annotated

import typer

from destage.cli.commands.cluster.options import NO_SWEEP, Assignments, Context, Namespace, Values
from destage.cli.parameters.shared_options import Json
from destage.cli.terminal.output import print_error, print_json, print_note, print_pairs

_INFRASTRUCTURE = 4


def doctor(
    image: Annotated[str | None, typer.Option("--image", help="Also start this image in a test pod.")] = None,
    values: Values = None,
    given: Assignments = None,
    name: Annotated[
        str, typer.Option("--name", help="Name of the sweep; workload identity is bound to it.")
    ] = "doctor",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Check that a cluster can run sweeps.

    Prints a fix for each problem. With the settings of a sweep, also starts its image in a test pod that
    writes to its store.
    """
    from importlib.metadata import version

    from destage import cluster
    from destage.cluster.client.api_connection import connect
    from destage.cluster.preparation.checks import run_checks
    from destage.cluster.setup.helm_values import merge_settings

    wanted = None
    if values or given or image:
        wanted = merge_settings(values or [], given or [], {"mode": "cluster", "sweep": NO_SWEEP})
    connection = connect(context, namespace)
    release = cluster.Release(name, connection.namespace, version("destage"))
    results = list(run_checks(connection, release, wanted, image))
    if as_json:
        print_json([asdict(result) for result in results])
    else:
        print_pairs({result.subject: result.message for result in results})
    failures = [result.issue for result in results if not result.has_passed]
    print_error(*failures)
    if failures:
        raise typer.Exit(_INFRASTRUCTURE)
    print_note("all checks passed")
