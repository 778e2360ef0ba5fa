"""`destage catalog`: what comes with Destage."""

import typer

from destage.cli.commands.catalog import copy, entries, schema, show

app = typer.Typer(
    help="List and show controllers, disks, workloads, studies and columns.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("list")(entries.list_entries)
app.command("show")(show.show)
app.command("copy")(copy.copy)
app.command("schema")(schema.schema)
