"""One session of a sweep: replays the planning rounds in the store, and continues to the answers."""

import os
import time
from dataclasses import dataclass, replace
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
from destage.store.opened.recorded_progress import measure_fragments
from destage.store.state.answers import write_analyses, write_answers
from destage.store.state.head import Head, claim_generation, find_head
from destage.store.state.plan import add_study, write_round
from destage.store.state.removal import remove_exports
from destage.sweeps.execution.analyses import analyse_study
from destage.sweeps.execution.driver import Driver, Interrupts, SessionEnd
from destage.sweeps.execution.outcomes import Outcome, SessionState
from destage.sweeps.execution.progress_report import ProgressCallback, ProgressReport
from destage.sweeps.execution.shared_runs import SharedRuns
from destage.sweeps.points.point import Expansion
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.forecast import NO_MORE
from destage.sweeps.rounds.planner import Planner, list_needed_columns
from destage.sweeps.space.identity import as_ids, pack_ids
from destage.sweeps.study.valid_study import Study
from destage.sweeps.workers.executors import Executor, InlineExecutor, count_processors

ExecutorName = Literal["auto", "ray", "inline"]


@dataclass(frozen=True, slots=True)
class ExecutorChoice:
    """Where the runs of a session are executed.

    Attributes:
        workers: How many runs at a time; None for one per processor.
    """

    name: ExecutorName = "auto"
    workers: int | None = None

    @property
    def is_ray(self) -> bool:
        """Whether Ray executes them: on one machine, threads are as fast, and Ray takes seconds to start."""
        return self.name == "ray" or (self.name == "auto" and bool(os.environ.get("RAY_ADDRESS")))


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
        executor: ExecutorChoice,
        progress: ProgressCallback | None,
    ) -> None:
        self._began = time.monotonic()
        self._study = study
        self._layout = layout
        self._executor = executor
        self._columns = list_needed_columns(study)
        self._planner = Planner(study, expansion)
        self._planned = as_ids(b"")
        self._others = SharedRuns(layout.root)
        self._shared = 0
        self._writer = SweepWriter(study, layout)
        self._report = ProgressReport(self._writer.generation, progress)
        adoption = adopt_fragments(layout, self._columns)
        rows = adoption.collect(rows_schema(self._columns))
        self._commits = Commits(self._writer.generation, lease, self._columns, adoption)
        finished = FinishedRuns(self._columns, keeps_facts=study.is_adaptive)
        finished.add(rows.filter(pc.invert(is_transient(rows))))
        self._before = len(finished)
        deadline = None if study.wall_s is None else self._began + study.wall_s
        self._driver = Driver(
            fragments=layout.fragments,
            ends=SessionEnd(str(layout.root), lease, interrupts, deadline),
            start=self._start,
            report=self._update,
            finished=finished,
            committed=self._commits.add,
            hold_s=study.commit_every_s,
            messages=adoption.warnings,
        )

    def run(self) -> Outcome:
        """Run the sweep until it is answered or the session has to stop."""
        driver, report = self._driver, self._report
        try:
            while driver.stopped is None and (plan := self._next_round()) is not None:
                report.phase = "run"
                driver.drive(plan)
                report.round += 1
        except BaseException:
            self._commits.abandon()
            raise
        finally:
            driver.close()
            self._commits.finish(time.monotonic() - self._began)
            remove_orphans(self._layout)  # after merging, which has temporary files of this process
        driver.messages += self._commits.warnings
        unanswered = self._answer() if driver.stopped is None else []
        report.record(driver, *measure_fragments(self._layout))
        finished = driver.finished
        failed = int(finished.have_status(finished.find(self._planned), "failed").sum())
        done: SessionState = "failed_runs" if failed else "unanswered" if unanswered else "finished"
        return Outcome(
            path=self._layout.root,
            runs=report.reused + driver.executed,
            executed=driver.executed,
            reused=report.reused,
            shared=self._shared,
            failed=failed,
            seconds=time.monotonic() - self._began,
            executor=driver.executor_name,
            state=driver.stopped or done,
            messages=(*driver.messages, *unanswered),
            was_signalled=driver.ends.interrupts.is_draining,
        )

    def _next_round(self) -> pa.Table | None:
        """Plan and write the next round; None when all is answered."""
        report, finished = self._report, self._driver.finished
        report.phase = "plan"
        self._update()
        plan = self._planner.next_round(finished.facts)
        if plan is None:
            report.later = NO_MORE
            return None
        report.later = self._planner.forecast()
        self._planned = pc.unique(pa.chunked_array([self._planned, pack_ids(plan["run_id"])]))
        report.planned = len(self._planned)
        self._writer.write_round(plan, report.planned)
        report.rounds = len(self._writer.head.rounds)
        numbers = finished.find(self._planned)
        reused = numbers[(numbers >= 0) & (numbers < self._before)]
        missing = self._planned.filter(pa.array(numbers < 0))
        self._writer.remove_exports(has_new_runs=len(missing) > 0)
        self._take_over(missing)
        report.reused = len(reused) + self._shared
        report.failed_before = int(finished.have_status(reused, "failed").sum())
        report.record(self._driver)
        return plan

    def _answer(self) -> list[Issue]:
        """Write the answers after the last round, and return a warning for each point without one."""
        self._report.phase = "answer"
        self._update()
        self._writer.finish(self._planner)
        return self._planner.find_unanswered(self._driver.finished)

    def _take_over(self, missing: pa.Array) -> None:
        """Copy the rows of missing runs that other sweeps of the store have finished."""
        driver, before = self._driver, self._shared
        for rows in self._others.copy(missing, self._layout.fragments):
            driver.finished.add(rows)
            self._shared += rows.num_rows
            if driver.ends.interrupts.is_draining or driver.ends.lease.is_lost:
                break
        if self._shared > before:
            count = self._shared - before
            self._update(f"{count:,} of {len(self._planned):,} runs are in other sweeps of this store")

    def _start(self) -> Executor:
        self._report.phase = "start"
        workers, fragments = self._executor.workers, self._layout.fragments
        if self._executor.is_ray:
            self._update("starting Ray (takes a few seconds)")
            require("ray")
            from destage.sweeps.ray.executor import RayExecutor  # noqa: PLC0415 - ray takes seconds to import

            executor: Executor = RayExecutor(
                workers,
                fragments,
                self._columns,
                timeout_s=self._study.timeout_s,
                on_start=self._driver.ends.interrupts.install,  # Ray replaces the handlers
            )
        else:
            executor = InlineExecutor(
                workers or count_processors(), fragments, self._columns, timeout_s=self._study.timeout_s
            )
        self._report.start()
        self._update()
        return executor

    def _update(self, message: str | None = None) -> None:
        self._commits.update()
        self._report.update(self._driver, message)


class SweepWriter:
    """Writes a sweep anew, and keeps each stored file that comes out the same.

    Attributes:
        generation: The generation of the files that are written.
        head: The head so far.
    """

    def __init__(self, study: Study, layout: SweepLayout) -> None:
        self._study = study
        self._layout = layout
        self.generation = claim_generation(layout)
        earlier = find_head(layout, past_damage=True)
        self._kept = None if earlier is None else earlier[1]
        self._may_have_exports = earlier is not None
        self._text = study.stored_text
        kept = None if self._kept is None else self._kept.study
        self.head = Head(self.generation.keep_or_write(kept, "study", ".yaml", self._text.encode()))

    @property
    def is_replay(self) -> bool:
        """Whether the rounds so far are the first ones of the stored plan of the same study."""
        rounds = self.head.rounds
        return (
            self._kept is not None
            and self._kept.study == self.head.study
            and self._kept.rounds[: len(rounds)] == rounds
        )

    def write_round(self, table: pa.Table, planned: int) -> None:
        """Write the next round; publish it, unless the stored plan begins with the same rounds.

        Args:
            planned: The runs of all rounds so far.
        """
        number = len(self.head.rounds)
        before = () if self._kept is None else self._kept.rounds
        kept = before[number] if number < len(before) else None
        stored = table if number else add_study(table, self._text)
        name = write_round(self.generation, kept, number, stored)
        self.head = replace(self.head, rounds=(*self.head.rounds, name), planned=planned)
        if not self.is_replay:
            self.generation.publish(self.head)
        elif number == 0 and self._kept is not None:
            # All of the stored plan, so that no reader sees less of it while it is replayed.
            self.generation.publish(self._kept)

    def remove_exports(self, *, has_new_runs: bool) -> None:
        """Remove the exports of the stored sweep, unless the session has not changed it so far."""
        if self._may_have_exports and (has_new_runs or not self.is_replay):
            remove_exports(self._layout)
            self._may_have_exports = False

    def finish(self, planner: Planner) -> None:
        """Write the answers and analyses after the last round, and publish the finished sweep."""
        names: tuple[str | None, str | None] = (None, None)
        certificates = None
        if (tables := planner.tabulate_answers()) is not None:
            names = write_answers(self.generation, self._kept, *tables)
            certificates = tables[1]
        analyses = dict[str, pa.Table]()
        if self._study.has_sensitivity:
            analyses |= analyse_study(self._study, self._layout, self.head, certificates)
        analyses |= planner.tabulate_analyses()
        self.head = replace(
            self.head,
            answers=names[0],
            certificates=names[1],
            analyses=write_analyses(self.generation, self._kept, analyses),
            finished=True,
        )
        self.generation.publish(self.head)
        self.generation.drop_earlier(self.head)
