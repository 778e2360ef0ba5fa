"""One session of a sweep: replays the planning rounds in the store, then continues to the answers."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from destage.errors import Issue
from destage.extras import require
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.adoption import adopt_fragments, remove_orphans
from destage.store.fragment_files.commits import Commits
from destage.store.fragment_files.stored_rows import is_transient, rows_schema
from destage.store.locks.lease import Lease
from destage.store.opened.recorded_progress import RecordedProgress, measure_fragments, write_progress
from destage.store.state.answers import write_analyses, write_answers
from destage.store.state.head import Head, claim_generation, find_head
from destage.store.state.plan import add_study, write_round
from destage.store.state.removal import remove_exports
from destage.sweeps.execution.analyses import analyse_study
from destage.sweeps.execution.driver import Driver, Interrupts
from destage.sweeps.execution.outcomes import Outcome, Phase, Progress, SessionState
from destage.sweeps.execution.shared_runs import SharedRuns
from destage.sweeps.points.point import Expansion
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.forecast import NO_MORE
from destage.sweeps.rounds.planner import Planner, list_needed_columns
from destage.sweeps.space.identity import as_ids, pack_ids
from destage.sweeps.study.valid_study import Study
from destage.sweeps.workers.executors import Executor, InlineExecutor, count_processors

ExecutorName = Literal["auto", "ray", "inline"]
ProgressCallback = Callable[[Progress], None]
_RECORD_S = 5.0
"""Interval at which the progress is written to the store [s]."""
_SOON_S = 0.5
"""The same while the executed runs double, so that the first rows are known soon [s]."""


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
        self._planned = as_ids(b"")
        self._reused = 0
        self._shared = 0
        self._others = SharedRuns(layout.root)
        self._failed_before = 0
        self._recorded_at, self._recorded = self._began, 0
        self._started_at: float | None = None
        self._has_reported_drain = False
        self._slots: int | None = None
        self._later = NO_MORE
        self._columns = list_needed_columns(study)
        self._generation = claim_generation(layout)
        found = find_head(layout, past_damage=True)
        self._kept = None if found is None else found[1]
        self._may_have_exports = found is not None
        self._study_text = study.stored_text
        self._head = self._keep_study()
        adoption = adopt_fragments(layout, self._columns)
        rows = adoption.collect(rows_schema(self._columns))
        self._commits = Commits(self._generation, lease, self._columns, adoption)
        finished = FinishedRuns(self._columns, keeps_facts=study.is_adaptive)
        finished.add(rows.filter(pc.invert(is_transient(rows))))
        self._before = len(finished)
        self._driver = Driver(
            layout=layout,
            lease=lease,
            start=self._start,
            interrupts=interrupts,
            deadline=None if study.wall_s is None else self._began + study.wall_s,
            report=self._report,
            finished=finished,
            committed=self._commits.add,
            hold_s=study.commit_every_s,
            messages=adoption.warnings,
        )

    def run(self) -> Outcome:
        """Run the sweep until it is answered or the session has to stop."""
        driver = self._driver
        planner = Planner(self._study, self._expansion)
        try:
            while driver.stopped is None and (plan := self._next_round(planner)) is not None:
                self._phase = "run"
                driver.drive(plan)
                self._round += 1
        except BaseException:
            self._commits.abandon()
            raise
        finally:
            driver.close()
            self._commits.finish(time.monotonic() - self._began)
            remove_orphans(self._layout)  # after merging, which has temporary files of this process
        driver.messages += self._commits.warnings
        unanswered: list[Issue] = []
        if driver.stopped is None:
            unanswered = self._write_answers(planner)
            self._generation.publish(self._head)
            self._generation.drop_earlier(self._head)
        write_progress(self._generation, self._progress_so_far(*measure_fragments(self._layout)))
        finished = driver.finished
        failed = int(finished.have_status(finished.find(self._planned), "failed").sum())
        done: SessionState = "failed_runs" if failed else "unanswered" if unanswered else "finished"
        return Outcome(
            path=self._layout.root,
            runs=self._reused + driver.executed,
            executed=driver.executed,
            reused=self._reused,
            shared=self._shared,
            failed=failed,
            seconds=time.monotonic() - self._began,
            executor=driver.executor_name,
            state=driver.stopped or done,
            messages=(*driver.messages, *unanswered),
        )

    def _next_round(self, planner: Planner) -> pa.Table | None:
        """Plan and write the next round; None when all is answered."""
        self._phase = "plan"
        self._report()
        finished = self._driver.finished
        plan = planner.next_round(finished.facts)
        if plan is None:
            self._later = NO_MORE
            return None
        self._later = planner.forecast()
        self._planned = pc.unique(pa.chunked_array([self._planned, pack_ids(plan["run_id"])]))
        self._write_round(plan)
        numbers = finished.find(self._planned)
        reused = numbers[(numbers >= 0) & (numbers < self._before)]
        missing = self._planned.filter(pa.array(numbers < 0))
        if self._may_have_exports and (len(missing) or not self._is_replay()):
            remove_exports(self._layout)
            self._may_have_exports = False
        self._take_over(missing)
        self._reused = len(reused) + self._shared
        self._failed_before = int(finished.have_status(reused, "failed").sum())
        self._record_progress()
        return plan

    def _take_over(self, missing: pa.Array) -> None:
        """Copy the rows of missing runs that other sweeps of the store have finished."""
        driver, before = self._driver, self._shared
        for rows in self._others.copy(missing, self._layout.fragments):
            driver.finished.add(rows)
            self._shared += rows.num_rows
            if driver.interrupts.is_draining or driver.lease.is_lost:
                break
        if self._shared > before:
            count = self._shared - before
            self._report(f"{count:,} of {len(self._planned):,} runs are in other sweeps of this store")

    def _keep_study(self) -> Head:
        """Return a head with the study alone; an equal study that is stored stays where it is."""
        kept = None if self._kept is None else self._kept.study
        return Head(self._generation.keep_or_write(kept, "study", ".yaml", self._study_text.encode()))

    def _write_round(self, table: pa.Table) -> None:
        """Write a round; publish it, unless the stored plan begins with the same rounds."""
        before = () if self._kept is None else self._kept.rounds
        kept = before[self._round] if self._round < len(before) else None
        stored = table if self._round else add_study(table, self._study_text)
        name = write_round(self._generation, kept, self._round, stored)
        self._head = replace(self._head, rounds=(*self._head.rounds, name), planned=len(self._planned))
        if not self._is_replay():
            self._generation.publish(self._head)
        elif self._round == 0 and self._kept is not None:
            # All of the stored plan, so that no reader sees less of it while it is replayed.
            self._generation.publish(self._kept)

    def _is_replay(self) -> bool:
        """Whether the rounds so far are the first ones of the stored plan of the same study."""
        rounds = self._head.rounds
        return (
            self._kept is not None
            and self._kept.study == self._head.study
            and self._kept.rounds[: len(rounds)] == rounds
        )

    def _write_answers(self, planner: Planner) -> list[Issue]:
        """Write the answers of a seek, and return a warning for each point without an answer."""
        self._phase = "answer"
        self._report()
        finished = self._driver.finished
        answers = certificates = found = None
        if (made := planner.tabulate_answers()) is not None:
            answers, certificates = write_answers(self._generation, self._kept, *made)
            found = made[1]
        tables = analyse_study(self._study, self._layout, self._head, found)
        tables |= planner.tabulate_analyses()
        analyses = write_analyses(self._generation, self._kept, tables)
        self._head = replace(
            self._head, answers=answers, certificates=certificates, analyses=analyses, finished=True
        )
        return planner.find_unanswered(finished)

    def _start(self) -> Executor:
        self._phase = "start"
        # On one machine, threads are as fast as Ray, which takes seconds to start.
        if self._executor == "ray" or (self._executor == "auto" and os.environ.get("RAY_ADDRESS")):
            self._report("starting Ray (takes a few seconds)")
            require("ray")
            from destage.sweeps.ray.executor import RayExecutor  # noqa: PLC0415 - ray takes seconds to import

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
        return RecordedProgress(
            len(self._planned),
            present,
            failed,
            len(self._head.rounds),
            fragments,
            size,
            later_runs=self._later.runs,
            later_runs_high=self._later.high,
        )

    def _record_progress(self) -> None:
        self._recorded_at, self._recorded = time.monotonic(), self._driver.executed
        write_progress(self._generation, self._progress_so_far())

    def _report(self, message: str | None = None) -> None:
        self._commits.update()
        elapsed = time.monotonic() - self._recorded_at
        has_doubled = self._driver.executed > 2 * self._recorded
        if elapsed > (_SOON_S if has_doubled else _RECORD_S):
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
        left = len(self._planned) - done
        self._progress(
            Progress(
                phase=self._phase,
                round=self._round,
                done=done,
                planned=len(self._planned),
                reused=self._reused,
                failed=driver.failed,
                rate=rate,
                eta_s=(left + self._later.runs) / rate if rate > 0 else None,
                message=message,
                eta_high_s=(left + self._later.high) / rate if rate > 0 and self._later.runs else None,
            )
        )
