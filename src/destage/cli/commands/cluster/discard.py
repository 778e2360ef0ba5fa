"""`destage cluster discard`: what a pod runs to delete the results of a sweep in a bucket."""

from typing import Annotated

import typer

from destage.cli.commands.cluster.drive import await_lease
from destage.cli.options import Store
from destage.cli.output import print_data


def discard(
    sweeps: Annotated[list[str], typer.Argument(metavar="SWEEP", help="Directories in the store.")],
    store: Store = None,
) -> None:
    """Delete sweeps from the store, each once it is no longer being written."""
    from destage.store import default_store
    from destage.store.layout import SweepLayout
    from destage.store.removal import remove_sweep

    place = store if store is not None else default_store()
    for sweep in sweeps:
        layout = SweepLayout(place / "sweeps" / sweep)
        await_lease(layout.lease)
        print_data(f"{sweep} {remove_sweep(layout)}\n")
