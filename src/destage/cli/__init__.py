"""The command line: one verb per thing to do, data on stdout, everything else on stderr.

Exit codes: 0 ok, 1 error, 2 usage or an invalid specification, 3 some runs failed, 4 infrastructure,
5 budget reached, 130 interrupted and resumable.
"""

from typing import Annotated

import typer

from destage.cli import (
    checking,
    clustering,
    compacting,
    curving,
    describing,
    driving,
    following,
    inside,
    modelling,
    questioning,
    studying,
    sweeping,
    synthesising,
    tracing,
    validating,
    watching,
    workloads,
)
from destage.cli.application import Application
from destage.cli.output import show_version

app = Application(
    name="destage",
    help="How much cache, split how, in front of which disks, carries how many users.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _start(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    del version  # its callback has printed it
    app.is_debugging = debug


app.command("run")(sweeping.run)
app.command("plan")(sweeping.plan)
app.command("resume")(sweeping.resume)
app.command("status")(sweeping.status)
app.command("query")(questioning.query)
app.command("sql")(questioning.sql)
app.command("report")(questioning.report)
app.command("simulate")(modelling.simulate)
app.command("catalog")(modelling.catalog)
app.command("schema")(describing.schema)
app.command("columns")(describing.columns)
app.command("compact")(compacting.compact)
app.command("verify")(checking.verify)
app.command("doctor")(checking.doctor)
app.add_typer(studying.app, name="study")
clustering.app.command("status")(following.status)
clustering.app.command("watch")(watching.watch)
clustering.app.command("fetch")(following.fetch)
clustering.app.command("query")(following.query)
clustering.app.command("drive", hidden=True)(driving.drive)
clustering.app.command("pack", hidden=True)(inside.pack)
clustering.app.command("probe", hidden=True)(inside.probe)
clustering.app.command("discard", hidden=True)(inside.discard)
app.add_typer(clustering.app, name="cluster")
tracing.app.command("mrc")(curving.mrc)
tracing.app.command("synth")(synthesising.synth)
app.add_typer(tracing.app, name="trace")
app.add_typer(workloads.app, name="workload")
app.add_typer(validating.app, name="validate")
