"""The answer of `destage size --have`: whether the array carries more, and the changes that make it."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from destage.cli.printed_results.finished_sweep import summarize
from destage.cli.terminal.output import print_data, print_note
from destage.cli.terminal.terminal_text import wrap_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from destage.queries.findings.fit_text import Fit
    from destage.sweeps import Outcome


def print_fit(fit: "Fit", outcomes: "Sequence[Outcome]", *, with_misses: bool) -> None:
    """Print the answer, and on stderr what it rests on.

    Args:
        with_misses: Whether to print the changes that do not suffice, too.
    """
    from destage.queries.findings.fit_text import compose_fit, list_misses

    print_data(wrap_lines(compose_fit(fit)))
    if with_misses and (misses := list_misses(fit)):
        print_data(wrap_lines(["", "Not enough:", *misses]))
    for outcome in outcomes:
        print_note(summarize(outcome))


def as_json(fit: "Fit", outcomes: "Sequence[Outcome]") -> dict[str, Any]:
    """Return the answer as `--json` prints it; units are in the names, bounds in those of their columns."""
    from destage.queries.findings.fit_text import compose_fit

    return {
        "answer": compose_fit(fit),
        "fits": fit.added.is_met,
        "today": asdict(fit.today),
        "with_addition": asdict(fit.added),
        "changes": [asdict(change) for change in fit.changes],
        "impossible": fit.impossible,
        "currency": fit.currency,
        "sweeps": [str(outcome.path) for outcome in outcomes],
    }
