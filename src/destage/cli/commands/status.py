"""`destage status`."""

from dataclasses import asdict
from typing import Annotated

import typer

from destage.cli.completion import complete_sweeps
from destage.cli.options import Json, Store
from destage.cli.output import print_json, print_note, print_pairs, print_warning
from destage.errors import StoreError


def status(
    sweep: Annotated[
        str | None,
        typer.Argument(
            metavar="SWEEP",
            help="A sweep (default: all sweeps in the store).",
            autocompletion=complete_sweeps,
        ),
    ] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Show the progress of a sweep, or of all sweeps in the store."""
    from destage.store import find_sweep, list_sweeps, progress

    paths = list_sweeps(store) if sweep is None else [find_sweep(sweep, store)]
    found, damaged = {}, {}
    for path in paths:
        try:
            found[path.name] = progress.status(path)
        except StoreError as error:
            if sweep is not None:
                raise
            # One damaged sweep does not hide the others.
            damaged[path.name] = str(error)
    for one in found.values():
        for warning in one.warnings:
            print_warning(warning)
    if as_json:
        states: dict[str, object] = {
            path.name: asdict(found[path.name]) | {"recorded_s": progress.find_record_age(path)}
            for path in paths
            if path.name in found
        }
        print_json(states | {name: {"error": error} for name, error in damaged.items()})
        return
    lines: dict[str, object] = dict(damaged)
    for name, one in found.items():
        state = "finished" if one.finished else "unfinished"
        failed = f", {one.failed} failed" if one.failed else ""
        rounds = "1 round" if one.rounds == 1 else f"{one.rounds} rounds"
        writer = f", being written by {one.writer}" if one.writer else ""
        lines[name] = f"{state}: {one.present} of {one.planned} runs in {rounds}{failed}{writer}"
    print_pairs(lines)
    if not lines:
        print_note("no sweeps")
