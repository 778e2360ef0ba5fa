"""The answer of `destage size` for a load in ranges, as it is printed."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from destage.cli.printed_results.sizing_answer import print_sources
from destage.cli.terminal.output import print_data
from destage.cli.terminal.terminal_text import wrap_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from destage.queries.findings.ranged_text import RangedSizing
    from destage.sweeps import Outcome
    from destage.sweeps.sizing.request import SizingRequest
    from destage.sweeps.sizing.uncertain_load import UncertainLoad


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
    print_sources(request, outcomes)


def as_json(ranged: "RangedSizing", outcomes: "Sequence[Outcome]") -> dict[str, Any]:
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
