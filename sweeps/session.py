"""One session of a sweep: replays the planning rounds in the store, then continues to the answers."""

import os
import time
from collections.abc import Callable
from typing import Literal

from destage.errors import Issue
from destage.store.adoption import adopt_fragments, remove_orphans
from destage.store.answers import write_answers
from destage.store.layout import SweepLayout
from destage.store.lease import Lease
from destage.store.manifests import Manifest
from destage.store.plan import drop_rounds, write_round
from destage.store.progress import RecordedProgress, measure_fragments, write_progress
from destage.store.rows import read_rows
from destage.sweeps.answer_tables import list_needed_columns, make_answer_tables
from destage.sweeps.driver import Driver, facts_of, is_present
from destage.sweeps.executors import Executor, InlineExecutor, count_processors
from destage.sweeps.interrupts import Interrupts
from destage.sweeps.outcomes import Outcome, Phase, Progress, SessionState
from destage.sweeps.planner import PlannedRun, Planner
from destage.sweeps.points import Expansion
from destage.sweeps.study import Study
from destage.sweeps.unanswered import find_unanswered

ExecutorName = Literal["auto", "ray", "inline"]
ProgressCallback = Callable[[Progress], None]
SMALL_PLAN = 400
"""Minimum runs for which `auto` starts Ray."""
_RECORD_S = 5.0
"""Interval at which the progress is written to the store [s]."""
_RUNS_PER_SEEK = 10
"""Typical runs of a search, to estimate the size of a plan."""


class SweepSession:
    """One session; the caller holds the sweep's lease."""

    def __init__(
        self,
        study: Study,
        expansion: Expansion,
        layout: SweepLayout,
        lease: Lease,
        interrupts: Interrupts,
        *,
        executor: ExecutorName,
        workers: int | None,
        progress: ProgressCallback | None,
    ) -> None:
        self._study = study
        self._expansion = expansion
        self._layout = layout
        self._executor = executor
        self._workers = workers
        self._progress = progress
        self._began = time.monotonic()
        self._phase: Phase = "plan"
        self._round = 0
        self._planned: set[str] = set()
        self._reused = 0
        self._failed_before = 0
        self._rounds = 0
        self._recorded_at = self._began
        self._started_at: float | None = None
        self._has_reported_drain = False
        self._slots: int | None = None
        self._columns = list_needed_columns(study)
        self._manifest = Manifest(layout)
        messages = adopt_fragments(layout, self._manifest)
        rows = [row for row in read_rows(layout, self._columns).to_pylist() if is_present(row)]
        self._before = {row["run_id"] for row in rows}
        self._driver = Driver(
            layout=layout,
            manifest=self._manifest,
            lease=lease,
            start=self._start,
            columns=self._columns,
            interrupts=interrupts,
            deadline=None if study.wall_s is None else self._began + study.wall_s,
            report=self._report,
            rows={row["run_id"]: facts_of(row, self._columns) for row in rows},
            messages=messages,
        )

    def run(self) -> Outcome:
        """Run the sweep until it is answered or the session has to stop."""
        driver = self._driver
        planner = Planner(self._study, self._expansion)
        try:
            while driver.stopped is None and (runs := self._next_round(planner)):
                self._phase = "run"
                driver.drive(runs)
                self._round += 1
        finally:
            driver.close()
            self._manifest.flush()
            remove_orphans(self._layout)
        unanswered: list[Issue] = []
        if driver.stopped is None:
            unanswered = self._write_answers(planner)
        write_progress(self._layout, self._progress_so_far(*measure_fragments(self._layout)))
        failed = sum(driver.rows[run].status == "failed" for run in self._planned if run in driver.rows)
        done: SessionState = "failed_runs" if failed else "unanswered" if unanswered else "finished"
        return Outcome(
            path=self._layout.root,
            runs=self._reused + driver.executed,
            executed=driver.executed,
            reused=self._reused,
            failed=failed,
            seconds=time.monotonic() - self._began,
            executor=driver.executor_name,
            state=driver.stopped or done,
            messages=(*driver.messages, *unanswered),
        )

    def _next_round(self, planner: Planner) -> list[PlannedRun]:
        """Plan and write the next round; empty when all is answered."""
        self._phase = "plan"
        self._report()
        runs = planner.next_round({run: self._driver.rows[run] for run in self._planned})
        if runs:
            write_round(self._layout, self._round, planner.make_table(runs, self._round))
            self._planned |= {run.run_id for run in runs}
            reused = self._planned & self._before
            self._reused = len(reused)
            self._failed_before = sum(self._driver.rows[run].status == "failed" for run in reused)
            self._rounds = self._round + 1
            self._record_progress()
        else:
            drop_rounds(self._layout, self._round)
            self._rounds = self._round
        return runs

    def _write_answers(self, planner: Planner) -> list[Issue]:
        """Write the answers of a seek, and return a warning for each point without an answer."""
        self._phase = "answer"
        self._report()
        facts = {run: self._driver.rows[run] for run in self._planned}
        if self._study.seek is not None:
            write_answers(self._layout, *make_answer_tables(self._study, self._expansion, planner, facts))
        self._layout.finished.touch()
        return find_unanswered(self._study, self._expansion, planner, facts)

    def _start(self, waiting: int) -> Executor:
        """Start the executor for the number of runs waiting and those that may follow."""
        expected = waiting * (_RUNS_PER_SEEK if self._study.seek is not None and self._round == 0 else 1)
        is_large = expected >= SMALL_PLAN or bool(os.environ.get("RAY_ADDRESS"))
        self._phase = "start"
        if self._executor == "ray" or (self._executor == "auto" and is_large):
            self._report("starting Ray (takes a few seconds)")
            from destage.sweeps.ray_executor import RayExecutor  # noqa: PLC0415 - ray takes seconds to import

            executor: Executor = RayExecutor(
                self._workers,
                self._layout.fragments,
                self._columns,
                timeout_s=self._study.timeout_s,
                on_start=self._driver.interrupts.install,  # Ray replaces the handlers
            )
        else:
            executor = InlineExecutor(
                self._workers or count_processors(),
                self._layout.fragments,
                self._columns,
                timeout_s=self._study.timeout_s,
            )
        self._phase = "run"
        self._started_at = time.monotonic()
        self._report()
        return executor

    def _progress_so_far(self, fragments: int | None = None, size: int | None = None) -> RecordedProgress:
        driver = self._driver
        present, failed = self._reused + driver.executed, self._failed_before + driver.failed
        return RecordedProgress(len(self._planned), present, failed, self._rounds, fragments, size)

    def _record_progress(self) -> None:
        self._recorded_at = time.monotonic()
        write_progress(self._layout, self._progress_so_far())

    def _report(self, message: str | None = None) -> None:
        if time.monotonic() - self._recorded_at > _RECORD_S:
            self._record_progress()
        if self._progress is None:
            return
        driver = self._driver
        if message is None and driver.interrupts.is_draining and not self._has_reported_drain:
            self._has_reported_drain = True
            message = "finishing the runs in flight; interrupt again to abort"
        if message is None and driver.slots != self._slots:
            if self._slots is not None:
                message = f"{driver.slots} slots (was {self._slots})"
            self._slots = driver.slots
        elapsed = 0.0 if self._started_at is None else time.monotonic() - self._started_at
        done = self._reused + driver.executed
        rate = driver.executed / elapsed if elapsed > 0 else 0.0
        self._progress(
            Progress(
                phase=self._phase,
                round=self._round,
                done=done,
                planned=len(self._planned),
                reused=self._reused,
                failed=driver.failed,
                rate=rate,
                eta_s=(len(self._planned) - done) / rate if rate > 0 else None,
                message=message,
            )
        )
