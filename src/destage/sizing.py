"""Sizing: runs the sweeps behind `destage size`, and reads what they have found."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from destage.engine import normalise
from destage.engine.workload_description import describe_assumed_localities
from destage.errors import ConfigError, Issue
from destage.measured_systems.model_error import ModelError
from destage.queries import open_session
from destage.queries.findings.candidates import (
    DISKS,
    Candidate,
    find_battery_case,
    find_destages,
    list_candidates,
)
from destage.queries.findings.caveats import (
    describe_error,
    describe_run_error,
    find_error_of_cheapest,
    list_model_errors,
    list_point_errors,
)
from destage.queries.findings.ranged_text import RangedCandidate, RangedSizing
from destage.queries.findings.sizing_reasons import (
    describe_not_built,
    describe_outclassed,
    describe_too_small,
    describe_unreachable,
)
from destage.queries.findings.sizing_text import Assured, Held, Sized
from destage.spec.objective import DURING_REBUILD, NORMAL
from destage.sweeps import Outcome, Study
from destage.sweeps.calibration.measured_study import DESTAGE_DEPTH
from destage.sweeps.keys.objectives import parse_objective
from destage.sweeps.seek.smallest_search import FAR
from destage.sweeps.sizing import sizing_studies
from destage.sweeps.sizing.failure_states import choose_window_of, make_capacities
from destage.sweeps.sizing.families import Outclassed, find_too_small, list_unpriced
from destage.sweeps.sizing.growing_load import grow
from destage.sweeps.sizing.present_array import is_valid
from destage.sweeps.sizing.request import (
    BATTERY,
    SizingRequest,
    depends_on_users,
    grows,
    is_battery_absent,
    make_scenario,
    measure_own_data,
    measure_usable,
    narrow,
)
from destage.sweeps.sizing.uncertain_load import UncertainLoad, measure_load
from destage.sweeps.sizing.weighed_arrays import Carried, MeasuredArray, weigh_arrays

Run = Callable[[Study], Outcome]
"""Runs a study to its end, or raises an error."""
Find = Callable[[SizingRequest, Run], Sized]
Describe = Callable[[SizingRequest, Sized, Run], Sized]
FindInStates = Callable[[SizingRequest, Run, Find, Describe], Sized]

_LOADS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
"""The loads of the response curve, as multiples of the requested load."""
_SATURATED = 0.98


@dataclass(frozen=True, slots=True)
class Load:
    """A point of the response curve.

    Attributes:
        response_p95_us: The 95th percentile of response times [us]; None if the array cannot carry the load.
        is_knee: Whether users per response time is the largest here: the knee by Kleinrock's power
            (Power and deterministic rules of thumb, ICC 1979).
    """

    users: int
    response_p95_us: float | None
    disk_busy_max_fraction: float | None
    is_knee: bool


def find_candidates(request: SizingRequest, run: Run) -> Sized:
    """Return the cheapest configurations.

    Raises:
        ConfigError: The request is invalid, or no run measures what an objective bounds.
    """
    nothing = Sized(
        candidates=(),
        found=sizing_studies.FOUND,
        impossible=0,
        battery=None,
        currency=request.prices["currency"],
        unpriced=list_unpriced(request),
        spares=request.spares,
    )
    small = find_too_small(request)
    if small is not None:
        reason = describe_too_small(request.capacity or 0, small.capacity, small.family, small.disks)
        return replace(nothing, reason=reason)
    study, impossible = sizing_studies.make_search(request)
    objectives = study.found_seek.objectives
    localities = describe_assumed_localities({"workload": request.workload}, request.settings)
    remarks = [*localities, *request.remarks]
    is_absent = is_battery_absent(request)
    nothing = replace(nothing, impossible=len(impossible), remarks=remarks, is_battery_absent=is_absent)
    unloaded = sizing_studies.find_unreachable_objective(study)
    if unloaded is not None:
        least, shortest = request.least_load, (unloaded.value, unloaded.family, unloaded.disks)
        reason = describe_unreachable(unloaded.objective, *shortest, least)
        if impossible and request.capacity is not None:
            reason += describe_not_built(len(impossible))
        return replace(nothing, remarks=[*describe_error(least), *remarks], reason=reason)
    missed_stage: list[str] = []
    outclassed = sizing_studies.list_outclassed(study)
    if outclassed:
        nothing = replace(nothing, outclassed=len(outclassed))
        best_missed = min(outclassed, key=_find_excess)
        missed_stage = describe_run_error(normalise(best_missed.scenario), best_missed.row)
        if len(outclassed) == len(study.points):
            reason = _explain_outclassed(best_missed, len(outclassed))
            return replace(nothing, remarks=[*missed_stage, *remarks], reason=reason)
        study, _ = sizing_studies.make_search(request, outclassed)
    with open_session(run(study).path) as session:
        candidates = list_candidates(session, objectives)
        best = next((candidate for candidate in candidates if candidate.disks is not None), None)
        stage = (list_model_errors(session) or missed_stage) if best is None else []
        error = None if best is None else find_error_of_cheapest(session)
    sized = replace(nothing, candidates=candidates, remarks=[*stage, *remarks], error=error)
    if sized.unmeasured and not sized.carrying:
        raise _as_error(sized.unmeasured[0].binding, request.objectives)
    return sized


def describe_cheapest(request: SizingRequest, sized: Sized, run: Run) -> Sized:
    """Add to a sizing the details of its first configuration.

    These are the data that it holds, its results without a battery and with other numbers of destages in
    flight, and what `find_assured` adds.
    """
    best = next((candidate for candidate in sized.candidates if candidate.disks is not None), None)
    if best is None:
        return sized
    parts = describe(best)
    study = sizing_studies.make_comparison(request, [parts])
    columns = [parse_objective(text, "seek.subject_to").column for text in request.objectives]
    with open_session(run(study).path) as session:
        battery = find_battery_case(session, parts, BATTERY, columns)
        by_destages = find_destages(session, parts, DESTAGE_DEPTH, columns)
    described = replace(sized, battery=battery, held=_find_held(request, parts), by_destages=by_destages)
    return find_assured(request, described, run)


def find_assured(request: SizingRequest, sized: Sized, run: Run) -> Sized:
    """Add to a sizing the array that carries the load with the error of the model, and this error."""
    best = next((candidate for candidate in sized.candidates if candidate.disks is not None), None)
    growing = request if grows(request.workload) else grow(request)
    assured, error = None, sized.error
    if best is not None and isinstance(error, ModelError) and growing is not None:
        assured = _size_for_error(growing, best, error, run)
    return replace(sized, remarks=[*describe_error(error), *sized.remarks], assured=assured)


def _as_error(unmeasured: str | None, objectives: Sequence[str]) -> ConfigError:
    """Return the error of an objective that no run has a value for."""
    place = f"seek.subject_to.{list(objectives).index(unmeasured or '')}"
    return ConfigError([Issue("study.not-measured", place, "no run measures this result", unmeasured)])


def _find_excess(missed: Outclassed) -> float:
    """Return how many times a response is its bound; infinitely many of an overloaded array."""
    return math.inf if missed.objective is None else (missed.value or 0) / missed.objective.bound


def _explain_outclassed(best: Outclassed, count: int) -> str:
    """Return why no family carries the load, with the result of the best one.

    Args:
        count: The number of families.
    """
    return describe_outclassed(count, FAR, best.objective, best.value, best.family, best.disks)


def _find_held(request: SizingRequest, parts: Mapping[str, Any]) -> Held:
    """Return the data that a configuration holds, and its usable capacity."""
    usable = measure_usable(request, parts)
    return Held(request.capacity, measure_own_data(request), usable)


def _size_for_error(request: SizingRequest, best: Candidate, error: ModelError, run: Run) -> Assured:
    """Return the cheapest array that carries the load if it is as slow as the slowest systems of its class.

    A system of half the simulated speed carries the load if the simulated one carries twice as much. An array
    of another class, with slower systems, has to carry more; so the search is repeated for the more.

    Args:
        request: One whose whole load grows with its users.
        best: The cheapest array that carries the load as simulated.
        error: The model's error of its class.
    """
    first_error = error
    asked, cheapest, load = replace(request, name=f"{request.name}-sure", max_price=None), best, 1.0
    while 1 / error.low > load:
        load = 1 / error.low
        users = math.ceil(request.workload["users"] * load)
        asked = replace(asked, workload={**request.workload, "users": users})
        found = _find_cheapest_one(asked, run)
        if found is None:
            return Assured(error, load, best.parts, None, None)
        cheapest, its_error = found
        if isinstance(its_error, ModelError):
            error = its_error
        elif cheapest.parts != best.parts:
            # The error of its class is unknown, that of the first one is known.
            asked, error, load = narrow(asked, best.parts), first_error, 1.0
    return Assured(error, load, cheapest.parts, cheapest.disks, cheapest.price)


def _find_cheapest_one(request: SizingRequest, run: Run) -> tuple[Candidate, ModelError | str | None] | None:
    """Return the cheapest array that carries a load, and the model's error of its class; None without one."""
    study, _ = sizing_studies.make_search(request, found=1)
    if outclassed := sizing_studies.list_outclassed(study):
        if len(outclassed) == len(study.points):
            return None
        study, _ = sizing_studies.make_search(request, outclassed, found=1)
    with open_session(run(study).path) as session:
        cheapest = list_candidates(session, study.found_seek.objectives)[0]
        return None if cheapest.disks is None else (cheapest, find_error_of_cheapest(session))


def judge_ranges(load: UncertainLoad, run: Run, find: FindInStates) -> RangedSizing:
    """Return the arrays that come into question for a load in ranges, with their odds and regret.

    Args:
        find: Finds the cheapest configurations in all states, with what finds and describes them in normal
            operation.

    Raises:
        ConfigError: As `find_candidates` does.
    """
    requests = [(values, load.make_request(values)) for values in load.corners]
    sizings = [(values, find(request, run, find_candidates, find_assured)) for values, request in requests]
    shares = load.shares
    nothing = RangedSizing(
        ranges={known.name: (known.low, known.high) for known in load.inputs if known.has_width},
        unit=load.unit,
        shares=shares,
        candidates=(),
        sizings=sizings,
        uncarried=1.0,
        states=list(requests[0][1].failures),
    )
    found = _list_arrays(load.make_largest(shares[0])[0], [sized for _, sized in sizings])
    if not found:
        return nothing
    arrays = _measure_arrays(load, found, run)
    for values, sized in sizings:
        point = measure_load(values)
        for one in sized.carrying[: sizing_studies.FOUND] if point.share in shares else ():
            # The search for the fewest disks has shown it; a fitted answer may be a little less.
            arrays[found.index(describe(one))].raise_to(shares.index(point.share), point.amount)
    weighed, uncarried = weigh_arrays(arrays, shares, load.strata)
    candidates = [
        RangedCandidate(
            parts={path: part for path, part in array.parts.items() if path != DISKS},
            disks=array.parts[DISKS],
            price=array.price,
            carried=array.carried,
            is_bound=array.is_bound,
            limiting=array.limiting,
            error=array.states[NORMAL].error,
            **asdict(weights),
        )
        for array, weights in zip(arrays, weighed, strict=True)
    ]
    candidates.sort(key=lambda one: one.price)
    return replace(nothing, candidates=candidates, uncarried=uncarried)


def _list_arrays(request: SizingRequest, sizings: Sequence[Sized]) -> list[dict[str, Any]]:
    """Return the arrays that sizings have found, by dotted path.

    These are the cheapest and the runner-up of each, with the numbers of disks between those of one family,
    and the numbers that the model's error asks for.
    """
    counts: dict[tuple[tuple[str, Any], ...], set[int]] = {}
    for sized in sizings:
        for one in sized.carrying[: sizing_studies.FOUND]:
            counts.setdefault(tuple(one.parts.items()), set()).add(one.disks or 0)
    for disks in counts.values():
        disks.update(range(min(disks), max(disks)))
    for sized in sizings:
        sure = sized.assured
        if sure is not None and sure.disks and (sure.price or 0) <= (request.max_price or math.inf):
            counts.setdefault(tuple(sure.parts.items()), set()).add(sure.disks)
    arrays = [{**dict(parts), DISKS: count} for parts, disks in counts.items() for count in sorted(disks)]
    scenario = make_scenario(request)
    return [array for array in arrays if is_valid(scenario, array)]


def _measure_arrays(load: UncertainLoad, found: Sequence[dict[str, Any]], run: Run) -> list[MeasuredArray]:
    """Return what each array carries in each state, at each share of reads."""
    requests = [load.make_largest(share) for share in load.shares]
    window = choose_window_of(requests[0][0], found[0])
    measured: list[dict[str, Carried]] = [{} for _ in found]
    prices: list[float] = []
    for state in (NORMAL, *requests[0][0].failures):
        at_shares = []
        for request, amount in requests:
            study = make_capacities(request, found, state, window)
            at_shares.append(_read_capacities(study, found, amount, run))
            if study.prices is not None:
                prices = [study.prices.price(parts, parts[DISKS]) for parts in found]
        for states, rows in zip(measured, zip(*at_shares, strict=True), strict=True):
            error = rows[len(rows) // 2][2]
            if state == DURING_REBUILD:
                error = "no measured system was rebuilding"
            states[state] = Carried([row[0] for row in rows], [row[1] for row in rows], error)
    return [
        MeasuredArray(parts, price, states)
        for parts, price, states in zip(found, prices or [0.0] * len(found), measured, strict=True)
    ]


def _read_capacities(
    study: Study, found: Sequence[dict[str, Any]], amount: float, run: Run
) -> list[tuple[float, bool, ModelError | str | None]]:
    """Return what each array carries, whether it may carry more, and the model's error there.

    Args:
        amount: The load of the study's number of users.
    """
    users = int(study.scenario["workload"]["users"])
    with open_session(run(study).path) as session:
        answers = session.sql("SELECT * FROM answers").to_pylist()
        errors, metric = list_point_errors(session, users), session.answer
    by_parts = {tuple(row[path] for path in found[0]): row for row in answers}
    rows = [by_parts[tuple(parts.values())] for parts in found]
    return [
        (
            0.0 if row[metric] is None or row["censored"] == "below" else row[metric] * amount / users,
            row["censored"] == "at_least",
            errors.get(row["point_id"]),
        )
        for row in rows
    ]


def measure_curve(request: SizingRequest, best: Candidate, run: Run) -> list[Load]:
    """Return the response of a configuration at loads around the requested one; none without users."""
    if not depends_on_users(request.workload):
        return []
    loads = sorted({max(1, round(request.workload["users"] * share)) for share in _LOADS})
    with open_session(run(sizing_studies.make_curve(request, describe(best), loads)).path) as session:
        rows = session.sql_of_named_columns(
            'SELECT "workload.users" AS users, response_p95_us, response_mean_us, n_overloaded, '
            'disk_busy_max_fraction FROM points ORDER BY "workload.users"'
        ).to_pylist()
    return draw_loads(rows)


def draw_loads(rows: Sequence[Mapping[str, Any]]) -> list[Load]:
    """Return the points of a response curve from the means at each load, in ascending order.

    A power that is largest at an end of the range may be larger beyond it: there is no knee.
    """
    power = [row["users"] / row["response_mean_us"] if _is_carried(row) else 0.0 for row in rows]
    knee = power.index(max(power)) if power else 0
    has_knee = 0 < knee < len(rows) - 1
    return [
        Load(
            row["users"],
            row["response_p95_us"] if _is_carried(row) else None,
            row["disk_busy_max_fraction"],
            has_knee and index == knee,
        )
        for index, row in enumerate(rows)
    ]


def describe(one: Candidate) -> dict[str, Any]:
    """Return the parts of a candidate and its number of disks, by dotted path."""
    return {**one.parts, DISKS: one.disks}


def _is_carried(row: Mapping[str, Any]) -> bool:
    """Return whether the array carries a load: with disks that are always busy, its cache fills up."""
    busy = row["disk_busy_max_fraction"]
    return bool(row["response_mean_us"] and not row["n_overloaded"] and (busy is None or busy < _SATURATED))
