"""The verbs that check: verify a sweep's rows, examine the machine."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.options import Store, SweepName
from destage.cli.output import Json, complain, has_terminal, print_json, print_pairs, say
from destage.errors import QueryError

if TYPE_CHECKING:
    from destage.store import Location

_FAILED_RUNS = 3


def verify(
    sweep: SweepName,
    sample: Annotated[str, typer.Option("--sample", help="The share of the runs to execute again.")] = "1%",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which sample.")] = 0,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Execute some of a sweep's runs again and compare their rows bit for bit."""
    from destage import sweeps
    from destage.store import find_sweep

    path = find_sweep(sweep, store)

    def show(done: int, planned: int) -> None:
        if has_terminal():
            typer.echo(f"\r{done} of {planned} runs", err=True, nl=done == planned)

    found = sweeps.verify(path, sample=_share(sample), seed=seed, progress=show)
    if as_json:
        print_json({"checked": found.checked, "different": list(found.different)})
    else:
        print_pairs({"checked": found.checked, "different": len(found.different)})
    for run_id in found.different:
        complain(f"run {run_id}: its row differs from what the engine gives now")
    if found.different:
        raise typer.Exit(_FAILED_RUNS)


def doctor(store: Store = None, as_json: Json = False) -> None:
    """Say what this machine offers Destage, and what is missing."""
    import os
    import platform
    import sys
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec

    from destage.store import default_store, list_sweeps
    from destage.store.location import trouble_writing

    place = store if store is not None else default_store()
    facts: dict[str, object] = {
        "destage": version("destage"),
        "python": f"{platform.python_version()} ({sys.executable})",
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": _memory(),
    }
    problems = []
    for package in ("pyarrow", "duckdb", "ray", "polars", "numpy", "scipy"):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "missing"
            problems.append(f"{package} is not installed: reinstall Destage with its dependencies")
    if find_spec("destage.engine._engine") is None:
        facts["engine"] = "not built"
        problems.append("the engine is not built: run `make engine` in the clone, or install a wheel")
    else:
        from destage import engine

        facts["engine"] = f"results version {engine.RESULTS_VERSION}"
    trouble = trouble_writing(place)
    if trouble is None:
        facts["store"] = f"{place} ({len(list_sweeps(place))} sweeps{_free(place)})"
    else:
        facts["store"] = f"{place} (cannot be written)"
        problems.append(str(trouble))
    if as_json:
        print_json({"facts": facts, "problems": problems})
    else:
        print_pairs(facts)
    for problem in problems:
        complain(problem)
    if problems:
        raise typer.Exit(1)
    say("nothing is missing")


def _share(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", text.strip())
    share = float(match[1]) / (100 if match[2] else 1) if match else 0.0
    if not 0 < share <= 1:
        raise QueryError(f"--sample {text!r}: write a share above 0 and up to 1, as in 1% or 0.01")
    return share


def _free(store: "Location") -> str:
    """Return how much room a folder's disk has; a bucket has no end."""
    import shutil
    from pathlib import Path

    if not isinstance(store, Path):
        return ""
    there = next(path for path in (store.absolute(), *store.absolute().parents) if path.exists())
    return f", {shutil.disk_usage(there).free / 1e9:.1f} GB free"


def _memory() -> str:
    import os

    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
    except (ValueError, OSError):
        return "unknown"
