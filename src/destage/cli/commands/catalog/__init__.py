"""`destage catalog`: what comes with Destage."""

import typer

from destage.cli.commands.catalog import copy, entries, parts, schema

app = typer.Typer(
    help="List, show and describe parts, workloads, studies and columns.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("list")(entries.list_entries)
app.command("show")(entries.show)
app.command("copy")(copy.copy)
app.command("new")(parts.new)
app.command("check")(parts.check)
app.command("schema")(schema.schema)
