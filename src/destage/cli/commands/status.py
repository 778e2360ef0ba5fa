"""`destage status`."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.parameters.completion import complete_sweeps
from destage.cli.parameters.shared_options import (
    Json,
    Quiet,
    Store,
    WatchTimeout,
    parse_duration,
    reject_options,
)
from destage.cli.terminal.output import print_json, print_note, print_pairs, print_warning
from destage.cli.terminal.watched_progress import describe_counts, follow_sweep
from destage.errors import StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from destage.store import Location
    from destage.store.opened.recorded_progress import Status

_FAILED_RUNS = 3


def status(
    context: typer.Context,
    sweep: Annotated[
        str | None,
        typer.Argument(
            metavar="SWEEP",
            help="A sweep (default: all sweeps in the store).",
            autocompletion=complete_sweeps,
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Follow a sweep that another process writes until it ends.")
    ] = False,
    timeout: WatchTimeout = "1d",
    store: Store = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show the progress of a sweep, or of all sweeps in the store.

    With --follow, exits with 0 if the sweep is finished, 3 if runs failed, and 4 if its writer ended before.
    Ctrl-C stops this command, not the sweep. `destage cluster watch` follows a job on Kubernetes.
    """
    from destage.store import find_sweep, list_sweeps
    from destage.store.opened import recorded_progress

    if follow and sweep is None:
        raise UsageError("usage.conflicting-options", "requires a sweep", "--follow")
    paths = list_sweeps(store) if sweep is None else [find_sweep(sweep, store)]
    if not follow:
        reject_options(context, "requires --follow", "--timeout", "--quiet")
    else:
        follow_sweep(paths[0], parse_duration(timeout, "s", "--timeout"), quiet=quiet)
    statuses, damaged = {}, {}
    for path in paths:
        try:
            statuses[path.name] = recorded_progress.status(path)
        except StoreError as error:
            if sweep is not None:
                raise
            # One damaged sweep does not hide the others.
            damaged[path.name] = str(error)
    for sweep_status in statuses.values():
        print_warning(*sweep_status.warnings)
    _print_states(paths, statuses, damaged, as_json=as_json)
    if follow and any(sweep_status.failed for sweep_status in statuses.values()):
        raise typer.Exit(_FAILED_RUNS)


def _print_states(
    paths: "Sequence[Location]", statuses: "dict[str, Status]", damaged: dict[str, str], *, as_json: bool
) -> None:
    from destage.store.opened.recorded_progress import find_record_age

    if as_json:
        states: dict[str, object] = {
            path.name: asdict(statuses[path.name]) | {"recorded_s": find_record_age(path)}
            for path in paths
            if path.name in statuses
        }
        print_json(states | {name: {"error": error} for name, error in damaged.items()})
    elif not paths:
        print_note("no sweeps")
    else:
        lines: dict[str, object] = dict(damaged)
        for name, sweep_status in statuses.items():
            state = "finished" if sweep_status.finished else "unfinished"
            writer = f", being written by {sweep_status.writer}" if sweep_status.writer else ""
            lines[name] = f"{state}: {describe_counts(sweep_status)}{writer}"
        print_pairs(lines)
