"""The verb that keeps a store quick to read: compact."""

import typer

from destage.cli.options import Store, SweepName
from destage.cli.output import Json, has_terminal, print_json, say, warn


def compact(sweep: SweepName, store: Store = None, as_json: Json = False) -> None:
    """Make few large fragments of a sweep's many small ones; its rows stay what they are."""
    from dataclasses import asdict

    from destage.store import find_sweep
    from destage.store.compaction import compact as merge
    from destage.store.layout import SweepLayout

    path = find_sweep(sweep, store)

    def show(done: int, planned: int) -> None:
        if has_terminal():
            typer.echo(f"\r{done} of {planned} fragments", err=True, nl=done == planned)

    done = merge(SweepLayout(path), show)
    for message in done.messages:
        warn(message)
    if as_json:
        print_json(asdict(done))
    say(f"{path.name}: {done.rows} rows written anew; {done.before} fragments before, {done.after} now")
