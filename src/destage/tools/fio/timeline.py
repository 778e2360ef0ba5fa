"""Timeline of the jobs: start delays, run times, and groups that run one after the other (`stonewall`).

Jobs that start and end together need no times of their own. Groups are phases; only the last is measured, as
the others usually prepare its files.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from destage.errors import Issue
from destage.tools.fio.settings import Settings
from destage.tools.workload_parts import render_ns


@dataclass
class Timeline:
    """Timeline of the jobs.

    Attributes:
        times: `start`, `lasts` and `active` of each job's streams.
        warnings: What the author should check.
    """

    times: list[dict[str, Any]]
    phases: list[dict[str, Any]] = field(default_factory=list)
    run: dict[str, Any] = field(default_factory=dict)
    warnings: list[Issue] = field(default_factory=list)


def build_timeline(jobs: Sequence[Settings], issues: list[Issue]) -> Timeline:
    """Return the timeline; mistakes are added to `issues`."""
    line = Timeline(times=[{} for _ in jobs])
    groups: list[list[int]] = []
    for index, job in enumerate(jobs):
        if not groups or job.is_stonewalled:
            groups.append([])
        groups[-1].append(index)
    if len(groups) == 1:
        _run_together(line, jobs)
    else:
        _run_in_turn(line, jobs, groups, issues)
    return line


def _run_together(line: Timeline, jobs: Sequence[Settings]) -> None:
    durations = {_duration(job) for job in jobs}
    if len(durations) == 1 and all(job.start == (0, 0) for job in jobs):
        ramp = max(job.ramp_time for job in jobs)
        if ramp:
            line.run["warm_up"] = {"duration": render_ns(ramp)}
        if jobs[0].runtime is not None:
            line.run["window"] = {"duration": render_ns(jobs[0].runtime)}
        return
    for times, job in zip(line.times, jobs, strict=True):
        times.update(_own_times(job))
    line.run["warm_up"] = "none"
    ends = [job.start[1] + duration for job in jobs if (duration := _duration(job)) is not None]
    if len(ends) == len(jobs):
        line.run["window"] = {"duration": render_ns(max(ends))}
    else:
        message = "the load changes over time and a job has no runtime; set it to the period to measure"
        line.warnings.append(Issue("fio.missing-window", "run.window", f"missing: {message}"))


def _run_in_turn(
    line: Timeline, jobs: Sequence[Settings], groups: list[list[int]], issues: list[Issue]
) -> None:
    for number, group in enumerate(groups, 1):
        name = f"{number} {jobs[group[0]].name}"
        ramp = max(jobs[index].ramp_time for index in group)
        lasts = 0
        for index in group:
            job = jobs[index]
            message = "needs runtime, which determines when the jobs after a stonewall start"
            if job.iolog is not None:
                message = "stonewall and read_iolog exclude each other"
            if job.runtime is None or job.iolog is not None:
                issues.append(Issue("fio.bad-stonewall", job.place, message))
            lasts = max(lasts, job.start[1] + job.ramp_time + (job.runtime or 0))
        phases = [name]
        if ramp and lasts > ramp:
            phases = [f"{name} ramp", name]
            line.phases.append({"name": phases[0], "lasts": render_ns(ramp)})
        line.phases.append({"name": name, "lasts": render_ns(lasts - (ramp if len(phases) > 1 else 0))})
        for index in group:
            line.times[index]["active"] = [{"phase": phase} for phase in phases]
            if len(group) > 1:
                line.times[index].update(_own_times(jobs[index]))
    line.run["window"] = {"phase": line.phases[-1]["name"]}
    names = ", ".join(repr(phase["name"]) for phase in line.phases)
    message = f"measures only the last group of jobs; phases: {names}"
    line.warnings.append(Issue("fio.last-group-measured", "run.window", message))


def _own_times(job: Settings) -> dict[str, Any]:
    times: dict[str, Any] = {}
    low, high = job.start
    if high:
        times["start"] = {"after": render_ns(low)} | ({"spread": render_ns(high - low)} if high > low else {})
    duration = _duration(job)
    # The log determines the duration of its replay.
    if duration is not None and job.iolog is None:
        times["lasts"] = render_ns(duration)
    return times


def _duration(job: Settings) -> int | None:
    return None if job.runtime is None else job.ramp_time + job.runtime
