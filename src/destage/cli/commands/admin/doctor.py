"""`destage admin doctor`."""

import os
import platform
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from destage.cli.parameters.shared_options import Json, Store, choose_store
from destage.cli.terminal.output import issue_as_json, print_error, print_json, print_note, print_pairs
from destage.cli.terminal.progress_line import Counter
from destage.errors import Issue

if TYPE_CHECKING:
    from destage.store import Location


def doctor(store: Store = None, as_json: Json = False) -> None:
    """Check this machine, the engine and the store.

    Writes a test file to the store and reads all files of its sweeps.
    """
    from importlib.metadata import PackageNotFoundError, requires, version

    from destage.extras import EXTRAS

    facts: dict[str, object] = {
        "destage": version("destage"),
        "python": f"{platform.python_version()} ({sys.executable})",
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": _memory(),
    }
    problems = []
    needed = [line for line in requires("destage") or () if "extra ==" not in line]
    for package in sorted(re.split(r"[^\w-]", line)[0] for line in needed):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "missing"
            message = f"{package} is not installed; reinstall Destage with its dependencies"
            problems.append(Issue("system.package-missing", package, message))
    for package in EXTRAS:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = f"not installed (extra {EXTRAS[package]})"
    if find_spec("destage.engine._engine") is None:
        facts["engine"] = "not built"
        message = "the engine is not built; run `make engine` in the clone or install a wheel"
        problems.append(Issue("system.engine-missing", "engine", message))
    else:
        from destage import engine

        facts["engine"] = f"results version {engine.RESULTS_VERSION}"
    place = choose_store(store)
    facts["store"], troubles = _check_store(place)
    problems += troubles
    if as_json:
        print_json({"facts": facts, "problems": [issue_as_json(problem) for problem in problems]})
    else:
        print_pairs(facts)
    print_error(*problems)
    if problems:
        raise typer.Exit(1)
    print_note("all checks passed")


def _check_store(store: "Location") -> tuple[str, list[Issue]]:
    """Return a summary of a store in one line, and its problems: a failed test write, or damaged files."""
    from destage.store import list_sweeps
    from destage.store.files.layout import SweepLayout, find_write_error
    from destage.store.opened.file_checks import check_sweep

    trouble = find_write_error(store)
    if trouble is not None:
        return f"{store} (not writable)", list(trouble.issues)
    problems: list[Issue] = []
    files, sweeps = 0, list_sweeps(store)
    progress = Counter("sweeps")
    for number, sweep in enumerate(sweeps, start=1):
        checked = check_sweep(SweepLayout(sweep))
        files += checked.files
        problems += checked.problems
        progress(number, len(sweeps))
    counts = f"sweeps: {len(sweeps)}, files: {files}, problems: {len(problems)}"
    return f"{store} ({counts}{_free_space(store)})", problems


def _free_space(store: "Location") -> str:
    """Return the free space on the disk of a folder; a bucket has no limit."""
    if not isinstance(store, Path):
        return ""
    existing = next(path for path in (store.absolute(), *store.absolute().parents) if path.exists())
    return f", {shutil.disk_usage(existing).free / 1e9:.1f} GB free"


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
    except (ValueError, OSError):
        return "unknown"
