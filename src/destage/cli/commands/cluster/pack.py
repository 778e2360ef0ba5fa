"""`destage cluster pack`: what the reader's pod runs to send files."""

import sys
from typing import Annotated

import typer

from destage.cli.options import Store
from destage.cli.output import print_data


def pack(
    sweep: Annotated[str, typer.Argument(metavar="SWEEP", help="Directory of the sweep in the store.")],
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATH", help="Files of the sweep.")] = None,
    is_list: Annotated[bool, typer.Option("--list", help="List all files with their sizes.")] = False,
    store: Store = None,
) -> None:
    """Write files of a sweep to stdout as a tar archive, or list them."""
    from destage.cluster import archive
    from destage.store import default_store

    root = (store if store is not None else default_store()) / "sweeps" / sweep
    if is_list:
        print_data("".join(archive.format_file_list(root)))
    else:
        archive.write_archive(root, paths or [], sys.stdout.buffer)
        sys.stdout.buffer.flush()
