"""The answer of `destage size` as text: the cheapest configuration, its margins, and what was ruled out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from destage.measured_systems.model_error import ModelError
from destage.queries.findings.candidates import (
    MORE_EXPENSIVE,
    REBUILD_ENDED,
    BatteryCase,
    Candidate,
    Measured,
    name_parts,
)
from destage.queries.findings.resource_use import RESOURCE_WORDS
from destage.queries.text.presentation import format_amount, format_rounded, split_title
from destage.queries.text.shown_results import (
    describe_failing,
    name_result,
    name_state,
    show_bound,
    show_bytes,
    show_result,
)
from destage.spec.printed_text import align_cells

_CLOSE, _CERTAIN = 0.99, 0.999
_OPEN = ("undecided", "not_stationary")
"""The verdicts on numbers of disks that neither meet the objectives nor miss one."""
_ASSURED = "95 %"
"""The probability that a system is not slower than the lower end of the 90 % interval of the error."""
_GAP = "  "
_FEW = 3
"""Parts of a kind without a price whose names the answer lists."""


@dataclass(frozen=True, slots=True)
class Assured:
    """The cheapest array that carries the load also as slow as measured systems of its class are.

    Attributes:
        error: The speeds of these systems.
        load: The load that it carries as simulated, as a multiple of the requested one.
        parts: Its controller, disk and RAID level, by dotted path; those of the first candidate if there is
            no such array.
        disks: Its number of disks; None if no array that is considered carries the load.
        price: Its price [currency].
    """

    error: ModelError
    load: float
    parts: Mapping[str, str]
    disks: int | None
    price: float | None


@dataclass(frozen=True, slots=True)
class Held:
    """The data of the load, and the room for them.

    Attributes:
        stated_bytes: The size of the data that the request states; None if it does not.
        own_bytes: The workload's own footprint; None if that is the whole array, or of a trace.
        usable_bytes: The usable capacity of the first candidate.
    """

    stated_bytes: int | None
    own_bytes: int | None
    usable_bytes: int


@dataclass(frozen=True, slots=True)
class Sized:
    """What `destage size` has found.

    Attributes:
        candidates: All candidates that were possible, the cheapest first.
        found: The number of cheapest ones that were to be found.
        impossible: The number of families that cannot be built.
        battery: The first candidate with its battery and without, if it has a protected cache.
        currency: The currency of the prices.
        remarks: Sentences on what the answer rests on.
        unpriced: The parts of the catalogue that were not considered, as they have no price, by kind.
        assured: What carries the load with the model's error; None if that is unknown.
        reason: Why no configuration can meet the objectives, if that is known without a search.
        spares: The hot spares of each candidate.
        held: The data that the first candidate holds; None without one.
        is_battery_absent: Whether the request is for arrays without a battery.
        outclassed: The number of families whose largest array is overloaded or far beyond an objective.
        beyond: The cheapest configuration that meets the objectives, if it costs more than the price limit.
        by_destages: The bounded results of the first candidate by the number of destages in flight for each
            disk, where it is not the configured one; empty where it cannot carry the load.
        error: The model's error of the first candidate, or why it is unknown; None without a candidate or
            devices.
    """

    candidates: Sequence[Candidate]
    found: int
    impossible: int
    battery: BatteryCase | None
    currency: str
    remarks: Sequence[str] = ()
    unpriced: Mapping[str, Sequence[str]] = field(default_factory=dict)
    assured: Assured | None = None
    reason: str | None = None
    spares: int = 0
    held: Held | None = None
    is_battery_absent: bool = False
    outclassed: int = 0
    beyond: Candidate | None = None
    by_destages: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    error: ModelError | str | None = None

    @property
    def carrying(self) -> list[Candidate]:
        """The candidates that meet the objectives, the cheapest first."""
        return [one for one in self.candidates if one.disks is not None and one.price is not None]

    @property
    def unmeasured(self) -> list[Candidate]:
        """The candidates whose runs have no value for an objective."""
        return [candidate for candidate in self.candidates if candidate.verdict == "not_measured"]


def compose_sizing(sized: Sized) -> list[str]:
    """Return the answer, line by line."""
    carrying = sized.carrying
    if not carrying:
        closest = _describe_closest(sized)
        if sized.beyond is not None:
            name, price = name_configuration(sized, sized.beyond), format_price(sized, sized.beyond)
            closest = [f"Beyond the budget: {name}: {price}.", *closest]
        return [_explain_none(sized), *closest, *_describe_unpriced(sized), *sized.remarks]
    best = carrying[0]
    lines = [
        f"{name_configuration(sized, best)}: {format_price(sized, best)}",
        *_name_assured(sized, best),
        "",
    ]
    facts = align_cells(_list_facts(sized, best), left=2)
    lines += [f"{_GAP}{line}" for line in facts.splitlines()]
    if len(carrying) > 1:
        lines += ["", _describe_runner_up(sized, best, carrying[1])]
    for paragraph in (_list_rest(sized), _describe_unpriced(sized), sized.remarks):
        lines += ["", *paragraph] if paragraph else []
    return lines


def name_configuration(sized: Sized, one: Candidate) -> str:
    """Return a configuration by its product names, as in `3 x Kingston DC600M 960GB SATA, RAID 5, ...`."""
    return name_parts(one.parts, one.disks, sized.spares)


def format_price(sized: Sized, one: Candidate) -> str:
    """Return the price of a candidate with its currency."""
    return f"{sized.currency} {format_amount(one.price or 0)}"


def format_odds(odds: float) -> str:
    """Return a probability in per cent, with one more digit close to 100 %."""
    if odds >= _CERTAIN:
        return f"more than {_CERTAIN:.1%}".replace("%", " %")
    return f"{odds:{'.1%' if odds > _CLOSE else '.0%'}}".replace("%", " %")


def _list_facts(sized: Sized, best: Candidate) -> list[tuple[str, str]]:
    facts = [
        (name_result(measured.objective.column), _describe_margin(measured)) for measured in best.measured
    ]
    facts += _list_states(best)
    what = "that it is met" if len(best.measured) == 1 and not best.states else "that all are met"
    what += ", as far as the simulation is exact"
    if sized.assured is not None:
        least = "at least" if _is_assured(sized, best) else "less than"
        what += f"; {least} {_ASSURED} with the error of the model"
    facts.append(("probability", f"{format_odds(best.odds)} {what}"))
    if sized.assured is not None:
        facts.append(("to be sure", _describe_assured(sized, sized.assured)))
    if best.limiting is not None and best.use is not None:
        share = f"{best.use:.0%}".replace("%", " %")
        facts.append(("busiest", f"{RESOURCE_WORDS[best.limiting]}, {share}"))
    fewer = "the fewest that are possible or considered"
    if best.failing is not None:
        fewer = f"{best.failing} {describe_failing(best.verdict, best.binding)}"
    facts.append(("disks", f"{best.disks}{', ' if best.failing is None else '; '}{fewer}"))
    if sized.held is not None:
        facts.append(("holds", _describe_held(sized.held)))
    if sized.is_battery_absent:
        facts.append(
            ("battery", "absent, as set: a write cache that needs one writes through from the start")
        )
    else:
        facts.append(("dead battery", _describe_battery(sized.battery)))
    if sized.by_destages:
        facts.append(("destages", _describe_destages(sized.by_destages, best)))
    return facts


def _describe_margin(measured: Measured, *, is_met: bool = True) -> str:
    """Return a result and its bound: `8.1 ms (95 % CI 7.9 to 8.3); at most 30 ms: a factor of 3.7 below`."""
    objective = measured.objective
    text = f"{show_result(objective.column, measured.mean, measured.half_width)}; {show_bound(objective)}"
    if not is_met:
        is_open = abs(objective.bound - measured.mean) <= measured.half_width
        return f"{text}: {'undecided' if is_open else 'met' if objective.is_met(measured.mean) else 'missed'}"
    if measured.factor is not None:
        side = "below" if objective.is_upper else "above"
        text += f": a factor of {format_rounded(measured.factor, 2)} {side}"
    return text


def _list_states(one: Candidate) -> list[tuple[str, str]]:
    """Return the results in states of failure, a line for each objective."""
    facts = []
    for state in one.states:
        name, only = name_state(state.state), "" if state.is_met else f" with {state.disks} disks"
        texts = [
            f"{name_result(each.objective.column)} {_describe_margin(each, is_met=state.is_met)}{only}"
            for each in state.measured
        ]
        always = "; it is always in this state, as no write cache needs a battery" if state.is_always else ""
        facts += [(name, text + always) for text in texts or [f"no steady state{only}"]]
    return facts


def _describe_closest(sized: Sized) -> list[str]:
    """Return the results in states of failure of the cheapest candidate that fails in one."""
    examined = next((one for one in sized.candidates if one.states), None)
    if examined is None:
        return []
    facts = align_cells(_list_states(examined), left=2).splitlines()
    return [f"{name_parts(examined.parts, None)}:", *(f"{_GAP}{line}" for line in facts)]


def _describe_held(held: Held) -> str:
    """Return the data and the room for them: `40 TB of data, of 43.2 TB usable`."""
    usable = f"{show_bytes(held.usable_bytes)} usable"
    own = None if held.own_bytes is None else show_bytes(held.own_bytes)
    if held.stated_bytes is not None:
        scaled = f"; the workload's own areas, {own}, are scaled alike" if own else ""
        return f"{show_bytes(held.stated_bytes)} of data, of {usable}{scaled}"
    data = f"{own} of data, the workload's own footprint" if own else "the workload's own addresses"
    return f"{data}, of {usable}; --capacity states yours"


def _is_assured(sized: Sized, best: Candidate) -> bool:
    """Return whether the first candidate carries the load with the model's error, too."""
    sure = sized.assured
    return sure is not None and (sure.parts, sure.disks) == (best.parts, best.disks)


def _name_assured(sized: Sized, best: Candidate) -> list[str]:
    """Return the array that carries the load with the model's error, if it is not the first candidate."""
    sure = sized.assured
    if sure is None or sure.disks is None or _is_assured(sized, best):
        return []
    price = f"{sized.currency} {format_amount(sure.price or 0)}"
    return [f"To be sure: {name_parts(sure.parts, sure.disks, sized.spares)}: {price}"]


def _describe_assured(sized: Sized, assured: Assured) -> str:
    """Return how much the array carries that holds the model's error, as in `it carries 2 times the ...`."""
    load = f"{format_rounded(assured.load, 2)} times the load, as real systems may be that much slower"
    load += " (in normal operation)" if sized.carrying[0].states else ""
    if assured.disks is None:
        return f"more disks than are considered, for {load}"
    which = "it" if _is_assured(sized, sized.carrying[0]) else "the cheapest array that"
    return f"{which} carries {load}"


def _describe_battery(case: BatteryCase | None) -> str:
    """Return what a failure of the battery costs, and the data that it exposes."""
    if case is None:
        return "no effect: no write cache needs a battery"
    at_risk = (
        f"up to {format_rounded(case.exposed_bytes / 2**20)} MiB of dirty data unprotected until destaged"
    )
    if not case.without:
        return f"{at_risk}; then, in write-through, the load overloads the array"
    slower = []
    for column, before in case.columns.items():
        after = case.without[column]
        if before and after is not None and column.endswith("_us"):
            times = format_rounded(after / before, 2)
            changed = "as long as before" if times == "1" else f"{times} times as long"
            slower.append(f"{split_title(column)[0]} {show_result(column, after)}, {changed}")
    return f"{at_risk}; then, in write-through, {' and '.join(slower)}" if slower else at_risk


def _describe_destages(by_destages: Mapping[int, Mapping[str, float]], best: Candidate) -> str:
    """Return the results with other numbers of destages in flight, and which objectives they miss."""
    objectives = [measured.objective for measured in best.measured]
    shown = []
    for depth, columns in sorted(by_destages.items()):
        known = [one for one in objectives if columns.get(one.column) is not None]
        met = {one: one.is_met(columns[one.column]) for one in known}
        results = [
            f"{name_result(one.column)} {show_result(one.column, columns[one.column])}"
            + ("" if is_met else " (missed)")
            for one, is_met in met.items()
            if not is_met or one.column.endswith("_us")
        ]
        shown.append(f"{' and '.join(results) or 'the load overloads the array'} with {depth}")
    return f"{'; '.join(shown)} in flight for each disk; no document states how many there are"


def _describe_runner_up(sized: Sized, best: Candidate, other: Candidate) -> str:
    more = (other.price or 0) - (best.price or 0)
    costs = f"{sized.currency} {format_amount(more)} more" if more else "the same"
    return (
        f"Runner-up: {name_configuration(sized, other)}: {format_price(sized, other)}. "
        f"It meets the objectives and costs {costs}."
    )


def _list_rest(sized: Sized) -> list[str]:
    """Return how the other families were ruled out, and how many of them."""
    rest = sized.candidates
    dear = [one for one in rest if one.censored == MORE_EXPENSIVE]
    open_ends = [one for one in rest if one.censored is None and one.disks is None]
    enough = "more expensive with enough disks; fewer were simulated and"
    counts = {
        "more expensive even with the fewest disks": sum(one.failing is None for one in dear),
        f"{enough} miss an objective": sum(one.verdict == "misses" for one in dear),
        f"{enough} may miss an objective": sum(one.verdict in _OPEN for one in dear),
        "meeting the objectives at a higher price": len(sized.carrying[sized.found :]),
        "missing an objective with the most disks": sum(one.censored == "above" for one in rest),
        "not shown to meet the objectives with the most disks": sum(
            one.verdict in _OPEN for one in open_ends
        ),
        "without a value for an objective": len(sized.unmeasured),
        "ending a rebuild before the window ends": sum(one.verdict == REBUILD_ENDED for one in rest),
        "far from carrying the load with the most disks, in one run": sized.outclassed,
        "cannot be built": sized.impossible,
    }
    listed = [f"{_GAP}{count:>4}{_GAP}{reason}" for reason, count in counts.items() if count]
    total = len(rest) + sized.outclassed + sized.impossible
    head = f"The others, of {total} combinations of controller, disk and RAID level:"
    return [head, *listed] if listed else []


def _describe_unpriced(sized: Sized) -> list[str]:
    """Return how many parts were not considered, with their names where they are few; nothing if none."""
    counts = []
    for kind, names in sized.unpriced.items():
        if names:
            named = f" ({', '.join(names)})" if len(names) <= _FEW else ""
            counts.append(f"{len(names)} {kind if len(names) > 1 else kind.removesuffix('s')}{named}")
    return [f"Not considered, without a price in the price table: {' and '.join(counts)}."] if counts else []


def _explain_none(sized: Sized) -> str:
    if sized.reason is not None:
        return f"No configuration meets the objectives: {sized.reason}."
    never = [one for one in sized.candidates if one.censored != MORE_EXPENSIVE]
    failing = Counter(describe_failing(one.verdict, one.binding) for one in never)
    reasons = [f"{count} {reason} with the most disks" for reason, count in sorted(failing.items())]
    if dear := len(sized.candidates) - len(never):
        reasons.append(f"{dear} cost too much with as many disks as the load needs")
    if sized.outclassed:
        reasons.append(f"{sized.outclassed} are far from carrying the load with the most disks, in one run")
    if sized.impossible:
        reasons.append(f"{sized.impossible} cannot be built")
    return f"No configuration meets the objectives: {'; '.join(reasons)}."
