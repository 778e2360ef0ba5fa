"""Planning, running, resuming a sweep: one path for a first run, a crash, a retry, added axis values."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import yaml

from destage.errors import StoreError, SweepError
from destage.store.adoption import adopt_fragments
from destage.store.answers import write_answers
from destage.store.durable import write_durably
from destage.store.layout import SweepLayout, default_store
from destage.store.lease import current_writer, hold_lease
from destage.store.plan import drop_rounds, read_plan, write_round
from destage.store.rows import present_runs, read_rows
from destage.sweeps.answering import answer_tables, columns_needed
from destage.sweeps.driver import Session, facts_of, is_present
from destage.sweeps.executors import Executor, InlineExecutor
from destage.sweeps.interrupts import Interrupts
from destage.sweeps.objectives import metric_columns
from destage.sweeps.outcomes import Outcome, Phase, Preview, Progress, State, Status
from destage.sweeps.points import Expansion, expand
from destage.sweeps.rounds import Rounds
from destage.sweeps.study import Study, parse_study
from destage.sweeps.work import processors

ExecutorName = Literal["auto", "ray", "inline"]
_SMALL_PLAN = 400
"""Fewer runs than this are not worth starting Ray for."""
_PROBES_PER_SEEK = 10
"""How many runs a search takes, about; only to guess the size of a plan."""


ProgressCallback = Callable[[Progress], None]


def sweep_path(study: Study, store: Path | None = None) -> Path:
    """Return where a study's sweep lies in a store.

    Args:
        study: The study.
        store: The store; by default `default_store()`.
    """
    return (store if store is not None else default_store()) / "sweeps" / f"{study.name}-{study.id}"


def plan(study: Study, store: Path | None = None) -> Preview:
    """Say what a study would run, writing nothing.

    Args:
        study: The study.
        store: The store that rows are looked for in; by default `default_store()`.

    Raises:
        ConfigError: Some point is no possible configuration.
    """
    expansion = expand(study)
    rounds = Rounds(study, expansion)
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
    store: Path | None = None,
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
    began = time.monotonic()
    expansion = expand(study)
    layout = SweepLayout(sweep_path(study, store))
    with hold_lease(layout.lease), Interrupts() as interrupts:
        layout.make()
        text = yaml.safe_dump(dict(study.document), sort_keys=False, allow_unicode=True)
        write_durably(layout.spec, text.encode())
        return _Sweeping(study, expansion, layout, executor, workers, progress, interrupts, began).run()


def resume(
    sweep: Path,
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


def status(sweep: Path) -> Status:
    """Say how far a sweep is.

    Args:
        sweep: The sweep's directory.
    """
    layout = SweepLayout(sweep)
    table = read_plan(layout)
    planned = set() if table is None else set(table["run_id"].to_pylist())
    rows = read_rows(layout, columns=[])
    present = present_runs(rows) & planned
    failed = sum(row["status"] == "failed" and row["run_id"] in present for row in rows.to_pylist())
    rounds = 0 if table is None else int(max(table["round"].to_pylist(), default=-1)) + 1
    finished = layout.finished.is_file() and present == planned
    return Status(len(planned), len(present), failed, rounds, finished, current_writer(layout.lease))


@dataclass
class _Sweeping:
    """One session: replays the rounds that are there, then plans and runs on."""

    study: Study
    expansion: Expansion
    layout: SweepLayout
    executor_name: ExecutorName
    workers: int | None
    progress: ProgressCallback | None
    interrupts: Interrupts
    began: float
    _planned: set[str] = field(default_factory=set)
    _reused: int = 0
    _round: int = 0
    _phase: Phase = "plan"
    _driving_since: float | None = None
    _session: Session | None = None

    def run(self) -> Outcome:
        self.layout.finished.unlink(missing_ok=True)
        messages = adopt_fragments(self.layout)
        columns = self._columns()
        rows = {row["run_id"]: row for row in read_rows(self.layout, columns).to_pylist()}
        there = {run_id: facts_of(row, columns) for run_id, row in rows.items() if is_present(row)}
        session = self._session = Session(
            layout=self.layout,
            start=self._start,
            columns=columns,
            interrupts=self.interrupts,
            deadline=None if self.study.wall_s is None else self.began + self.study.wall_s,
            report=self._report,
            rows=there,
            messages=messages,
        )
        before = set(there)
        rounds = Rounds(self.study, self.expansion)
        try:
            while self._stop_reason() is None:
                self._phase = "plan"
                planned = rounds.next_round({run: session.rows[run] for run in self._planned})
                if not planned:
                    drop_rounds(self.layout, self._round)
                    break
                write_round(self.layout, self._round, rounds.table(planned, self._round))
                self._planned |= {run.run_id for run in planned}
                self._reused = len(self._planned & before)
                missing = list(
                    {run.run_id: run for run in planned if run.run_id not in session.rows}.values()
                )
                self._phase = "run"
                session.drive(missing)
                self._round += 1
        finally:
            session.close()
        state = self._stop_reason() or self._final_state()
        if self._stop_reason() is None:
            self._phase = "answer"
            self._report()
            if self.study.seek is not None:
                facts = {run: session.rows[run] for run in self._planned}
                write_answers(self.layout, *answer_tables(self.study, self.expansion, rounds, facts))
            self.layout.finished.touch()
        done = len(self._planned & session.rows.keys())
        return Outcome(
            path=self.layout.root,
            runs=done,
            executed=session.executed,
            reused=self._reused,
            failed=self._failed(),
            seconds=time.monotonic() - self.began,
            executor=session.executor_name,
            state=state,
            messages=tuple(session.messages),
        )

    def _columns(self) -> tuple[str, ...]:
        columns = columns_needed(self.study.seek)
        metric = self.study.replicates.metric
        if metric is not None and self.study.seek is None:
            columns += (metric_columns()[metric].name,)
        return tuple(dict.fromkeys(columns))

    def _stop_reason(self) -> State | None:
        session = self._session
        if session is None:
            return None
        if session.stopped is not None:
            return session.stopped
        return "infrastructure" if session.given_up else None

    def _final_state(self) -> State:
        return "failed_runs" if self._failed() else "finished"

    def _failed(self) -> int:
        session = self._session
        if session is None:
            return 0
        return sum(session.rows[run].status == "failed" for run in self._planned if run in session.rows)

    def _start(self, waiting: int) -> Executor:
        """Start the executor that suits so many runs and those that may follow."""
        self._phase = "start"
        self._report()
        facts = self._columns()
        guess = waiting
        if self.study.seek is not None and self._round == 0:
            guess *= _PROBES_PER_SEEK
        wants_ray = self.executor_name == "ray" or (
            self.executor_name == "auto" and (guess >= _SMALL_PLAN or bool(os.environ.get("RAY_ADDRESS")))
        )
        if wants_ray:
            from destage.sweeps.ray_executor import RayExecutor  # noqa: PLC0415 - ray takes seconds to import

            executor: Executor = RayExecutor(self.workers, self.layout.fragments, facts)
        else:
            executor = InlineExecutor(self.workers or processors(), self.layout.fragments, facts)
        self._phase = "run"
        self._report()
        return executor

    def _report(self) -> None:
        session = self._session
        if self.progress is None or session is None:
            return
        if self._driving_since is None and session.executed == 0 and self._phase == "run":
            self._driving_since = time.monotonic()
        elapsed = 0.0 if self._driving_since is None else time.monotonic() - self._driving_since
        done = len(self._planned & session.rows.keys())
        rate = session.executed / elapsed if elapsed > 0 else 0.0
        left = len(self._planned) - done
        self.progress(
            Progress(
                phase=self._phase,
                round=self._round,
                done=done,
                planned=len(self._planned),
                reused=self._reused,
                failed=session.failed,
                rate=rate,
                eta_s=left / rate if rate > 0 else None,
            )
        )
