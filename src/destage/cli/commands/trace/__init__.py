"""`destage trace`: recorded block traces."""

import typer

from destage.cli.commands.trace.convert import convert
from destage.cli.commands.trace.info import info
from destage.cli.commands.trace.mrc import mrc
from destage.cli.commands.trace.synth import synth

app = typer.Typer(
    help="Analyse, convert and synthesise block traces.", no_args_is_help=True, rich_markup_mode=None
)
for _command in (info, convert, mrc, synth):
    app.command(_command.__name__)(_command)
