"""The command line: data on stdout, everything else on stderr.

Exit codes: 0 success, 1 error, 2 wrong usage or invalid input, 3 some runs failed, 4 infrastructure failure,
5 budget used up, 130 interrupted (run the same command again to continue).
"""

from typing import Annotated

import typer

from destage.cli.application import DEBUG, Application
from destage.cli.terminal.output import print_data

app = Application(
    sections={
        "Run a study": ("init", "run", "status", "cluster"),
        "Ask": ("simulate", "query", "report", "explain"),
        "Decide": ("size", "compare", "calibrate"),
        "Bring": ("catalog", "workload", "measured", "trace"),
        "": ("admin",),
    },
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
    debug: Annotated[bool, typer.Option(DEBUG, help="Print the traceback of an error.")] = False,
) -> None:
    del version  # its callback has printed it
    app.is_debugging = debug
