"""`destage cluster probe`: what the test pod of `destage cluster doctor` runs."""

import os
from typing import Annotated

import typer

from destage.cli.options import Store
from destage.cli.output import print_note
from destage.errors import StoreError, UnreachableError


def probe(
    secret: Annotated[
        bool, typer.Option("--secret", help="First check that the Secret has the store's credentials.")
    ] = False,
    store: Store = None,
) -> None:
    """Check that the store can be written and listed, as a sweep does."""
    from destage.cluster.credentials import find_missing_credentials
    from destage.store import default_store, list_sweeps
    from destage.store.location import trouble_writing

    place = store if store is not None else default_store()
    missing = find_missing_credentials(str(place), os.environ) if secret else ""
    if missing:
        raise StoreError("cluster.secret-incomplete", missing, str(place))
    try:
        if trouble := trouble_writing(place):
            raise trouble
        print_note(f"{place} is writable and holds {len(list_sweeps(place))} sweeps")
    except UnreachableError as error:
        # The doctor that started this pod adds the fix.
        raise StoreError(error.code, error.message, error.place, error.data) from error
