"""Planning, running, resuming a sweep: one path for a first run, a crash, a retry, added axis values."""

from pathlib import Path

import yaml

from destage.errors import StoreError, SweepError
from destage.objects import Location
from destage.store.durable import write_durably
from destage.store.layout import SweepLayout, default_store
from destage.store.lease import hold_lease
from destage.store.rows import present_runs, read_rows
from destage.sweeps.interrupts import Interrupts
from destage.sweeps.outcomes import Outcome, Preview
from destage.sweeps.planner import Planner
from destage.sweeps.points import expand
from destage.sweeps.session import ExecutorName, ProgressCallback, SweepSession
from destage.sweeps.study import Study, parse_study


def sweep_path(study: Study, store: Location | None = None) -> Location:
    """Return where a study's sweep lies in a store.

    Args:
        study: The study.
        store: The store; by default `default_store()`.
    """
    return (store if store is not None else default_store()) / "sweeps" / f"{study.name}-{study.id}"


def plan(study: Study, store: Location | None = None) -> Preview:
    """Say what a study would run, writing nothing.

    Args:
        study: The study.
        store: The store that rows are looked for in; by default `default_store()`.

    Raises:
        ConfigError: Some point is no possible configuration.
    """
    expansion = expand(study)
    rounds = Planner(study, expansion)
    runs = rounds.next_round({})
    path = sweep_path(study, store)
    wanted = {run.run_id for run in runs}
    return Preview(
        table=rounds.table(runs, 0),
        points=len(expansion.points),
        runs=len(wanted),
        present=len(wanted & present_runs(read_rows(SweepLayout(path), columns=[]))),
        adaptive=study.seek is not None or study.replicates.metric is not None,
        sweep_path=path,
    )


def run(
    study: Study,
    store: Location | None = None,
    *,
    executor: ExecutorName = "auto",
    workers: int | None = None,
    progress: ProgressCallback | None = None,
) -> Outcome:
    """Run a study to its end, or as far as it gets; rows that are in the store are not run again.

    Args:
        study: The study.
        store: The store; by default `default_store()`.
        executor: Where the runs are executed; `auto` starts Ray for large plans only.
        workers: How many runs are executed at a time; by default one per processor.
        progress: Called several times a second.

    Raises:
        ConfigError: Some point is no possible configuration; nothing was written.
        StoreError: Another process is writing this sweep.
        SweepError: Ray could not be started.
    """
    expansion = expand(study)
    layout = SweepLayout(sweep_path(study, store))
    with hold_lease(layout.lease) as lease, Interrupts() as interrupts:
        layout.make()
        # Whoever looks from here on finds no answers rather than those to an older study.
        for path in (layout.finished, layout.progress, layout.answers, layout.certificates):
            path.unlink(missing_ok=True)
        text = yaml.safe_dump(dict(study.document), sort_keys=False, allow_unicode=True)
        # In a bucket a writer killed in the midst of it might leave no study in place of the same one.
        if isinstance(layout.root, Path) or not _holds(layout.spec, text.encode()):
            write_durably(layout.spec, text.encode())
        return SweepSession(
            study, expansion, layout, lease, interrupts, executor=executor, workers=workers, progress=progress
        ).run()


def _holds(file: Location, data: bytes) -> bool:
    return file.is_file() and file.read_bytes() == data


def resume(
    sweep: Location,
    *,
    executor: ExecutorName = "auto",
    workers: int | None = None,
    progress: ProgressCallback | None = None,
) -> Outcome:
    """Run what a sweep still lacks.

    Args:
        sweep: The sweep's directory.
        executor: Where the runs are executed.
        workers: How many runs are executed at a time.
        progress: Called several times a second.

    Raises:
        StoreError: There is no sweep, or another process is writing it.
        SweepError: The engine or the traces have changed so that this is another sweep now.
    """
    layout = SweepLayout(sweep)
    if not layout.spec.is_file():
        raise StoreError(f"no sweep at {sweep}: it has no spec.yaml")
    study = parse_study(layout.spec.read_text(), name=str(layout.spec))
    store = sweep.absolute().parent.parent
    if sweep_path(study, store).name != sweep.absolute().name:
        raise SweepError(
            f"{sweep} does not fit its spec.yaml: a trace has other contents, or the file was edited"
        )
    return run(study, store, executor=executor, workers=workers, progress=progress)
