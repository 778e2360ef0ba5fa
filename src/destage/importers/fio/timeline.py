"""When jobs run: start delays, run times, and groups of jobs that wait for each other (`stonewall`).

Jobs that begin and end together need no times of their own. Groups are phases; the last is what is measured,
as those before it commonly prepare what it needs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from destage.errors import Issue
from destage.importers.fio.settings import Settings
from destage.spec import quantities


@dataclass
class Timeline:
    """When jobs run.

    Attributes:
        phases: The value of `workload.phases`.
        times: What each job's streams have of `start`, `lasts` and `active`.
        run: The value of `run`.
        notes: What became of the options, for each job.
        warnings: What the author must see to.
    """

    times: list[dict[str, Any]]
    notes: list[list[str]]
    phases: list[dict[str, Any]] = field(default_factory=list)
    run: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def arrange(jobs: Sequence[Settings], issues: list[Issue]) -> Timeline:
    """Return when each job runs."""
    line = Timeline(times=[{} for _ in jobs], notes=[_notes(job) for job in jobs])
    groups: list[list[int]] = []
    for index, job in enumerate(jobs):
        if not groups or job.is_stonewalled:
            groups.append([])
        groups[-1].append(index)
    if len(groups) == 1:
        _together(line, jobs)
    else:
        _in_turn(line, jobs, groups, issues)
    return line


def _together(line: Timeline, jobs: Sequence[Settings]) -> None:
    durations = {_duration(job) for job in jobs}
    if len(durations) == 1 and all(job.start == (0, 0) for job in jobs):
        ramp = max(job.ramp_time for job in jobs)
        if ramp:
            line.run["warm_up"] = {"duration": _text(ramp)}
        if jobs[0].runtime is not None:
            line.run["window"] = {"duration": _text(jobs[0].runtime)}
        return
    for times, job in zip(line.times, jobs, strict=True):
        times.update(_own_times(job))
    line.run["warm_up"] = "none"
    ends = [job.start[1] + duration for job in jobs if (duration := _duration(job)) is not None]
    if len(ends) == len(jobs):
        line.run["window"] = {"duration": _text(max(ends))}
    else:
        line.warnings.append(
            "The load changes in time and a job has no runtime: say with run.window what is measured."
        )


def _in_turn(line: Timeline, jobs: Sequence[Settings], groups: list[list[int]], issues: list[Issue]) -> None:
    for number, group in enumerate(groups, 1):
        name = f"{number} {jobs[group[0]].job.name}"
        ramp = max(jobs[index].ramp_time for index in group)
        lasts = 0
        for index in group:
            job = jobs[index]
            message = "needs runtime, which determines when the jobs after a stonewall start"
            if job.iolog is not None:
                message = "stonewall and read_iolog exclude each other"
            if job.runtime is None or job.iolog is not None:
                issues.append(Issue("fio.bad-stonewall", job.job.place, message))
            lasts = max(lasts, job.start[1] + job.ramp_time + (job.runtime or 0))
        phases = [name]
        if ramp and lasts > ramp:
            phases = [f"{name} ramp", name]
            line.phases.append({"name": phases[0], "lasts": _text(ramp)})
        line.phases.append({"name": name, "lasts": _text(lasts - (ramp if len(phases) > 1 else 0))})
        for index in group:
            line.times[index]["active"] = [{"phase": phase} for phase in phases]
            if len(group) > 1:
                line.times[index].update(_own_times(jobs[index]))
    line.run["window"] = {"phase": line.phases[-1]["name"]}
    names = ", ".join(repr(phase["name"]) for phase in line.phases)
    line.warnings.append(f"run.window measures the last group of jobs alone; the phases are {names}.")


def _own_times(job: Settings) -> dict[str, Any]:
    times: dict[str, Any] = {}
    low, high = job.start
    if high:
        times["start"] = {"after": _text(low)} | ({"spread": _text(high - low)} if high > low else {})
    duration = _duration(job)
    # A log lasts as long as it does.
    if duration is not None and job.iolog is None:
        times["lasts"] = _text(duration)
    return times


def _duration(job: Settings) -> int | None:
    return None if job.runtime is None else job.ramp_time + job.runtime


def _notes(job: Settings) -> list[str]:
    meanings = {
        "runtime": "how long it runs"
        + (
            ""
            if "time_based" in job.job.options
            else "; without time_based fio ends earlier when all is done"
        ),
        "time_based": "the load goes on until the end",
        "ramp_time": "runs before what is measured",
        "startdelay": "the start of the stream",
        "stonewall": "a phase of its own",
    }
    given = job.job.options
    return [f"{given[name]}: {meaning}" for name, meaning in meanings.items() if name in given]


def _text(time: int) -> str:
    return quantities.render(time, "ns")
