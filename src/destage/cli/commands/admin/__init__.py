"""`destage admin`: care of stores and sweeps, and checks of the machine and of models."""

import typer

from destage.cli.commands.admin import doctor, sweep, validate

app = typer.Typer(
    help="Check this machine, sweeps and models, and tidy the store.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("doctor")(doctor.doctor)
app.command("verify")(sweep.verify)
app.command("compact")(sweep.compact)
app.command("export")(sweep.export)
app.command("validate")(validate.validate)
