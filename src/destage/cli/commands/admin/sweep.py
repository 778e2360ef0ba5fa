"""`destage admin verify`, `compact` and `export`: care of one sweep."""

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from destage.cli.parameters.shared_options import Json, Store, SweepName
from destage.cli.terminal.output import (
    print_data,
    print_error,
    print_json,
    print_note,
    print_pairs,
    print_warning,
)
from destage.cli.terminal.printed_rows import find_sweep as find_with_warnings
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
    print_error(*verification.problems[:_MOST_SHOWN])
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


def compact(sweep: SweepName, store: Store = None, as_json: Json = False) -> None:
    """Merge a sweep's small fragments into a few large ones.

    The rows do not change.
    """
    from destage.store import find_sweep
    from destage.store.files.layout import SweepLayout
    from destage.store.fragment_files import merging

    path = find_sweep(sweep, store)
    done = merging.compact(SweepLayout(path), Counter("fragments"))
    print_warning(*done.warnings)
    if as_json:
        print_json(asdict(done))
    print_note(f"{path.name}: {done.rows} rows rewritten; {done.before} fragments before, {done.after} now")


def export(
    sweep: SweepName,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Write to FOLDER (default: the sweep's directory)."),
    ] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Write a sweep's results as flat Parquet files.

    runs.parquet and points.parquet have axes, labels and result columns, with units and meanings as metadata.
    A study that seeks a value also has answers.parquet. README.md explains files and columns.
    """
    from destage.queries import open_session
    from destage.queries.exports.sweep_export import export_sweep, find_foreign

    if out is not None:
        foreign = out if out.exists() and not out.is_dir() else find_foreign(out)
        if foreign is not None:
            message = f"{foreign} exists and is not from an export; choose another folder"
            raise UsageError("usage.file-exists", message, "--out")
    with open_session(find_with_warnings(sweep, store)) as session:
        done = export_sweep(session, out)
    files = [str(done.folder / name) for name in (*done.rows, "README.md")]
    if as_json:
        print_json({"folder": str(done.folder), "rows": done.rows})
        return
    print_data("".join(f"{file}\n" for file in files))
    print_note(", ".join(f"{rows} {name.partition('.')[0]}" for name, rows in done.rows.items()))
