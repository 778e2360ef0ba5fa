"""`destage verify`."""

import re
from typing import Annotated

import typer

from destage.cli.options import Json, Store, SweepName
from destage.cli.output import print_error, print_json, print_pairs
from destage.cli.progress import Counter
from destage.errors import Issue, UsageError

_FAILED_RUNS = 3


def verify(
    sweep: SweepName,
    sample: Annotated[
        str, typer.Option("--sample", help="Share of the runs to execute again, as in 5% or 0.05.")
    ] = "1%",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed that selects the sample.")] = 0,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Execute a sample of a sweep's runs again and compare their rows bit for bit."""
    from destage import sweeps
    from destage.store import find_sweep

    share = _parse_share(sample)
    found = sweeps.verify(find_sweep(sweep, store), sample=share, seed=seed, progress=Counter("runs"))
    if as_json:
        print_json({"checked": found.checked, "different": list(found.different)})
    else:
        print_pairs({"checked": found.checked, "different": len(found.different)})
    for run_id in found.different:
        print_error(Issue("sweep.row-differs", run_id, "the stored row differs from a new execution"))
    if found.different:
        raise typer.Exit(_FAILED_RUNS)


def _parse_share(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", text.strip())
    share = float(match[1]) / (100 if match[2] else 1) if match else 0.0
    if not 0 < share <= 1:
        message = f"{text!r}: must be more than 0 and at most 1, as in 1% or 0.01"
        raise UsageError("usage.out-of-range", message, "--sample")
    return share
