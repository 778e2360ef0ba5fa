"""Options that several verbs share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from destage.errors import StoreError

if TYPE_CHECKING:
    from destage.store import Location


def located(text: str) -> "Location":
    """Return the store that an option names.

    Args:
        text: A folder, or a URL.

    Raises:
        typer.BadParameter: The URL is none of a bucket.
    """
    from destage.store import locate

    try:
        return locate(text)
    except StoreError as error:
        raise typer.BadParameter(str(error)) from None


def traced(text: str) -> "Location":
    """Return the place of a trace that a user names.

    Args:
        text: A file, or an object's address.
    """
    from destage.engine.traces.places import named

    return named(text)


# Typer knows no unions: a `Location`, or None where the option is left out.
Store = Annotated[
    Any,
    typer.Option(
        "--store",
        parser=located,
        metavar="STORE",
        help="The store: a folder, or s3://, gs://, abfs://; by default DESTAGE_STORE, else ./destage-store.",
        show_default=False,
    ),
]
SweepName = Annotated[
    str, typer.Argument(metavar="SWEEP", help="A sweep: its directory, its name, or the beginning of it.")
]
Executor = Annotated[
    Literal["auto", "ray", "inline"],
    typer.Option("--executor", help="Where runs are executed; auto starts Ray for large plans."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, help="Runs at a time; by default one per processor.", show_default=False
    ),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray-address",
        help="Run on this Ray cluster, as in ray://head:10001, head:6379 or auto; the store must be one "
        "that all its machines reach.",
        show_default=False,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
Format = Annotated[
    Literal["table", "csv", "json", "parquet", "markdown"],
    typer.Option("--format", help="How rows are written."),
]
Out = Annotated[
    Path | None, typer.Option("--out", help="Write to this file instead of stdout.", show_default=False)
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", help="Where the report goes; by default into the sweep.", show_default=False),
]
