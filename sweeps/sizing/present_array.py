"""An array with its present load, the loads that are added to it, and the studies of whether it carries them.

Each question is a search for the smallest number of disks, whose replicates decide together: of the present
number alone for the array and its changes, of more disks for the change that adds some.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from destage import engine
from destage.errors import ConfigError, Issue
from destage.spec.axis_names import MINIMIZE
from destage.spec.objective import DURING_REBUILD, NORMAL
from destage.sweeps.keys.prices import DISK
from destage.sweeps.sizing.failure_states import (
    RebuildWindow,
    choose_window,
    is_always_in,
    make_failed_scenario,
)
from destage.sweeps.sizing.growing_load import make_growing
from destage.sweeps.sizing.request import DISKS, list_phases
from destage.sweeps.sizing.shared_load import share_array
from destage.sweeps.sizing.single_changes import Change
from destage.sweeps.sizing.sizing_studies import FURTHEST, parse_written, write_capacities
from destage.sweeps.sizing.stored_data import HELD
from destage.sweeps.space import parameters
from destage.sweeps.study.users import USERS, has_trace, list_streams
from destage.sweeps.study.valid_study import Study

_REPLICATES = {"min": 3, "max": 12}
_RUN: Mapping[str, Any] = {"warm_up": "auto", "window": "auto"}
_TRACE_RUN: Mapping[str, Any] = {"warm_up": "none", "window": "auto"}
_CONTROLLER = "controller"
_OF_DISKS = {"disk_fails", "rebuild_starts"}
"""The kinds of faults of disks."""


@dataclass(frozen=True, slots=True)
class PresentArray:
    """What is asked of an array.

    Attributes:
        scenario: The configuration of the array with its present load, without `use` in its workload.
        added: The loads that are added, as workloads.
        name: The name of the question in the names of studies.
        objectives: The objectives, such as `response_p95 <= 30ms`.
        most: The most disks considered.
        phase: The phase that is measured; None for the first, if the load has phases.
        remarks: Sentences on what the loads assume.
        kept: The data that the array must hold after a change [bytes]; None for its usable capacity.
        failures: The objectives in states of failure (`failure_states`), by state.
        state: The state that is asked about, whose objectives are in `objectives`.
    """

    scenario: Mapping[str, Any]
    added: Sequence[Mapping[str, Any]]
    name: str
    objectives: Sequence[str]
    most: int
    phase: str | None = None
    remarks: Sequence[str] = ()
    kept: int | None = None
    failures: Mapping[str, Sequence[str]] = field(default_factory=dict)
    state: str = NORMAL

    @property
    def disks(self) -> int:
        """The number of disks of the array."""
        return int(str(parameters.read(self.scenario, DISKS)))

    @property
    def disk(self) -> str:
        """The name of its disks; empty if they have none."""
        return str(parameters.read(self.scenario, DISK) or "")

    @property
    def usable_bytes(self) -> int:
        """The size of the data that the array can hold [bytes]."""
        return self.measure_usable({})

    @property
    def kept_bytes(self) -> int:
        """The size of the data that it must hold after a change [bytes]."""
        return self.usable_bytes if self.kept is None else self.kept

    def list_states(self) -> list["PresentArray"]:
        """Return the question in normal operation and in each state of failure that has objectives.

        Raises:
            ConfigError: There is one for a rebuild, and the configuration has disks fail anyway.
        """
        kinds = {fault["kind"] for fault in self.scenario.get("faults", ())}
        has_failed = parameters.read(self.scenario, "array.failed_disks") or kinds & _OF_DISKS
        if DURING_REBUILD in self.failures and has_failed:
            message = (
                "disks of the array fail anyway, as it states `failed_disks` or `faults`: leave these out"
            )
            raise ConfigError([Issue("study.no-effect", DURING_REBUILD, message)])
        failed = [
            replace(self, state=state, objectives=texts, name=f"{self.name}-{state.replace('_', '-')}")
            for state, texts in self.failures.items()
        ]
        return [self, *failed]

    def is_always(self, scenario: Mapping[str, Any], assignments: Mapping[str, Any]) -> bool:
        """Return whether a configuration with some fields assigned is always in the state."""
        return is_always_in(_assign(scenario, assignments), self.state)

    def measure_usable(self, assignments: Mapping[str, Any]) -> int:
        """Return the size of the data that the array can hold with some fields assigned [bytes]."""
        scenario = _assign(self.scenario, assignments)
        return engine.usable_capacity(scenario["array"] if "array" in scenario else scenario["arrays"][0])

    def is_large_enough(self, assignments: Mapping[str, Any]) -> bool:
        """Return whether the array holds what it must with some fields assigned."""
        return self.measure_usable(assignments) >= self.kept_bytes * HELD

    def share(self) -> tuple[dict[str, Any], list[str]]:
        """Return the configuration with all loads, and sentences on what that assumes.

        Raises:
            ConfigError: The array does not hold the data of all, or the loads cannot run together.
        """
        workload: Mapping[str, Any] = self.scenario["workload"]
        remarks: list[str] = []
        for added in self.added:
            shared = share_array(workload, added, self.usable_bytes)
            workload = shared.workload
            remarks += shared.remarks
        return self._measure({**copy.deepcopy(dict(self.scenario)), "workload": workload}), remarks

    def _measure(self, scenario: Mapping[str, Any]) -> dict[str, Any]:
        """Return a configuration with the window of a sizing, unless it has its own."""
        workload = scenario["workload"]
        run = dict(_TRACE_RUN if has_trace(list_streams(workload)) else _RUN)
        if phases := list_phases(workload):
            run["window"] = {"phase": self.phase or phases[0]}
        return {**copy.deepcopy(dict(scenario)), "run": {**run, **scenario.get("run", {})}}

    def make_today(self) -> Study:
        """Return the study of the present load."""
        question = "Does the array carry its present load?"
        return self._make("today", question, self._measure(self.scenario), (self.disks, self.disks))

    def make_added(self, shared: Mapping[str, Any]) -> Study:
        """Return the study of all loads on the present array.

        Args:
            shared: The configuration with all loads.
        """
        question = "Does the array carry its present load with the addition?"
        return self._make("with", question, shared, (self.disks, self.disks))

    def make_more_disks(self, shared: Mapping[str, Any], least: int = 0) -> Study | None:
        """Return the search for the fewest further disks; None if the array can have none.

        Args:
            least: The fewest disks that are tried.
        """
        first = max(least, self.disks + 1)
        counts = [count for count in range(first, self.most + 1) if is_valid(shared, {DISKS: count})]
        if not counts:
            return None
        question = "How many disks does the array need for both loads?"
        return self._make("disks", question, shared, (counts[0], counts[-1]))

    def make_changes(self, shared: Mapping[str, Any], changes: Sequence[Change]) -> Study:
        """Return the study of changes with the present number of disks.

        Args:
            changes: Those that are valid; at least one.
        """
        points = [{"label": change.label, **self._fail_parts(change.assignments)} for change in changes]
        question = "Which change of the array makes it carry both loads?"
        return self._make("changes", question, shared, (self.disks, self.disks), points)

    def make_capacities(
        self, shared: Mapping[str, Any], arrays: Mapping[str, Mapping[str, Any]]
    ) -> Study | None:
        """Return the search for the most of all loads that arrays carry; None if the loads cannot grow.

        Its answers are numbers of users, of which all loads have those of its scenario.

        Args:
            shared: The configuration with all loads.
            arrays: What each array assigns, by its label.
        """
        workload = make_growing(shared["workload"])
        if workload is None:
            return None
        scenario = {**shared, "workload": workload}
        users = most = workload["users"]
        # The data of each user's own have to fit, too.
        for factor in range(2, FURTHEST + 1):
            if all(is_valid(scenario, {**array, USERS: factor * users}) for array in arrays.values()):
                most = factor * users
        points = [{"label": label, **assignments} for label, assignments in arrays.items()]
        return write_capacities(f"{self.name}-most", scenario, self.objectives, points, most=most)

    def _make(
        self,
        part: str,
        question: str,
        scenario: Mapping[str, Any],
        counts: tuple[int, int],
        points: Sequence[Mapping[str, Any]] = (),
    ) -> Study:
        seek = {MINIMIZE: DISKS, "subject_to": list(self.objectives), "min": counts[0], "max": counts[1]}
        window = RebuildWindow()
        if self.state == DURING_REBUILD:
            window = choose_window(scenario, is_stated="window" in self.scenario.get("run", {}))
        document = {
            "name": f"{self.name}-{part}",
            "question": question,
            "scenario": make_failed_scenario(scenario, self.state, window),
            "seek": seek,
            "replicates": _REPLICATES,
            **({"points": list(points)} if points else {}),
        }
        return parse_written(document)

    def _fail_parts(self, assignments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a change assigns, in the state: the battery of another controller is dead, too."""
        if _CONTROLLER not in assignments:
            return assignments
        replaced = {_CONTROLLER: assignments[_CONTROLLER]}
        return {**assignments, _CONTROLLER: make_failed_scenario(replaced, self.state)[_CONTROLLER]}


def is_valid(scenario: Mapping[str, Any], assignments: Mapping[str, Any]) -> bool:
    """Return whether a configuration is valid with some fields assigned, by dotted path."""
    try:
        engine.assemble(_assign(scenario, assignments))
    except ConfigError:
        return False
    return True


def _assign(scenario: Mapping[str, Any], assignments: Mapping[str, Any]) -> dict[str, Any]:
    changed = copy.deepcopy(dict(scenario))
    for path, value in assignments.items():
        parameters.assign(changed, path, value)
    return changed
