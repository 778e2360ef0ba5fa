"""The command line: data on stdout, everything else on stderr.

Exit codes: 0 success, 1 error, 2 wrong usage or invalid input, 3 some runs failed, 4 infrastructure failure,
5 budget used up, 130 interrupted (run the same command again to continue).
"""

from collections.abc import Callable
from typing import Annotated

import typer

from destage.cli.application import Application
from destage.cli.commands import cluster, examples, measured, study, trace, validate, workload
from destage.cli.commands.calibrate import calibrate
from destage.cli.commands.catalog import catalog
from destage.cli.commands.columns import columns
from destage.cli.commands.compact import compact
from destage.cli.commands.compare import compare
from destage.cli.commands.doctor import doctor
from destage.cli.commands.explain import explain
from destage.cli.commands.init import init
from destage.cli.commands.plan import plan
from destage.cli.commands.query import query
from destage.cli.commands.report import report
from destage.cli.commands.resume import resume
from destage.cli.commands.run import run
from destage.cli.commands.schema import schema
from destage.cli.commands.serve import serve
from destage.cli.commands.simulate import simulate
from destage.cli.commands.size import size
from destage.cli.commands.sql import sql
from destage.cli.commands.status import status
from destage.cli.commands.verify import verify
from destage.cli.commands.watch import watch
from destage.cli.output import print_data

app = Application(
    name="destage",
    help="Simulate disk arrays with write caches and find how many users each configuration supports.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(is_given: bool) -> None:
    if is_given:
        from importlib.metadata import version as installed_version

        print_data(f"destage {installed_version('destage')}\n")
        raise typer.Exit


@app.callback()
def _start(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")] = False,
) -> None:
    del version  # its callback has printed it
    app.is_debugging = debug


_COMMANDS: tuple[Callable[..., None], ...] = (
    *(
        init,
        run,
        calibrate,
        plan,
        resume,
        status,
        watch,
        query,
        sql,
        report,
        serve,
        compare,
        explain,
        size,
        simulate,
    ),
    *(catalog, schema, columns, compact, verify, doctor),
)
for _command in _COMMANDS:
    app.command(_command.__name__)(_command)
app.add_typer(study.app, name="study")
app.add_typer(examples.app, name="examples")
app.add_typer(cluster.app, name="cluster")
app.add_typer(trace.app, name="trace")
app.add_typer(workload.app, name="workload")
app.add_typer(measured.app, name="measured")
app.add_typer(validate.app, name="validate")
