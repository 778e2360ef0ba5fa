"""`destage cluster doctor`."""

from dataclasses import asdict
from importlib.metadata import version
from typing import Annotated

import typer

from destage.cli.commands.cluster.options import NO_SWEEP, Assignments, Context, Namespace, Values
from destage.cli.options import Json
from destage.cli.output import print_error, print_json, print_note, print_pairs
from destage.errors import Issue

_INFRASTRUCTURE = 4


def doctor(
    image: Annotated[
        str | None,
        typer.Option("--image", help="Also start this image in a test pod.", show_default=False),
    ] = None,
    values: Values = None,
    given: Assignments = None,
    name: Annotated[
        str, typer.Option("--name", help="Name of the sweep; workload identity is bound to it.")
    ] = "doctor",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Check that a cluster can run sweeps, and print a fix for each problem.

    With the settings of a sweep, its image is started in a test pod that writes to its store.
    """
    from destage import cluster
    from destage.cluster.connection import connect
    from destage.cluster.examination import examine
    from destage.cluster.reading import merged_settings

    wanted = None
    if values or given or image:
        wanted = merged_settings(values or [], given or [], {"mode": "cluster", "sweep": NO_SWEEP})
    connection = connect(context, namespace)
    release = cluster.Release(name, connection.namespace, version("destage"))
    findings = list(examine(connection, release, wanted, image))
    if as_json:
        print_json([asdict(each) for each in findings])
    else:
        print_pairs({each.what: each.told for each in findings})
    problems = [each for each in findings if not each.is_well]
    for each in problems:
        print_error(Issue("cluster.requirement-missing", each.what, f"{each.told}: {each.mend}"))
    if problems:
        raise typer.Exit(_INFRASTRUCTURE)
    print_note("all checks passed")
