"""The commands that pods run: drive (a RayJob's entrypoint), keep, pack, probe and discard."""

import os
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.parameters.shared_options import Json, Spec, Store, choose_store
from destage.cli.printed_results.finished_sweep import outcome_as_json, summarize
from destage.cli.terminal.hard_stop import HardStop
from destage.cli.terminal.output import print_data, print_json, print_note, print_warning
from destage.cli.terminal.progress_line import ProgressDisplay
from destage.errors import StoreError, UnreachableError

if TYPE_CHECKING:
    from destage.store import Location

_FINAL = ("finished", "unanswered", "failed_runs", "budget")
"""States after which another attempt would change nothing."""
_LEASE_S, _INTERVAL_S = 300.0, 2.0


def drive(spec: Spec, store: Store = None, as_json: Json = False) -> None:
    """Run a study on the Ray cluster that this process is part of.

    Exits with 0 if another attempt would change nothing: finished, points
    without an answer, some runs failed, or budget used up. With
    any other code KubeRay tries again on a new cluster, which continues from the committed runs.
    """
    from destage import sweeps
    from destage.queries import open_session
    from destage.queries.exports.sweep_export import update_export
    from destage.queries.report.page import write_report
    from destage.store.files.layout import SweepLayout

    study = sweeps.load_study(spec)
    layout = SweepLayout(sweeps.sweep_path(study, store))
    _await_lease(layout.lease)
    with HardStop(study.name), ProgressDisplay(study.name) as display:
        outcome = sweeps.run(study, store, executor="ray", progress=display)
    print_warning(*outcome.messages)
    print_note(f"{outcome.state}: {summarize(outcome)}")
    if as_json:
        print_json(outcome_as_json(outcome))
    if outcome.state in _FINAL:
        with open_session(outcome.path) as session:
            print_note(f"report: {write_report(session, None)}")
            update_export(session)
        return
    raise typer.Exit(outcome.exit_code)


def keep(
    job: Annotated[str, typer.Argument(metavar="RAYJOB", help="The RayJob to keep.")],
    own: Annotated[str, typer.Argument(metavar="JOB", help="The Job of this pod.")],
    max_failures: Annotated[
        int, typer.Option("--max-failures", min=1, help="Failures after which the job is left alone.")
    ] = 20,
) -> None:
    """Restart a RayJob whenever it fails by a loss of machines, until it ends otherwise."""
    from destage.cluster.in_pod.keeper import Keeper, find_namespace, send

    print_note(Keeper(send, find_namespace(), job, own, max_failures, print_note).keep())


def pack(
    sweep: Annotated[str, typer.Argument(metavar="SWEEP", help="Directory of the sweep in the store.")],
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATH", help="Files of the sweep.")] = None,
    is_list: Annotated[bool, typer.Option("--list", help="List all files with their sizes.")] = False,
    store: Store = None,
) -> None:
    """Write files of a sweep to stdout as a tar archive, or list them."""
    from destage.cluster.in_pod import fetched_results

    root = choose_store(store) / "sweeps" / sweep
    if is_list:
        print_data("".join(fetched_results.format_file_list(root)))
    else:
        fetched_results.write_archive(root, paths or [], sys.stdout.buffer)
        sys.stdout.buffer.flush()


def probe(
    secret: Annotated[
        bool, typer.Option("--secret", help="First check that the Secret has the store's credentials.")
    ] = False,
    store: Store = None,
) -> None:
    """Check that the store can be written and listed, as a sweep does."""
    from destage.cluster.resources.storage import find_missing_credentials
    from destage.store import list_sweeps
    from destage.store.files.layout import find_write_error

    place = choose_store(store)
    missing = find_missing_credentials(str(place), os.environ) if secret else ""
    if missing:
        raise StoreError("cluster.secret-incomplete", missing, str(place))
    try:
        if trouble := find_write_error(place):
            raise trouble
        print_note(f"{place} is writable (sweeps: {len(list_sweeps(place))})")
    except UnreachableError as error:
        # The doctor that started this pod adds the fix.
        raise StoreError(error.code, error.message, error.place, error.data) from error


def discard(
    sweeps: Annotated[list[str], typer.Argument(metavar="SWEEP", help="Directories in the store.")],
    store: Store = None,
) -> None:
    """Delete sweeps from the store, each once it is no longer being written."""
    from destage.store.files.layout import SweepLayout
    from destage.store.state.removal import remove_sweep

    place = choose_store(store)
    for sweep in sweeps:
        layout = SweepLayout(place / "sweeps" / sweep)
        _await_lease(layout.lease)
        print_data(f"{sweep} {remove_sweep(layout)}\n")


def _await_lease(lease: "Location") -> None:
    """Wait while the head of an earlier attempt still holds the sweep's lease, which expires after it."""
    from destage.store.locks.lease import find_writer

    end = time.monotonic() + _LEASE_S
    while (writer := find_writer(lease)) is not None and time.monotonic() < end:
        print_note(f"waiting for {writer}")
        time.sleep(_INTERVAL_S)
