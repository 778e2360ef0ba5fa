"""`destage cluster`: sweeps on a Kubernetes cluster."""

import typer

from destage.cli.commands.cluster import doctor, job, logs, pods, results, submit, watch

app = typer.Typer(
    help="Run sweeps on a Kubernetes cluster through KubeRay.", no_args_is_help=True, rich_markup_mode=None
)
app.command("submit")(submit.submit)
app.command("list")(job.list_sweeps)
app.command("status")(job.status)
app.command("watch")(watch.watch)
app.command("logs")(logs.logs)
app.command("fetch")(results.fetch)
app.command("query")(results.query)
app.command("scale")(job.scale)
app.command("cancel")(job.cancel)
app.command("delete")(job.delete)
app.command("doctor")(doctor.doctor)
for _command in (pods.drive, pods.keep, pods.pack, pods.probe, pods.discard):
    app.command(_command.__name__, hidden=True)(_command)
