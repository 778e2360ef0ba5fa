"""The answers of `destage size`: its sweeps with their progress, and what is printed.

They are for a load, for one in ranges, and for an array that is there (`--have`).
"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from destage.cli.printed_results.finished_sweep import summarize
from destage.cli.terminal.hard_stop import HardStop
from destage.cli.terminal.output import INTERRUPTED, print_data, print_note
from destage.cli.terminal.progress_line import ProgressDisplay, warn_if_stopped
from destage.cli.terminal.terminal_text import bar, wrap_lines
from destage.spec.printed_text import align_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from destage.queries.findings.fit_text import Fit, Reliance
    from destage.queries.findings.ranged_text import RangedSizing
    from destage.queries.findings.sizing_text import Sized
    from destage.sizing import Load
    from destage.store import Location
    from destage.sweeps import Outcome, Study
    from destage.sweeps.sizing.request import SizingRequest
    from destage.sweeps.sizing.uncertain_load import UncertainLoad

_BAR = 30
_STATES = {"above": "insufficient", "more_expensive": "higher"}


def make_runner(
    store: "Location | None", workers: int | None, outcomes: "list[Outcome]", *, quiet: bool
) -> "Callable[[Study], Outcome]":
    """Return a function that runs a study with its progress, and exits if it is stopped.

    A signal that comes during the last runs of a study is a KeyboardInterrupt.
    """

    def run(study: "Study") -> "Outcome":
        from destage import sweeps

        work = f"{len(study.points)} combinations to compare" if study.prices and study.points else ""
        try:
            with HardStop(study.name), ProgressDisplay(study.name, work=work, is_quiet=quiet) as display:
                outcome = sweeps.run(study, store, workers=workers, progress=display)
        except KeyboardInterrupt:
            # The display has warned.
            raise typer.Exit(INTERRUPTED) from None
        outcomes.append(outcome)
        if warn_if_stopped(outcome) or outcome.failed:
            print_note(summarize(outcome))
            raise typer.Exit(outcome.exit_code)
        if outcome.was_signalled:
            raise KeyboardInterrupt
        return outcome

    return run


def print_sizing(
    sized: "Sized",
    curve: "Sequence[Load]",
    request: "SizingRequest",
    outcomes: "Sequence[Outcome]",
) -> None:
    """Print the answer, and on stderr what it rests on."""
    from destage.queries.findings.sizing_text import compose_sizing

    print_data(wrap_lines(compose_sizing(sized)))
    if curve:
        print_data("\n" + _draw_curve(curve, request))
    _print_sources(request, outcomes)


def _print_sources(request: "SizingRequest", outcomes: "Sequence[Outcome]") -> None:
    """Print on stderr where prices and results are from."""
    prices = request.prices
    source = f" ({prices['source']})" if "source" in prices else ""
    print_note(f"prices of {prices['date']}{source}")
    _print_outcomes(outcomes)


def _print_outcomes(outcomes: "Sequence[Outcome]") -> None:
    for outcome in outcomes:
        print_note(summarize(outcome))


def print_candidates(sized: "Sized") -> None:
    """Print every candidate with its price, disks and why it is not the answer, then the unpriced parts."""
    from destage.queries.findings.sizing_text import format_price, name_configuration

    rows = [("price", "disks", "too few", "configuration")]
    for candidate in sized.candidates:
        price = "" if candidate.price is None else format_price(sized, candidate)
        failing = "" if candidate.failing is None else str(candidate.failing)
        disks = "" if candidate.disks is None else str(candidate.disks)
        rows.append(
            (
                price or _STATES.get(candidate.censored or "", ""),
                disks,
                failing,
                name_configuration(sized, candidate),
            )
        )
    print_data("\n" + align_cells(rows, ends_in_text=True))
    for kind, names in sized.unpriced.items():
        if names:
            print_data(wrap_lines(["", f"{kind.capitalize()} without a price: {', '.join(names)}"]))


def as_json(sized: "Sized", curve: "Sequence[Load]", outcomes: "Sequence[Outcome]") -> dict[str, Any]:
    """Return the answer as `--json` prints it; units are in the names, bounds in those of their columns."""
    from destage.queries.findings.sizing_text import compose_sizing

    return {
        "answer": compose_sizing(sized),
        "currency": sized.currency,
        "held": None if sized.held is None else asdict(sized.held),
        "spares": sized.spares,
        "carrying": [asdict(candidate) | {"odds": candidate.odds} for candidate in sized.carrying],
        "assured": None if sized.assured is None else asdict(sized.assured),
        "battery": None if sized.battery is None else asdict(sized.battery),
        "by_destages": sized.by_destages,
        "candidates": [asdict(candidate) for candidate in sized.candidates],
        "beyond_budget": None if sized.beyond is None else asdict(sized.beyond),
        "impossible": sized.impossible,
        "outclassed": sized.outclassed,
        "unpriced": {kind: list(names) for kind, names in sized.unpriced.items()},
        "curve": [asdict(load) for load in curve],
        "sweeps": [str(outcome.path) for outcome in outcomes],
    }


def _draw_curve(curve: "Sequence[Load]", request: "SizingRequest") -> str:
    most = max((load.response_p95_us or 0.0 for load in curve), default=0.0) or 1.0
    rows = [(request.unit, "response p95", "busiest disk", "")]
    for load in curve:
        response = "overloaded" if load.response_p95_us is None else f"{load.response_p95_us / 1000:.3g} ms"
        busy = "" if load.disk_busy_max_fraction is None else f"{load.disk_busy_max_fraction:.0%}"
        is_requested = load.users == request.workload["users"]
        marks = [*(["requested load"] if is_requested else []), *(["knee"] if load.is_knee else [])]
        drawn = bar((load.response_p95_us or 0.0) / most, _BAR)
        rows.append(
            (f"{request.count(load.users):.4g}", response, busy, f"{drawn} {', '.join(marks)}".strip())
        )
    return align_cells(rows, ends_in_text=True)


def describe_work(load: "UncertainLoad") -> str:
    """Return how much is simulated for a load in ranges."""
    sized, searched = len(load.corners), len(load.shares)
    times = "" if searched == 1 else f", at {searched} shares of reads"
    return (
        f"sizing {sized} loads of the ranges, then finding what each candidate carries{times}: "
        f"about {sized + searched} times as long as for one load"
    )


def print_ranged(ranged: "RangedSizing", request: "SizingRequest", outcomes: "Sequence[Outcome]") -> None:
    """Print the answer, and on stderr what it rests on."""
    from destage.queries.findings.ranged_text import compose_ranged

    print_data(wrap_lines(compose_ranged(ranged)))
    _print_sources(request, outcomes)


def ranged_as_json(ranged: "RangedSizing", outcomes: "Sequence[Outcome]") -> dict[str, Any]:
    """Return the answer as `--json` prints it."""
    from destage.queries.findings.ranged_text import compose_ranged

    recommended = ranged.carrying[:1]
    return {
        "answer": compose_ranged(ranged),
        "currency": ranged.currency,
        "ranges": ranged.ranges,
        "unit": ranged.unit,
        "shares": list(ranged.shares),
        "recommended": asdict(recommended[0]) if recommended else None,
        "sure": None if ranged.sure is None else asdict(ranged.sure),
        "candidates": [asdict(one) for one in ranged.candidates],
        "uncarried": ranged.uncarried,
        "sized": [
            {"load": values, "carrying": [asdict(one) for one in sized.carrying]}
            for values, sized in ranged.sizings
        ],
        "sweeps": [str(outcome.path) for outcome in outcomes],
    }


def print_fit(fit: "Fit", outcomes: "Sequence[Outcome]", *, with_misses: bool) -> None:
    """Print the answer, and on stderr what it rests on.

    Args:
        with_misses: Whether to print the changes that do not suffice, too.
    """
    from destage.queries.findings.fit_text import compose_fit, list_misses

    print_data(wrap_lines(compose_fit(fit)))
    if with_misses and (misses := list_misses(fit)):
        print_data(wrap_lines(["", "Not enough:", *misses]))
    _print_outcomes(outcomes)


def fit_as_json(fit: "Fit", outcomes: "Sequence[Outcome]") -> dict[str, Any]:
    """Return the answer as `--json` prints it; units are in the names, bounds in those of their columns."""
    from destage.queries.findings.fit_text import compose_fit

    return {
        "answer": compose_fit(fit),
        "fits": fit.added.fits,
        "today": asdict(fit.today),
        "with_addition": asdict(fit.added),
        "reliance": _reliance_as_json(fit.reliance),
        "changes": [
            asdict(change) | {"reliance": _reliance_as_json(change.reliance)} for change in fit.changes
        ],
        "impossible": fit.impossible,
        "too_small": fit.too_small,
        "kept_bytes": fit.kept_bytes,
        "data_bytes": fit.data_bytes,
        "currency": fit.currency,
        "sweeps": [str(outcome.path) for outcome in outcomes],
    }


def _reliance_as_json(reliance: "Reliance | None") -> dict[str, Any] | None:
    return None if reliance is None else asdict(reliance) | {"is_sure": reliance.is_sure}
