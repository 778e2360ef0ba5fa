"""The entry points plan, run and resume: one path for a first run, a crash, a retry, added axis values."""

import time

import pyarrow.compute as pc

from destage.engine import catalog, configuration
from destage.errors import SweepError
from destage.machine import check_address_space
from destage.objects import Location
from destage.store.files.digests import digest_of, find_digest
from destage.store.files.layout import SweepLayout
from destage.store.files.parquet import as_parquet
from destage.store.fragment_files.stored_rows import is_transient, read_rows
from destage.store.locks.lease import hold_lease
from destage.store.opened.recorded_progress import find_settled_head
from destage.store.opened.sweep import open_sweep
from destage.store.state.lookup import default_store
from destage.store.state.plan import add_study
from destage.sweeps.calibration.measured_figures import bind_figures
from destage.sweeps.execution.driver import Interrupts
from destage.sweeps.execution.outcomes import Outcome, Preview
from destage.sweeps.execution.progress_report import ProgressCallback
from destage.sweeps.execution.shared_runs import SharedRuns
from destage.sweeps.execution.sweep_session import ExecutorChoice, ExecutorName, SweepSession
from destage.sweeps.execution.time_estimate import estimate_time
from destage.sweeps.execution.trace_room import check_room
from destage.sweeps.points.point import Expansion
from destage.sweeps.reading.expansion import expand
from destage.sweeps.reading.parsing import parse_study
from destage.sweeps.rounds.planner import Planner
from destage.sweeps.space.identity import pack_ids
from destage.sweeps.space.parameters import TRACE_FILE
from destage.sweeps.study.valid_study import Study


def sweep_path(study: Study, store: Location | None = None) -> Location:
    """Return the directory of a study's sweep in a store (default: `default_store()`)."""
    return (store if store is not None else default_store()) / "sweeps" / f"{study.name}-{study.id}"


def plan(study: Study, store: Location | None = None, *, with_estimate: bool = False) -> Preview:
    """Return what a study would run in a store; writes nothing.

    Args:
        store: The store (default: `default_store()`).
        with_estimate: Whether to estimate the time, which may take some seconds of pilot runs.
    """
    study, expansion = _expand(study, store)
    planner = Planner(study, expansion)
    table = planner.next_round({})
    if table is None:
        raise AssertionError("the first round of a study has runs")
    path = sweep_path(study, store)
    rows = read_rows(SweepLayout(path), columns=[])
    present = rows["run_id"].filter(pc.invert(is_transient(rows)))
    runs = pc.unique(table["run_id"])
    others = SharedRuns(path)
    missing = runs.filter(pc.invert(pc.is_in(runs, present)))
    return Preview(
        table=table,
        points=expansion.count,
        runs=len(runs),
        present=len(runs) - len(missing),
        shared=others.count(pack_ids(missing)),
        adaptive=study.is_adaptive,
        sweep_path=path,
        estimate=estimate_time(study, planner, table, path, others) if with_estimate else None,
    )


def run(
    study: Study,
    store: Location | None = None,
    *,
    executor: ExecutorName = "auto",
    workers: int | None = None,
    progress: ProgressCallback | None = None,
) -> Outcome:
    """Run a study until it is answered or the session has to stop; runs in the store are not repeated.

    Args:
        store: The store (default: `default_store()`).
        executor: Where the runs are executed: threads of this process (`inline`), Ray, or `auto`: Ray if the
            environment names a cluster (`RAY_ADDRESS`), threads otherwise.
        workers: How many runs are executed at a time (default: one per processor).
        progress: Called several times a second.

    Raises:
        ConfigError: A point is an invalid configuration; nothing was written.
        TraceError: No point has room for its traces; nothing was written.
        StoreError: Another process is writing this sweep.
        SweepError: Ray cannot be started.
        MachineError: The address space of this process is too small.
    """
    check_address_space()
    study, expansion = _expand(study, store)
    layout = SweepLayout(sweep_path(study, store))
    if (unchanged := _find_unchanged(study, expansion, layout)) is not None:
        return unchanged
    if _may_replay(study, expansion):
        check_room(expansion)
    with hold_lease(layout.lease) as lease, Interrupts() as interrupts:
        layout.make()
        choice = ExecutorChoice(executor, workers)
        session = SweepSession(
            study, expansion, layout, lease, interrupts, executor=choice, progress=progress
        )
        return session.run()


def resume(
    sweep: Location,
    *,
    executor: ExecutorName = "auto",
    workers: int | None = None,
    progress: ProgressCallback | None = None,
) -> Outcome:
    """Run the missing runs of the sweep in a directory; otherwise as `run`.

    Raises:
        StoreError: There is no sweep, or another process is writing it.
        SweepError: The study or a trace has changed, so that it belongs to another sweep.
    """
    study = parse_study(open_sweep(sweep).study_text, name=str(sweep), is_stored=True)
    store = sweep.absolute().parent.parent
    if sweep_path(study, store).name != sweep.absolute().name:
        message = "its study belongs to another sweep: a trace has other contents"
        raise SweepError("sweep.study-changed", message, str(sweep))
    return run(study, store, executor=executor, workers=workers, progress=progress)


def _expand(study: Study, store: Location | None) -> tuple[Study, Expansion]:
    """Return a study that no longer needs a measured set of its store, and its points."""
    if study.calibrate is not None:
        study = bind_figures(study, store if store is not None else default_store())
    return study, expand(study)


def _may_replay(study: Study, expansion: Expansion) -> bool:
    """Return whether a point of a study may replay a trace."""
    if any(field.name.endswith(TRACE_FILE) for field in expansion.fields):
        return True
    resolved, _ = catalog.resolve_known({"workload": study.scenario.get("workload", {})})
    return bool(configuration.find_replays(resolved))


def _find_unchanged(study: Study, expansion: Expansion, layout: SweepLayout) -> Outcome | None:
    """Return the outcome of a session if it would write nothing; None if that takes a session to know.

    Studies whose later rounds, answers or analyses follow from results always take one.

    Raises:
        StoreError: The bucket cannot be read.
    """
    began = time.monotonic()
    if study.is_adaptive or (head := find_settled_head(layout)) is None:
        return None
    text = study.stored_text
    if find_digest(head.study) != digest_of(text.encode()) or len(head.rounds) != 1 or head.analyses:
        return None
    plan = Planner(study, expansion).next_round({})
    if plan is None or find_digest(head.rounds[0]) != digest_of(as_parquet(add_study(plan, text))):
        return None
    runs = len(pc.unique(plan["run_id"]))
    return Outcome(
        path=layout.root,
        runs=runs,
        executed=0,
        reused=runs,
        shared=0,
        failed=0,
        seconds=time.monotonic() - began,
        executor="none",
        state="finished",
        messages=(),
    )
