"""`destage cluster`: sweeps on a Kubernetes cluster."""

import typer

from destage.cli.commands.cluster.cancel import cancel
from destage.cli.commands.cluster.delete import delete
from destage.cli.commands.cluster.discard import discard
from destage.cli.commands.cluster.doctor import doctor
from destage.cli.commands.cluster.drive import drive
from destage.cli.commands.cluster.fetch import fetch
from destage.cli.commands.cluster.list import list_sweeps
from destage.cli.commands.cluster.logs import logs
from destage.cli.commands.cluster.pack import pack
from destage.cli.commands.cluster.probe import probe
from destage.cli.commands.cluster.query import query
from destage.cli.commands.cluster.status import status
from destage.cli.commands.cluster.submit import submit
from destage.cli.commands.cluster.watch import watch

app = typer.Typer(
    help="Run sweeps on a Kubernetes cluster through KubeRay.", no_args_is_help=True, rich_markup_mode=None
)
app.command("submit")(submit)
app.command("list")(list_sweeps)
app.command("status")(status)
app.command("watch")(watch)
app.command("logs")(logs)
app.command("fetch")(fetch)
app.command("query")(query)
app.command("cancel")(cancel)
app.command("delete")(delete)
app.command("doctor")(doctor)
for _command in (drive, pack, probe, discard):  # for pods only
    app.command(_command.__name__, hidden=True)(_command)
