"""The command line: data on stdout, everything else on stderr.

Exit codes: 0 success, 1 error, 2 wrong usage or invalid input, 3 some runs failed, 4 infrastructure failure,
5 budget used up, 130 interrupted (run the same command again to continue).
"""

from destage.cli.application import Application

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
