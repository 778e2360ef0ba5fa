"""The cheapest configuration for a load, and whether a present array carries more, in Python."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from destage import failure_sizing, present_sizing, sizing, sweeps
from destage.errors import ConfigError, Issue
from destage.notebook.html import render_sentences
from destage.notebook.shown_sweep import Sweep
from destage.queries.findings.candidates import Candidate
from destage.queries.findings.fit_text import Fit, compose_fit
from destage.queries.findings.ranged_text import RangedCandidate, RangedSizing, compose_ranged
from destage.queries.findings.sizing_text import Sized, compose_sizing
from destage.spec import quantities
from destage.spec.documents import MOST_BYTES, read_beginning
from destage.store import Location, locate
from destage.sweeps import Outcome, Study
from destage.sweeps.keys.prices import check_prices, example_prices, read_prices_file
from destage.sweeps.reading.new_study import make_name
from destage.sweeps.reading.scenario_text import parse_scenario, read_present
from destage.sweeps.sizing import rate_load
from destage.sweeps.sizing.added_loads import consider, make_array, split_users
from destage.sweeps.sizing.failure_states import list_failures
from destage.sweeps.sizing.request import (
    FEWEST,
    MOST,
    RAID_LEVELS,
    USERS,
    InputRange,
    SizingRequest,
    list_objectives,
)
from destage.sweeps.sizing.shared_load import JOINED_UNIT, NamedLoad, join_loads
from destage.sweeps.sizing.uncertain_load import RATE, READ_RATE, READ_SHARE, WRITE_RATE, describe_load

Given = float | tuple[float, float]
"""A number, or the low and the high end of a range."""


@dataclass(frozen=True, slots=True)
class SizingAnswer:
    """The cheapest configurations for a load, those of the least regret for a range, or how more fits.

    Attributes:
        sized: All candidates, and what rules them out; for a range, their odds and regret; for a present
            array, its results, and those of each change.
        sweep: The sweep of the search, for a range that of what each candidate carries, for a present array
            that of all loads on it; None if the objectives are out of reach without one.
    """

    sized: Sized | RangedSizing | Fit
    sweep: Sweep | None

    @property
    def fits(self) -> bool:
        """Whether a configuration carries the load, or the present array the added one."""
        return self.sized.added.fits if isinstance(self.sized, Fit) else bool(self._ranked)

    @property
    def best(self) -> Candidate | RangedCandidate | None:
        """The cheapest configuration, or that of the least regret; None if none meets the objectives.

        For a present array, there is none; `sized.fitting` has the changes that make the addition fit.
        """
        return self._ranked[0] if self._ranked else None

    @property
    def runner_up(self) -> Candidate | RangedCandidate | None:
        """The second one."""
        return self._ranked[1] if len(self._ranked) > 1 else None

    @property
    def _ranked(self) -> list[Candidate | RangedCandidate]:
        return [] if isinstance(self.sized, Fit) else [*self.sized.carrying]

    @property
    def _lines(self) -> list[str]:
        sized = self.sized
        if isinstance(sized, Fit):
            return compose_fit(sized)
        return compose_sizing(sized) if isinstance(sized, Sized) else compose_ranged(sized)

    def __str__(self) -> str:
        return "\n".join(self._lines)

    def _repr_html_(self) -> str:
        return render_sentences(line for line in self._lines if line)


def find_configuration(
    users: Given | None = None,
    workload: str | Mapping[str, Any] | None = None,
    *,
    iops: Given | None = None,
    read_share: Given | None = None,
    read_iops: Given | None = None,
    write_iops: Given | None = None,
    size: str | None = None,
    capacity: str | int | None = None,
    have: str | Path | Mapping[str, Any] | None = None,
    add: Sequence[str | Mapping[str, Any]] = (),
    keep: str | int | None = None,
    response_p95: str | None = None,
    subject_to: Sequence[str] = (),
    during_rebuild: Sequence[str] = (),
    dead_battery: Sequence[str] = (),
    prices: Mapping[str, Any] | str | Path | None = None,
    controllers: Sequence[str] = (),
    disks: Sequence[str] = (),
    raid: Sequence[str] = RAID_LEVELS,
    fewest: int = FEWEST,
    most: int | None = None,
    budget: float | None = None,
    store: str | Location | None = None,
) -> SizingAnswer:
    """Find the cheapest configuration for a load, or whether a present array carries an added one."""
    in_failures = {"during_rebuild": during_rebuild, "dead_battery": dead_battery}
    lists = {"subject_to": subject_to, "controllers": controllers, "disks": disks, "raid": raid, "add": add}
    for name, listed in (lists | in_failures).items():
        if isinstance(listed, str | Mapping):
            message = f"must be a list, such as [{listed!r}]"
            raise ConfigError([Issue("study.wrong-type", name, message, listed)])
    numbers = {
        USERS: users,
        RATE: iops,
        READ_SHARE: read_share,
        READ_RATE: read_iops,
        WRITE_RATE: write_iops,
    }
    inputs = [_read_input(name, number) for name, number in numbers.items() if number is not None]
    given = [known.name for known in inputs]
    _check_present(have, {"keep": keep}, {"workload": workload, "budget": budget}, inputs, add)
    loads = [*add] if have is not None else [] if workload is None else [workload]
    place = "workload" if have is None else "add"
    _check_load(given, place, has_workload=bool(loads), size=size, capacity=capacity)
    data = None if capacity is None else int(quantities.parse(capacity, "bytes"))
    has_width = any(known.has_width for known in inputs)
    if len(loads) > 1:
        _reject({USERS: users, "capacity": capacity}, "is for one added load, and several are given")
    objectives, table = list_objectives(response_p95, subject_to), _read_prices(prices)
    failures = list_failures(in_failures)

    def request_at(values: Mapping[str, float]) -> SizingRequest:
        return SizingRequest(
            **_join(_describe_load(workload, values, size), add, data),
            capacity=data,
            objectives=objectives,
            prices=table,
            controllers=controllers,
            disks=disks,
            raid=raid,
            fewest=fewest,
            most=MOST if most is None else most,
            max_price=budget,
            failures=failures,
        )

    outcomes: list[Outcome] = []

    def run(study: Study) -> Outcome:
        outcome = sweeps.run(study, None if store is None else locate(store))
        if outcome.was_signalled:
            raise KeyboardInterrupt
        outcomes.append(outcome)
        return outcome

    values = {known.name: known.low for known in inputs}
    if have is not None:
        described = [_describe_added(load, values) for load in loads] or [_describe_load(None, values, size)]
        array = make_array(
            *_read_array(have),
            [_name(load) for load in described],
            objectives=objectives,
            failures=failures,
            capacity=data,
            kept=None if keep is None else int(quantities.parse(keep, "bytes")),
            most=most,
        )
        considered = consider(table, controllers, disks, raid)
        fit = present_sizing.check_array(array, considered, None if prices is None else table, run)
        return SizingAnswer(fit, Sweep(outcomes[1].path, outcomes[1]))
    if has_width:
        ranged = sizing.judge_ranges(
            describe_load(inputs, request_at), run, failure_sizing.find_cheapest_in_failures
        )
        return SizingAnswer(ranged, Sweep(outcomes[-1].path, outcomes[-1]) if outcomes else None)
    request = request_at(values)
    steps = (sizing.find_candidates, sizing.describe_cheapest)
    sized = failure_sizing.find_affordable(request, run, *steps)
    return SizingAnswer(sized, Sweep(outcomes[0].path, outcomes[0]) if outcomes else None)


def _check_present(
    have: object,
    needed: Mapping[str, Any],
    useless: Mapping[str, Any],
    inputs: Sequence[InputRange],
    add: Sequence[object],
) -> None:
    """Raise an error if arguments about a present array are without one, or others beside it.

    Args:
        needed: The arguments that need it.
        useless: Those that it has no use for.
        add: The loads that are added, which do not need it.
    """
    if have is None:
        _reject(needed, "needs `have`, the array that a load is added to")
        if any(known.has_width for known in inputs):
            _reject({"add": add or None}, "is beside one load: a range is of one alone")
        return
    _reject(useless, "has no effect with `have`, whose array and load are there; leave it out")
    _reject({known.name: known.has_width or None for known in inputs}, "must be one value with `have`")


def _reject(arguments: Mapping[str, Any], message: str) -> None:
    """Raise an error if one of the arguments is given."""
    given = [name for name, value in arguments.items() if value is not None]
    if given:
        raise ConfigError([Issue("study.no-effect", name, message) for name in given])


def _read_array(have: str | Path | Mapping[str, Any]) -> tuple[str, tuple[dict[str, Any], list[str]]]:
    """Return the name of a present array, its configuration, and sentences on what its load assumes."""
    if isinstance(have, Mapping):
        file, text, name = Path("array"), json.dumps(dict(have)).encode(), "have"
    else:
        file, name = Path(have), str(have)
        text = read_beginning(file, MOST_BYTES)
    scenario, source = parse_scenario(text, name, file.parent)
    return make_name(file.stem), read_present(scenario, source, file.parent)


def _describe_load(
    workload: str | Mapping[str, Any] | None, values: Mapping[str, float], size: str | None
) -> dict[str, Any]:
    """Return the fields of a request that describe a load."""
    if workload is not None:
        described = {"use": workload} if isinstance(workload, str) else dict(workload)
        users = int(values.get(USERS, described.get(USERS, 1)))
        name = workload if isinstance(workload, str) else "load"
        return {"workload": described | {USERS: users}, "name": f"{name}-{users}"}
    rates = (values.get(READ_RATE, 0.0), values.get(WRITE_RATE, 0.0))
    reads, writes = rate_load.split_rate(values[RATE], values[READ_SHARE]) if RATE in values else rates
    if reads + writes <= 0:
        raise ConfigError([Issue("study.out-of-range", RATE, "the rate must be more than 0")])
    return {
        "workload": rate_load.make_rate_load(reads, writes, size or ""),
        "name": f"rate-{reads + writes:.0f}",
        "unit": rate_load.UNIT,
        "remarks": (rate_load.ASSUMED,),
    }


def _join(
    first: dict[str, Any], added: Sequence[str | Mapping[str, Any]], capacity: int | None
) -> dict[str, Any]:
    """Return the fields of a request of a load with others."""
    if not added:
        return first
    loads = [first, *(_describe_added(load) for load in added)]
    joined = join_loads([_name(load) for load in loads], capacity)
    remarks = {"remarks": joined.remarks, "unit": JOINED_UNIT}
    return {"workload": joined.workload, "name": joined.name, **remarks}


def _describe_added(
    load: str | Mapping[str, Any], values: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return the fields of a load of `add`, which may state its users after a colon."""
    name, users = split_users(load) if isinstance(load, str) else (load, None)
    stated = {} if users is None else {USERS: users}
    return _describe_load(name, {**(values or {}), **stated}, None)


def _name(load: Mapping[str, Any]) -> NamedLoad:
    return NamedLoad(load["workload"], load["name"], load.get("remarks", ()))


def _check_load(
    given: Sequence[str], place: str, *, has_workload: bool, size: str | None, capacity: object
) -> None:
    """Raise an error if the arguments describe no load, or more than one.

    Args:
        given: The names of the numbers that are given.
        place: The argument that describes it without a rate.
    """
    rates = [name for name in (RATE, READ_RATE, WRITE_RATE) if name in given]
    if has_workload == bool(rates):
        message = f"give either `{place}`, or a rate by iops and read_share or by read_iops and write_iops"
        raise ConfigError([Issue("study.one-of", place, message)])
    if RATE in rates and len(rates) > 1:
        raise ConfigError([Issue("study.one-of", rates[1], "give either iops, or the rates of each")])
    needed = {"size": size, "capacity": capacity} if rates else {}
    issues = [
        Issue("study.missing-key", name, "missing; a rate needs it")
        for name, value in needed.items()
        if value is None
    ]
    if RATE in rates and READ_SHARE not in given:
        issues.append(Issue("study.missing-key", READ_SHARE, "missing; iops needs it"))
    useless = {
        READ_SHARE: READ_SHARE in given and RATE not in rates,
        USERS: USERS in given and rates,
        "size": size is not None and not rates,
    }
    message = "has no effect on this load; leave it out"
    issues += [Issue("study.no-effect", name, message) for name, is_useless in useless.items() if is_useless]
    if issues:
        raise ConfigError(issues)


def _read_input(name: str, given: Any) -> InputRange:
    ends = given if isinstance(given, tuple | list) else (given, given)
    kind, phrase = (Integral, "whole number") if name == USERS else (Real, "number")
    if len(ends) != 2 or not all(isinstance(end, kind) and not isinstance(end, bool) for end in ends):  # noqa: PLR2004
        message = f"must be a {phrase}, or two of them in parentheses: the low and the high end of a range"
        raise ConfigError([Issue("study.wrong-type", name, message, given)])
    low, high = ends
    if low > high:
        message = "the low end of the range is above the high end; swap them"
        raise ConfigError([Issue("study.bounds-reversed", name, message, given)])
    if low < 0 or (name == READ_SHARE and high > 1):
        message = "must be from 0 to 1" if name == READ_SHARE else "must be at least 0"
        raise ConfigError([Issue("study.out-of-range", name, message, given)])
    return InputRange(name, low, high)


def _read_prices(prices: Mapping[str, Any] | str | Path | None) -> Mapping[str, Any]:
    if prices is None:
        return read_prices_file(example_prices(), "example prices")
    if isinstance(prices, Mapping):
        return check_prices(dict(prices), "prices")
    return read_prices_file(read_beginning(Path(prices), MOST_BYTES), str(prices))
