"""`destage cluster scale`."""

from dataclasses import asdict
from typing import Annotated

import typer

from destage.cli.commands.cluster.job import connect_to_job
from destage.cli.commands.cluster.options import Context, Name, Namespace
from destage.cli.parameters.shared_options import Json
from destage.cli.terminal.output import print_json, print_note


def scale(
    name: Name,
    workers: Annotated[
        int | None, typer.Option("--workers", min=0, help="Number of worker pods.", show_default=False)
    ] = None,
    low: Annotated[
        int | None, typer.Option("--min", min=0, help="Least number with autoscaling.", show_default=False)
    ] = None,
    high: Annotated[
        int | None, typer.Option("--max", min=0, help="Greatest number with autoscaling.", show_default=False)
    ] = None,
    group: Annotated[
        str, typer.Option("--group", help="Group of workers, if there are several.", show_default=False)
    ] = "",
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Change the number of workers of a sweep, also while it runs."""
    from destage.cluster.client.scaling import scale_workers

    connection, job = connect_to_job(name, context, namespace)
    scaled_group, numbers, is_running = scale_workers(
        connection, job, group=group, workers=workers, low=low, high=high
    )
    if as_json:
        print_json({"group": scaled_group, **asdict(numbers), "running": is_running})
    text = str(numbers.high) if numbers.low == numbers.high else f"{numbers.low} to {numbers.high}"
    when = "" if is_running else " when the sweep starts again"
    print_note(f"{job.name}: group {scaled_group} has {text} workers{when}")
