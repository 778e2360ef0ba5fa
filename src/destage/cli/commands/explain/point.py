"""`destage explain point`."""

import re
import shutil
import sys
import textwrap
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.parameters.shared_options import Json, Store, declare_conditions
from destage.cli.terminal.output import print_data, print_json, print_note, print_warning
from destage.cli.terminal.printed_rows import find_sweep
from destage.cli.terminal.terminal_text import UNBOUNDED
from destage.errors import QueryError, StoreError, UsageError
from destage.spec.printed_text import align_cells

if TYPE_CHECKING:
    from destage.queries.pairs.explanation import Explainer, Explanation
    from destage.store import Location

_RUN = re.compile(r"[0-9a-f]{4,32}")
"""The beginning of a run's id, long enough not to be a word."""
_MOST = 5
"""Points that are explained at a time."""


def point(
    sweep: Annotated[
        str, typer.Argument(metavar="SWEEP|RUN", help="A sweep, or a run of any sweep in the store.")
    ],
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="A run of the sweep: its id or its beginning.")
    ] = None,
    where: Annotated[
        list[str] | None,
        declare_conditions(
            "--where",
            "Points to explain, an SQL condition as in \"cache_capacity = '64MiB'\" (default: those without "
            "an answer).",
        ),
    ] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Explain what bounds a run or a point.

    Says why it ran, too, and why a point has no answer.
    """
    from destage.queries import open_session

    if run is not None and where:
        raise UsageError("usage.conflicting-options", "chooses points, not a run; leave out RUN", "--where")
    place = _find_place(sweep, store, may_be_run=run is None and not where)
    if place is None:
        place, run = _find_sweep_of(sweep, store), sweep
    with open_session(place) as session:
        explanations = _explain(session, run, where or [])
    if as_json:
        print_json([_as_json(explanation) for explanation in explanations])
        return
    for index, explanation in enumerate(explanations):
        if index:
            print_data("\n")
        _print(explanation)


def _find_place(sweep: str, store: "Location | None", *, may_be_run: bool) -> "Location | None":
    """Return the sweep that the first argument names; None if it names none, but may be a run."""
    try:
        return find_sweep(sweep, store)
    except StoreError as error:
        if error.code == "store.unknown-sweep" and may_be_run and _RUN.fullmatch(sweep):
            return None
        raise


def _find_sweep_of(run: str, store: "Location | None") -> "Location":
    """Return the newest sweep with a run."""
    from destage.queries import open_session
    from destage.store import list_sweeps

    for place in reversed(list_sweeps(store)):
        try:
            with open_session(place) as session:
                if _make_explainer(session).find_runs(run):
                    return place
        except StoreError as error:
            # The run may be in another sweep.
            print_warning(*error.issues, source=place.name)
    raise QueryError("query.no-such-run", f"no sweep in the store has a run {run!r}", "SWEEP|RUN")


def _make_explainer(session: Any) -> "Explainer":
    from destage.queries.pairs.explanation import Explainer
    from destage.recorded_objectives import list_objectives
    from destage.sweeps.rounds.question import explain_unsteady

    return Explainer(session, lambda label: list_objectives(session.spec, label), explain_unsteady)


def _explain(session: Any, run: str | None, conditions: list[str]) -> "list[Explanation]":
    from destage.queries.pairs.point_choice import choose_points

    explainer = _make_explainer(session)
    if run is not None:
        run_ids = explainer.find_runs(run)
        if len(run_ids) == 1:
            return [explainer.explain_run(run_ids[0])]
        some = f"{', '.join(run_ids)}; give more of the id" if run_ids else "none in the plan of this sweep"
        raise QueryError(
            "query.no-such-run", f"{run!r} is the beginning of {len(run_ids)} runs: {some}", "RUN"
        )
    points = [] if conditions else explainer.list_unanswered()
    if not points:
        points = list(choose_points(session, conditions, "--where").points)
        if not conditions and len(points) > 1:
            print_note("every point has an answer or a bound of it; name a run, or use --where")
            return []
    if len(points) > _MOST:
        print_note(f"the first {_MOST} of {len(points)} points; --where chooses among them")
    return [explainer.explain_point(point) for point in points[:_MOST]]


def _print(explanation: "Explanation") -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else UNBOUNDED
    wrap = partial(textwrap.fill, width=width, subsequent_indent="  ", break_on_hyphens=False)
    lines = [
        wrap(explanation.title),
        *(wrap(sentence, initial_indent="  ") for sentence in explanation.sentences),
    ]
    print_data("\n".join(lines) + "\n")
    if explanation.rows:
        print_data("\n" + align_cells([explanation.headings, *explanation.rows], left=1))


def _as_json(explanation: "Explanation") -> dict[str, Any]:
    return {"title": explanation.title, "sentences": list(explanation.sentences), **explanation.facts}
