"""Sizing for states of failure: the cheapest configuration that meets its objectives in all of them.

The arrays that meet the objectives in normal operation are examined in the order of their prices. One that
fails in a state comes back with the fewest disks that meet the objectives there, at its new price, and is
examined in every state with these. One that more disks do not help is excluded. As soon as an array that was
not found yet might be cheaper, the search in normal operation goes on and finds twice as many.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from destage.errors import ConfigError, Issue
from destage.queries import open_session
from destage.queries.findings.candidates import (
    DISKS,
    MORE_EXPENSIVE,
    REBUILD_ENDED,
    Candidate,
    list_candidates,
    list_judged,
)
from destage.queries.findings.caveats import describe_state_error, find_error
from destage.queries.findings.sizing_text import Sized
from destage.queries.text.shown_results import name_state
from destage.spec.objective import DURING_REBUILD, NORMAL
from destage.sweeps import Outcome, Study
from destage.sweeps.sizing.failure_states import (
    UNPROTECTED,
    choose_window_of,
    is_always_in,
    make_state_search,
)
from destage.sweeps.sizing.families import Outclassed
from destage.sweeps.sizing.request import SizingRequest, make_scenario, narrow
from destage.sweeps.sizing.sizing_studies import FOUND, list_outclassed

if TYPE_CHECKING:
    from destage.measured_systems.model_error import ModelError

Run = Callable[[Study], Outcome]
Find = Callable[[SizingRequest, Run], Sized]
Describe = Callable[[SizingRequest, Sized, Run], Sized]


def find_affordable(request: SizingRequest, run: Run, find: Find, describe: Describe) -> Sized:
    """Return the cheapest configurations within the price limit; if there are none, the cheapest beyond.

    Arguments and errors as in `find_cheapest_in_failures`.
    """
    sized = find_cheapest_in_failures(request, run, find, describe)
    if sized.carrying or sized.reason is not None or request.max_price is None:
        return sized
    unlimited = find_cheapest_in_failures(replace(request, max_price=None), run, find, describe)
    return replace(sized, beyond=next(iter(unlimited.carrying), None))


def find_cheapest_in_failures(request: SizingRequest, run: Run, find: Find, describe: Describe) -> Sized:
    """Return the cheapest configurations that meet the objectives in normal operation and in each state.

    Args:
        find: Finds the cheapest configurations in normal operation.
        describe: Describes the first one in normal operation.

    Raises:
        ConfigError: As `find` does, or no run of a state measures what an objective of it bounds.
    """
    if not request.failures:
        return describe(request, find(request, run), run)
    normal, remarks = replace(request, failures={}), []
    if DURING_REBUILD in request.failures and UNPROTECTED in request.raid:
        why = "it has no redundancy, so that a failed disk cannot be rebuilt"
        levels = [level for level in request.raid if level != UNPROTECTED]
        if not levels:
            currency = request.prices["currency"]
            return Sized((), FOUND, 0, None, currency, reason=f"only RAID 0 was asked for; {why}")
        normal, remarks = replace(normal, raid=levels), [f"RAID 0 is left out: {why}."]
    sized = find(normal, run)
    if not sized.carrying:
        sized = describe(normal, sized, run)
        return replace(sized, remarks=[*sized.remarks, *remarks])
    search = _FailureSearch(replace(normal, failures=request.failures), run, sized)
    met = search.find()
    if not met:
        search.check_measured()
    if not met or _describe(met[0]) == _describe(sized.carrying[0]):
        sized = describe(normal, sized, run)
    if met and not _is_described(sized, met[0]):
        alone = replace(narrow(normal, met[0].parts), fewest=met[0].disks or normal.fewest)
        sized = describe(alone, find(alone, run), run)
    remarks = [*sized.remarks, *(search.list_remarks(met[0]) if met else ()), *remarks]
    return replace(
        search.sized,
        candidates=[*met, *search.rest],
        battery=sized.battery if met else None,
        assured=sized.assured if met else None,
        held=sized.held if met else None,
        by_destages=sized.by_destages if met else {},
        remarks=remarks,
    )


class _FailureSearch:
    """The search for the arrays that meet the objectives in normal operation and in states of failure.

    Attributes:
        sized: What was found in normal operation.
        rest: The families that are not among the cheapest arrays, and what rules them out.
    """

    def __init__(self, request: SizingRequest, run: Run, sized: Sized) -> None:
        self.sized = sized
        self.rest: list[Candidate] = []
        self._request = request
        self._run = run
        self._errors: dict[tuple[str, ...], ModelError | str | None] = {}
        self._window = choose_window_of(request, _describe(sized.carrying[0]))

    def find(self) -> list[Candidate]:
        """Return the cheapest arrays that meet all objectives, the cheapest first."""
        met: list[Candidate] = []
        wanted = FOUND
        open_arrays, unknown, limit = self._divide(self.sized.candidates, wanted)
        while len(met) < FOUND:
            open_arrays.sort(key=_price)
            if open_arrays and (not unknown or _price(open_arrays[0]) <= limit):
                array = open_arrays.pop(0)
                state = self._find_next_state(array)
                if state is None:
                    met.append(array)
                    continue
                examined = self._examine(array, state)
                (self.rest if examined.disks is None else open_arrays).append(examined)
            elif unknown and limit < math.inf:
                unknown = self._leave_out(unknown)
                if not unknown:
                    continue
                wanted *= 2
                study = self._make(NORMAL, [family.parts for family in unknown], found=wanted)
                with open_session(self._run(study).path) as session:
                    more = list_candidates(session, study.found_seek.objectives)
                carrying, unknown, limit = self._divide(more, wanted)
                open_arrays += carrying
            else:
                break
        self.rest += [
            replace(array, disks=None, price=None, censored=MORE_EXPENSIVE, measured=(), states=())
            for array in open_arrays
        ]
        self.rest += unknown
        return met

    def check_measured(self) -> None:
        """Raise an error if a state has no value for an objective."""
        for array in self.rest:
            if array.states and array.verdict == "not_measured":
                objective = (array.binding or "").partition(" (")[0]
                message = "no run measures this result"
                raise ConfigError([Issue("study.not-measured", array.states[-1].state, message, objective)])

    def list_remarks(self, array: Candidate) -> list[str]:
        """Return sentences on the model's error in the states that an array was examined in."""
        remarks = []
        for result in array.states:
            error = self._errors[*array.parts.values(), result.state]
            remarks += describe_state_error(result.state, error, is_always=result.is_always)
        return remarks

    def _divide(
        self, found: Sequence[Candidate], wanted: int
    ) -> tuple[list[Candidate], list[Candidate], float]:
        """Return the arrays of a search, the families that may be carrying at a price, and that price.

        The families that do not carry it are added to the rest.

        Args:
            wanted: The number of cheapest arrays that the search was to find.
        """
        carrying = [one for one in found if one.disks is not None and one.price is not None]
        unknown = [one for one in found if one.censored == MORE_EXPENSIVE]
        self.rest += [one for one in found if one not in carrying and one not in unknown]
        # A search that finds fewer has ruled out all others, up to the budget.
        limit = _price(carrying[wanted - 1]) if len(carrying) >= wanted else math.inf
        return carrying, unknown, limit

    def _leave_out(self, families: Sequence[Candidate]) -> list[Candidate]:
        """Return the families that are not far from the objectives of a state; others join the rest."""
        left = list(families)
        for state in self._request.failures:
            study = self._make(state, [one.parts for one in left]) if left else None
            for missed in () if study is None else list_outclassed(study):
                (array,) = (one for one in left if one.parts == missed.family)
                left.remove(array)
                self.rest.append(_exclude(array, missed, state))
        return left

    def _find_next_state(self, array: Candidate) -> str | None:
        """Return a state in which an array is still to be examined with its number of disks."""
        examined = {result.state for result in array.states} | ({NORMAL} if array.measured else set())
        return next((state for state in (*self._request.failures, NORMAL) if state not in examined), None)

    def _examine(self, array: Candidate, state: str) -> Candidate:
        """Return an array after a search in a state: with more disks if it needs them, None if it fails."""
        study = self._make(state, [array.parts], least=array.disks)
        objectives = study.found_seek.objectives
        with open_session(self._run(study).path) as session:
            (found,) = list_candidates(session, objectives)
            (judged,) = list_judged(session, objectives, state)
            error = find_error(session)
        if state == NORMAL:
            same = replace(array, measured=found.measured, limiting=found.limiting, use=found.use)
            return same if found.disks == array.disks else found
        if judged.verdict == REBUILD_ENDED:
            found = replace(found, disks=None, verdict=REBUILD_ENDED)
        healthy = make_scenario(self._request, {**array.parts, DISKS: judged.disks})
        result = replace(judged, is_always=is_always_in(healthy, state))
        self._errors[*array.parts.values(), state] = error
        if found.disks == array.disks:
            return replace(array, states=(*array.states, result))
        others = () if result.is_met else array.states
        price = found.price if result.is_met else None
        binding = f"{found.binding} ({name_state(state)})"
        nothing = replace(found, price=price, binding=binding, measured=(), limiting=None, use=None)
        return replace(nothing, states=(*others, result))

    def _make(
        self,
        state: str,
        families: Sequence[Mapping[str, Any]],
        *,
        least: int | None = None,
        found: int = 1,
    ) -> Study:
        fewest = self._request.fewest if least is None else least
        return make_state_search(
            self._request, state, families, window=self._window, least=fewest, found=found
        )


def _exclude(array: Candidate, missed: Outclassed, state: str) -> Candidate:
    """Return a family that is far from meeting the objectives of a state with the most disks."""
    binding = "overloaded" if missed.objective is None else missed.objective.text
    return replace(
        array,
        disks=None,
        price=None,
        failing=missed.disks,
        verdict="misses",
        censored="above",
        binding=f"{binding} ({name_state(state)})",
        measured=(),
    )


def _is_described(sized: Sized, array: Candidate) -> bool:
    """Return whether an array is described, and what is sized for the model's error has its parts.

    Only an array of these parts was examined in all states.
    """
    return sized.held is not None and (sized.assured is None or sized.assured.parts == array.parts)


def _describe(array: Candidate) -> dict[str, Any]:
    return {**array.parts, DISKS: array.disks}


def _price(array: Candidate) -> float:
    return math.inf if array.price is None else array.price
