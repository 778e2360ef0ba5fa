"""`destage admin verify`."""

import re
from dataclasses import asdict
from typing import Annotated

import typer

from destage.cli.parameters.shared_options import Json, Store, SweepName
from destage.cli.terminal.output import print_error, print_json, print_note, print_pairs
from destage.cli.terminal.progress_line import Counter
from destage.errors import UsageError

_FAILED_RUNS = 3
_MOST_SHOWN = 20


def verify(
    sweep: SweepName,
    sample: Annotated[
        str, typer.Option("--sample", help="Share of the runs to execute again, as in 5% or 0.05.")
    ] = "1%",
    is_all: Annotated[bool, typer.Option("--all", help="Execute all runs again.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed that selects the sample.")] = 0,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Check a sweep's files and repeat a sample of its runs.

    Files are compared with their digests, rows with the plan, and repeated runs with their rows bit for bit.
    """
    from destage import sweeps
    from destage.store import find_sweep

    share = 1.0 if is_all else _parse_share(sample)
    verification = sweeps.verify(find_sweep(sweep, store), sample=share, seed=seed, progress=Counter("runs"))
    if as_json:
        problems = [asdict(issue) for issue in verification.problems]
        print_json({**asdict(verification), "problems": problems})
    else:
        print_pairs(
            {
                "files": verification.files,
                "planned runs": verification.planned,
                "executed again": verification.checked,
                **({"rows of runs executed twice": verification.repeated} if verification.repeated else {}),
                "problems": len(verification.problems),
            }
        )
    for problem in verification.problems[:_MOST_SHOWN]:
        print_error(problem)
    if len(verification.problems) > _MOST_SHOWN:
        print_note(f"{len(verification.problems) - _MOST_SHOWN} more problems; --json lists all")
    if verification.problems:
        raise typer.Exit(_FAILED_RUNS)


def _parse_share(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", text.strip())
    share = float(match[1]) / (100 if match[2] else 1) if match else 0.0
    if not 0 < share <= 1:
        message = f"{text!r}: must be more than 0 and at most 1, as in 1% or 0.01"
        raise UsageError("usage.out-of-range", message, "--sample")
    return share
