"""`destage cluster drive`: the entrypoint of a RayJob."""

import time
from typing import TYPE_CHECKING

import typer

from destage.cli.options import Json, Spec, Store
from destage.cli.output import print_json, print_note, print_warning
from destage.cli.progress import ProgressDisplay
from destage.cli.session import outcome_as_json, summarize

if TYPE_CHECKING:
    from destage.store import Location

_FINAL = ("finished", "failed_runs", "budget")
"""States after which another attempt would change nothing."""
_LEASE_S, _INTERVAL_S = 300.0, 2.0


def drive(spec: Spec, store: Store = None, as_json: Json = False) -> None:
    """Run a study on the Ray cluster that this process is part of.

    Exits with 0 if another attempt would change nothing: finished, some runs failed, or budget used up. With
    any other code KubeRay tries again on a new cluster, which continues from the committed runs.
    """
    from destage import sweeps
    from destage.queries import open_session
    from destage.queries.report import write_report
    from destage.store.layout import SweepLayout

    study = sweeps.load_study(spec)
    layout = SweepLayout(sweeps.sweep_path(study, store))
    await_lease(layout.lease)
    with ProgressDisplay(study.name) as display:
        outcome = sweeps.run(study, store, executor="ray", progress=display)
    for warning in outcome.messages:
        print_warning(warning)
    print_note(f"{outcome.state}: {summarize(outcome)}")
    if as_json:
        print_json(outcome_as_json(outcome))
    if outcome.state in _FINAL:
        with open_session(outcome.path) as session:
            print_note(f"report: {write_report(session, None)}")
        return
    raise typer.Exit(outcome.exit_code)


def await_lease(lease: "Location") -> None:
    """Wait while the head of an earlier attempt still holds the sweep's lease, which expires after it."""
    from destage.store.lease import current_writer

    end = time.monotonic() + _LEASE_S
    while (writer := current_writer(lease)) is not None and time.monotonic() < end:
        print_note(f"waiting for {writer}")
        time.sleep(_INTERVAL_S)
