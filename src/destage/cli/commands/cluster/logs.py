"""`destage cluster logs`."""

import json
import re
from typing import Annotated, Literal

import typer

from destage.cli.commands.cluster.job import connect_to_job
from destage.cli.commands.cluster.options import Context, Name, Namespace
from destage.cli.parameters.shared_options import Json
from destage.cli.terminal.output import print_data, print_json, print_note

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""The colours that Ray gives its lines."""


def logs(
    name: Name,
    component: Annotated[
        Literal["submitter", "head", "worker"],
        typer.Option("--component", help="Pods to read: submitter (the sweep's own log), head or worker."),
    ] = "submitter",
    tail: Annotated[int, typer.Option("--tail", min=1, help="Lines to show per pod.")] = 200,
    follow: Annotated[bool, typer.Option("--follow", help="Follow the log until the job ends.")] = False,
    context: Context = None,
    namespace: Namespace = None,
    as_json: Json = False,
) -> None:
    """Print the logs of a sweep's pods."""
    from destage.cluster.client.logs import follow_logs, read_logs

    connection, job = connect_to_job(name, context, namespace)
    if follow:
        pod = ""
        for pod_now, line in follow_logs(connection, job, component, tail):
            if as_json:
                print_data(json.dumps({"pod": pod_now, "line": line}, ensure_ascii=False) + "\n")
                continue
            if pod_now != pod:
                pod = pod_now
                print_note(f"{pod}:")
            print_data(f"{_COLOURS.sub('', line)}\n")
        return
    texts = read_logs(connection, job, component, tail)
    if as_json:
        print_json(dict(texts))
        return
    for pod, text in texts:
        print_note(f"{pod}:")
        plain = _COLOURS.sub("", text)
        print_data(plain if plain.endswith("\n") or not plain else f"{plain}\n")
