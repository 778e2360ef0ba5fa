"""`destage watch`."""

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from destage.cli.options import Json, Quiet, Store, SweepName, WatchTimeout, parse_duration
from destage.cli.output import print_json, print_note
from destage.cli.progress import ProgressDisplay
from destage.cli.watched_progress import WatchedProgress
from destage.errors import InfrastructureError

if TYPE_CHECKING:
    from destage.store import Location
    from destage.store.progress import Status

_FAILED_RUNS = 3
_INTERVAL_S, _BUCKET_INTERVAL_S = 1.0, 5.0
GRACE_S = 5.0
"""How long a writer may take to start [s]."""


def watch(
    sweep: SweepName,
    timeout: WatchTimeout = "1d",
    store: Store = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Follow a sweep that another process writes until it ends.

    Exits with 0 if the sweep is finished, 3 if runs failed, and 4 if its writer ended before it was finished.
    Ctrl-C stops this command, not the sweep. `destage cluster watch` follows a job on Kubernetes.
    """
    from destage.queries.presentation import format_quantity
    from destage.store import find_sweep

    seconds = parse_duration(timeout, "s", "--timeout")
    path = find_sweep(sweep, store)
    found = _follow(path, time.monotonic() + seconds, quiet=quiet)
    rounds = "1 round" if found.rounds == 1 else f"{found.rounds} rounds"
    counts = f"{found.present} of {found.planned} runs in {rounds}, {found.failed} failed"
    if not found.finished:
        if found.writer is not None:
            message = (
                f"still running after {format_quantity(seconds, 's')}: {counts}; "
                "it continues, watch it again or with a longer --timeout"
            )
            raise InfrastructureError("sweep.watch-timeout", message, path.name)
        message = f"its writer has ended: {counts}; continue with `destage resume {path.name}`"
        raise InfrastructureError("sweep.writer-gone", message, path.name)
    print_note(f"{path.name}: finished: {counts}")
    if as_json:
        print_json({"sweep": str(path), **asdict(found)})
    if found.failed:
        raise typer.Exit(_FAILED_RUNS)


def _follow(path: "Location", end: float, *, quiet: bool) -> "Status":
    """Show the progress of a sweep until it is finished, its writer is gone, or time is up."""
    from pathlib import Path

    from destage.store.progress import status

    interval = _INTERVAL_S if isinstance(path, Path) else _BUCKET_INTERVAL_S
    progress, started_by = WatchedProgress(), time.monotonic() + GRACE_S
    with ProgressDisplay(path.name, is_quiet=quiet, is_watching=True) as display:
        while True:
            found = status(path)
            display(progress(found))
            if found.writer is not None:
                started_by = 0.0
            is_gone = found.writer is None and time.monotonic() >= started_by
            if found.finished or is_gone or time.monotonic() >= end:
                return found
            time.sleep(min(interval, max(end - time.monotonic(), 0.0)))
