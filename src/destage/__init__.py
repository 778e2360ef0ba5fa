"""Destage simulates disk arrays with battery-backed write caches and finds how many users each supports.

In Python and in notebooks:

    import destage
    sweep = destage.run("call_center_curve")      # a bundled study, a YAML file or a dict
    sweep.sql("SELECT raid, users_supported FROM answers")
    sweep.plot()
    destage.size(300, "vdi")                      # the cheapest configuration for a load
    destage.simulate({"workload": ..., "array": ...}).response_p95_us
    destage.miss_ratio_curve("mine.blk").plot()
    destage.open_measured("lab")[0].response_p95_us   # what `destage measured import` stored

The packages are ``destage.engine`` (simulation of one array), ``destage.sweeps`` (studies, plans and their
execution) and ``destage.queries`` (views and reports of results). Importing this package loads none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from destage.engine import Scenario
    from destage.notebook import Measured, MissRatioCurve, Result, SizingAnswer, Sweep
    from destage.store import Location
    from destage.sweeps import Study

__all__ = ["miss_ratio_curve", "open", "open_measured", "run", "simulate", "size"]


def __getattr__(name: str) -> Any:
    """Return the version, which takes longer to find than this package to import."""
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415

        return version("destage")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the functions of the package and its version, without the packages that they have imported."""
    return sorted({*__all__, "__version__"})


def simulate(scenario: Scenario | Path, *, folder: str | Path = ".") -> Result:
    """Run one configuration.

    Args:
        scenario: A configuration like a study's `scenario`, as a mapping, JSON or a file, also a study's.
        folder: The folder of relative trace files; itself relative to that of the file, if there is one.

    Returns:
        The result row; `destage catalog list columns` lists its columns.

    Raises:
        ConfigError: With all mistakes of the configuration.
        TraceError: A trace cannot be read or replayed.
        SimulationError: The run failed inside the engine.
        OSError: The file cannot be read.
    """
    from destage.notebook import run_once  # noqa: PLC0415

    return run_once(scenario, folder=folder)


def run(
    study: str | Path | Mapping[str, Any] | Study,
    *,
    store: str | Location | None = None,
    executor: Literal["auto", "ray", "inline"] = "auto",
    workers: int | None = None,
) -> Sweep:
    """Run a study to its end; runs that are in the store are not repeated.

    Args:
        study: The fields of a study, a YAML file, or the name of a bundled study.
        store: Folder or URL of the store; the default store where None.
        executor: Where runs are executed, as `--executor` of the command line.
        workers: How many runs are executed at a time (default: one per processor).

    Raises:
        ConfigError: With all mistakes of the study; nothing was written.
        StoreError: Another process is writing this sweep.
    """
    from destage.notebook import run_study  # noqa: PLC0415

    return run_study(study, store=store, executor=executor, workers=workers)


def open(sweep: str | Location, store: str | Location | None = None) -> Sweep:  # noqa: A001 -- `destage.open(...)` reads well
    """Open a sweep: its answer, rows, SQL, figures and report.

    Args:
        sweep: Path or URL of a sweep, its name, or an unambiguous beginning of its name.
        store: Folder or URL of the store that the name is looked up in; the default store where None.

    Raises:
        StoreError: No sweep, or more than one, matches the name.
    """
    from destage.notebook import open_sweep  # noqa: PLC0415

    return open_sweep(sweep, store)


def open_measured(name: str, store: str | Location | None = None) -> Measured:
    """Open a measured set: its lines as typed rows and as a frame.

    Args:
        name: The name that it was imported under.
        store: Folder or URL of the store; the default store where None.

    Raises:
        StoreError: The store has no set of this name, or its file is damaged.
    """
    from destage.notebook import open_measured as open_set  # noqa: PLC0415

    return open_set(name, store)


def miss_ratio_curve(
    trace: str | Path,
    *,
    policy: str | Sequence[str] = "lru",
    block: int | str = "4KiB",
    rate: float | None = None,
    sizes: Iterable[int | str] | None = None,
) -> MissRatioCurve:
    """Compute the miss ratio curve of a block trace, for reads, writes and both.

    Args:
        trace: A trace in one of the formats that `destage trace info` reads, or its URL.
        policy: The replacement policy, one or several of `controller.cache.read.policy`.
        block: The cache's unit.
        rate: The share of the blocks that is sampled (default: all, which is exact).
        sizes: Cache sizes, such as `["64MiB", "1GiB"]` (default: steps up to the footprint).

    Raises:
        TraceError: The trace cannot be read.
    """
    from destage.notebook import compute_curve  # noqa: PLC0415

    return compute_curve(str(trace), policy=policy, block=block, rate=rate, sizes=sizes)


def size(
    users: int | tuple[int, int] | None = None,
    workload: str | Mapping[str, Any] | None = None,
    **options: Any,
) -> SizingAnswer:
    """Find the cheapest configuration that carries a load, as `destage size` does.

    With `have` and `add`, check whether an array carries more than its present load, and which single change
    makes it: `size(have="array.yaml", add=["vdi"]).fits`.

    Args:
        users: The number of users; for odds and regret over a range, its low and its high end.
        workload: A workload of the catalogue, such as `vdi`, or the fields of one. In its place, a rate:
            `iops` with `read_share`, or `read_iops` and `write_iops`; with `size` and `capacity`.
        options: `capacity`, `response_p95`, `subject_to`, `during_rebuild`, `dead_battery`, `prices` (a
            table or its file), `controllers`, `disks`, `raid`, `fewest`, `most`, `budget`, `store`; see
            `destage.notebook.find_configuration`. `have` is the configuration of an array with its present
            load, as fields or a file, also in a study; `add` lists the loads on top, as `workload` is given
            (or a rate is added), and `users` and `capacity` are those of a single one. Without `have`, `add`
            lists the loads beside `workload`. A name may have its users after a colon: `vdi:300`. `keep` is
            the data that the array must hold after a change (default: its usable capacity).

    Raises:
        ConfigError: A part is not in the catalogue or has no price, an objective has a mistake, or the array
            does not hold the data of both loads.
        OSError: The file of `have` cannot be read.
    """
    from destage.notebook import find_configuration  # noqa: PLC0415

    return find_configuration(users, workload, **options)
