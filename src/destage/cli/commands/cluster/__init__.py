"""`destage cluster`: sweeps on a Kubernetes cluster."""

import typer

from destage.cli.commands.cluster import (
    cancel,
    delete,
    doctor,
    fetch,
    list,  # noqa: A004 - the module is named for its command
    logs,
    pods,
    query,
    scale,
    status,
    submit,
    watch,
)

app = typer.Typer(
    help="Run sweeps on a Kubernetes cluster through KubeRay.", no_args_is_help=True, rich_markup_mode=None
)
app.command("submit")(submit.submit)
app.command("list")(list.list_sweeps)
app.command("status")(status.status)
app.command("watch")(watch.watch)
app.command("logs")(logs.logs)
app.command("fetch")(fetch.fetch)
app.command("query")(query.query)
app.command("scale")(scale.scale)
app.command("cancel")(cancel.cancel)
app.command("delete")(delete.delete)
app.command("doctor")(doctor.doctor)
for _command in (pods.drive, pods.keep, pods.pack, pods.probe, pods.discard):
    app.command(_command.__name__, hidden=True)(_command)
