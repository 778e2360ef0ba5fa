"""`destage trace`: recorded block traces."""

import typer

from destage.cli.commands.trace import mrc, records, replay, synth

app = typer.Typer(
    help="Analyse, convert, replay and synthesise block traces.", no_args_is_help=True, rich_markup_mode=None
)
app.command("info")(records.info)
app.command("convert")(records.convert)
app.command("mrc")(mrc.mrc)
app.command("replay")(replay.replay)
app.command("synth")(synth.synth)
