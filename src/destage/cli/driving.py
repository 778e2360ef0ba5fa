"""The verb that a RayJob's entrypoint calls: `destage cluster drive`."""

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.options import Store
from destage.cli.output import Json, print_json, say, warn
from destage.cli.progress import ProgressDisplay

if TYPE_CHECKING:
    from destage.store import Location

_FINAL = ("finished", "failed_runs", "budget")
"""Ends after which running the sweep again would change nothing."""
_LEASE_S, _PAUSE_S = 300.0, 2.0


def drive(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC", help="A study: a YAML file, or the name of a bundled one.")
    ],
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Run a study on the Ray cluster that this runs in.

    Ends with 0 whenever another try would change nothing: finished, some runs failed, budget reached. All
    else makes KubeRay try again on a new cluster, which goes on from what is committed.
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
    for message in outcome.messages:
        warn(message)
    say(
        f"{outcome.path.name}: {outcome.state}; {outcome.runs} runs there, {outcome.executed} executed, "
        f"{outcome.reused} reused, {outcome.failed} failed, in {outcome.seconds:.1f} s"
    )
    if as_json:
        print_json(asdict(outcome))
    if outcome.state in _FINAL:
        with open_session(outcome.path) as session:
            say(f"report: {write_report(session, None)}")
        return
    raise typer.Exit(outcome.exit_code)


def await_lease(lease: "Location") -> None:
    """Wait while a head on its way out still writes; its lease falls some time after it.

    Args:
        lease: The sweep's lease.
    """
    from destage.store.lease import current_writer

    end = time.monotonic() + _LEASE_S
    while (writer := current_writer(lease)) is not None and time.monotonic() < end:
        say(f"waiting for {writer}")
        time.sleep(_PAUSE_S)
