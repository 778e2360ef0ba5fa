"""The verbs that pods beside a sweep run for `destage cluster`, hidden from people: pack, probe, discard."""

import os
import sys
from typing import Annotated

import typer

from destage.cli.driving import await_lease
from destage.cli.options import Store
from destage.cli.output import print_data, say
from destage.errors import StoreError, UnreachableError

Sweep = Annotated[str, typer.Argument(metavar="SWEEP", help="The sweep's directory in the store.")]


def pack(
    sweep: Sweep,
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATH", help="Files of the sweep.")] = None,
    is_list: Annotated[bool, typer.Option("--list", help="List all files with their sizes.")] = False,
    store: Store = None,
) -> None:
    """Write files of a sweep to stdout as a tar, or list them."""
    from destage.cluster import archive
    from destage.store import default_store

    root = (store if store is not None else default_store()) / "sweeps" / sweep
    if is_list:
        print_data("".join(archive.format_file_list(root)))
    else:
        archive.write_archive(root, paths or [], sys.stdout.buffer)
        sys.stdout.buffer.flush()


def probe(
    secret: Annotated[
        bool, typer.Option("--secret", help="Look for the credentials of a Secret first.")
    ] = False,
    store: Store = None,
) -> None:
    """Write to the store, list it and delete what was written, as a sweep would."""
    from destage.cluster.credentials import find_missing_credentials
    from destage.store import default_store, list_sweeps
    from destage.store.location import trouble_writing

    place = store if store is not None else default_store()
    lacks = find_missing_credentials(str(place), os.environ) if secret else ""
    if lacks:
        raise StoreError("cluster.secret-incomplete", lacks)
    try:
        if trouble := trouble_writing(place):
            raise trouble
        say(f"{place} can be written; it holds {len(list_sweeps(place))} sweeps")
    except UnreachableError as error:
        raise StoreError(error.code, error.message, error.place) from error  # exit code 1, not 4


def discard(
    sweeps: Annotated[list[str], typer.Argument(metavar="SWEEP", help="Directories in the store.")],
    store: Store = None,
) -> None:
    """Delete sweeps from the store, once nobody writes them any more."""
    from destage.store import default_store
    from destage.store.layout import SweepLayout
    from destage.store.removal import remove_sweep

    place = store if store is not None else default_store()
    for sweep in sweeps:
        layout = SweepLayout(place / "sweeps" / sweep)
        await_lease(layout.lease)
        print_data(f"{sweep} {remove_sweep(layout)}\n")
