"""Arguments and options that the commands of a cluster share."""

from pathlib import Path
from typing import Annotated

import typer

Context = Annotated[
    str | None,
    typer.Option(
        "--context", help="Context of the kubeconfig (default: its current context).", show_default=False
    ),
]
Namespace = Annotated[
    str | None,
    typer.Option("--namespace", "-n", help="Namespace (default: the context's).", show_default=False),
]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the sweep, as `destage cluster list` prints it.")
]
Values = Annotated[
    list[Path] | None,
    typer.Option(
        "--values",
        "-f",
        metavar="FILE",
        help="Values file of the chart; repeatable, later files override earlier ones.",
        show_default=False,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Set one setting, as in workers.0.replicas=8; repeatable.",
        show_default=False,
    ),
]
SweepOption = Annotated[
    str,
    typer.Option(
        "--sweep", help="Directory of the sweep, if several sweeps share the store.", show_default=False
    ),
]
NO_SWEEP = {"spec": "", "configMap": "", "study": ""}
"""The settings of a sweep, empty: those in a values file do not apply."""
