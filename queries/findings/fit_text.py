"""The answer of `destage size --have` as text: whether more fits, what limits the array, what to change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from destage.engine import catalog
from destage.measured_systems.model_error import ModelError, is_sure
from destage.queries.findings.candidates import HIT_RATIO, JudgedArray, Measured
from destage.queries.findings.resource_use import describe_use
from destage.queries.findings.sizing_text import format_odds
from destage.queries.text.presentation import (
    begin_sentence,
    format_amount,
    format_axis_value,
    format_count,
    format_rounded,
)
from destage.queries.text.shown_results import (
    describe_failing,
    is_overload,
    name_result,
    name_state,
    show_bound,
    show_bytes,
    show_result,
)
from destage.spec.objective import NORMAL, Objective
from destage.spec.printed_text import align_cells

_GAP = "  "
_UNKNOWN = "not measured"
_RAID = "array.raid"
_NORMAL = " in normal operation"
_ALWAYS = "Dead battery: the array is always in this state, as no write cache needs a battery."


@dataclass(frozen=True, slots=True)
class Reliance:
    """How far the verdict that an array carries a load is to be relied on.

    Attributes:
        odds: The probability that all objectives are met, as far as the simulation is exact.
        error: The speeds of measured systems of its class, or why they are unknown; None without devices, or
            if the load cannot grow.
        carried: The most that it carries when simulated, as a multiple of the load; None if it cannot grow.
        is_bound: Whether it may carry more.
        odds_with_error: The probability that it carries the load, if its speed is one of these, if known.
    """

    odds: float
    error: ModelError | str | None
    carried: float | None
    is_bound: bool = False
    odds_with_error: float | None = None

    @property
    def is_sure(self) -> bool:
        """Whether it carries the load if it is as slow as the slowest systems of its class."""
        return is_sure(self.odds_with_error)


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """A single change of the array, and the array after it.

    Attributes:
        kind: `disks` for further ones, `cache`, `controller`, `raid`, or `disk` for other ones.
        value: The new part or level by its name.
        price: What has to be bought for it [currency]; None without a price.
        array: The array after the change, under both loads; in each state as long as it meets the objectives.
        usable_bytes: The size of the data that it can hold then.
        reliance: How far it is to be relied on that it fits; None if it does not.
    """

    kind: str
    value: str
    price: float | None
    array: JudgedArray
    usable_bytes: int
    reliance: Reliance | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """What `destage size --have` has found.

    Attributes:
        config: The canonical configuration with all loads.
        today: The array with its present load.
        added: The array with all loads.
        changes: The single changes that were simulated, the best first; none if the addition fits.
        impossible: The changes that cannot be built, or do not hold the data of both loads.
        too_small: The changes after which the array holds less than it must.
        kept_bytes: The size of the data that it must hold.
        data_bytes: The size of the data of all loads; None for a trace.
        currency: The currency of the prices; None if the changes are in the order of how little they change.
        remarks: Sentences on what the answer rests on.
        reliance: How far it is to be relied on that the addition fits; None if it does not.
    """

    config: Mapping[str, Any]
    today: JudgedArray
    added: JudgedArray
    changes: Sequence[JudgedChange] = ()
    impossible: int = 0
    too_small: int = 0
    kept_bytes: int = 0
    data_bytes: int | None = None
    currency: str | None = None
    remarks: Sequence[str] = ()
    reliance: Reliance | None = None

    @property
    def fitting(self) -> list[JudgedChange]:
        """The changes after which the array meets the objectives of all states, the best first."""
        return [change for change in self.changes if change.array.fits]


def compose_fit(fit: Fit) -> list[str]:
    """Return the answer, line by line."""
    lines = [_describe_verdict(fit)]
    limited = next(iter(fit.added.missed), fit.added)
    use = describe_use(limited.means, fit.config)
    if use and limited.state != NORMAL:
        use = [begin_sentence(f"{name_state(limited.state)}: {use[0]}"), *use[1:]]
    reliance = [] if fit.reliance is None else _describe_reliance(fit.reliance, fit.added)
    always = [_ALWAYS for one in fit.added.states if one.is_always]
    for paragraph in (reliance, _tabulate(fit), always, use, _describe_changes(fit), fit.remarks):
        lines += ["", *paragraph] if paragraph else []
    return lines


def list_misses(fit: Fit) -> list[str]:
    """Return the changes that were simulated and do not suffice, each with its result."""
    missing = [change for change in fit.changes if not change.array.fits]
    rows = [(name_change(fit, change), _describe_miss(change)) for change in missing]
    return [f"{_GAP}{line}" for line in align_cells(rows, left=2).splitlines()]


def name_change(fit: Fit, change: JudgedChange) -> str:
    """Return a change in words: `2 more disks, 6 in all`."""
    if change.kind == "disks":
        more = change.array.disks - fit.added.disks
        return f"{more} more disk{'s' if more > 1 else ''}, {change.array.disks} in all"
    if change.kind == "raid":
        return f"RAID {format_axis_value(_RAID, change.value, None)}"
    if change.kind == "disk":
        return f"{change.array.disks} x {catalog.entry('disks', change.value).title}"
    title = catalog.entry("controllers", change.value).title
    return f"larger cache: {title}" if change.kind == "cache" else title


def _describe_verdict(fit: Fit) -> str:
    """Return the verdict with its figures: `It fits: with the addition, response p95 is 12 ms, ...`."""
    results = [
        f"{_name(one, result.objective)} is {_show(result)}, {show_bound(result.objective)}"
        for one in (fit.added, *fit.added.states)
        for result in one.measured
    ]
    verdict = f"It fits{_qualify(fit.reliance, fit.added)}: with the addition, {', and '.join(results)}."
    if not fit.added.fits:
        verdict = f"It does not fit: the runs with the addition {_describe_missed(fit.added)}."
    if not fit.today.fits:
        verdict += f" Today's load alone does not fit either: its runs {_describe_missed(fit.today)}."
    return verdict


def _qualify(reliance: Reliance | None, array: JudgedArray) -> str:
    """Return what a verdict of the simulation is worth: ` with limited confidence (58 %)`."""
    if reliance is None:
        return ""
    if reliance.odds_with_error is None:
        return " in the simulation"
    odds = f"{format_odds(reliance.odds_with_error)}{_NORMAL if array.states else ''}"
    return f" with {'high' if reliance.is_sure else 'limited'} confidence ({odds})"


def _describe_reliance(reliance: Reliance, array: JudgedArray) -> list[str]:
    """Return the odds that the addition fits, the model's error, and whether it is to be sure."""
    exact = f"{format_odds(reliance.odds)} that all objectives are met, as far as the simulation is exact"
    normal = _NORMAL if array.states else ""
    if reliance.odds_with_error is not None:
        exact += f"; {format_odds(reliance.odds_with_error)} with the error of the model{normal}"
    facts = [("odds", exact)]
    error, carried = reliance.error, reliance.carried
    if carried is None:
        facts.append(("to be sure", "unknown: a stream of the load does not grow with its users"))
    elif not isinstance(error, ModelError):
        facts.append(("to be sure", "unknown, as the error of the model is"))
    else:
        times = "1.0" if format_rounded(carried, 2) == "1" else format_rounded(carried, 2)
        most = f"{'at least ' if reliance.is_bound else ''}{times} times the load"
        low, high, needed = (format_rounded(end, 2) for end in (error.low, error.high, 1 / error.low))
        verdict = "yes" if reliance.is_sure else "no"
        speed = (
            f"systems of this class ran at {low} to {high} times the simulated speed, which asks for {needed}"
        )
        facts.append(
            ("to be sure", f"{verdict}: the array carries {most} in the simulation{normal}; {speed}")
        )
    return [f"{_GAP}{line}" for line in align_cells(facts, left=2).splitlines()]


def _describe_missed(array: JudgedArray) -> str:
    return ", and ".join(map(_describe_failing, array.missed))


def _describe_failing(array: JudgedArray) -> str:
    return f"{describe_failing(array.verdict, array.binding)}{_name_failure(array)}"


def _name_failure(array: JudgedArray) -> str:
    """Return the state of failure of results: ` (dead battery)`; nothing for normal operation."""
    return "" if array.state == NORMAL else f" ({name_state(array.state)})"


def _name(array: JudgedArray, objective: Objective) -> str:
    return f"{name_result(objective.column)}{_name_failure(array)}"


def _show(result: Measured) -> str:
    return show_result(result.objective.column, result.mean, result.half_width)


def _tabulate(fit: Fit) -> list[str]:
    """Return the results of the array today and with the addition, side by side."""
    pair = (fit.today, fit.added)
    rows: list[tuple[str, ...]] = [("", "today", "with the addition", "objective")]
    hits = [
        _explain_missing(array) if array.hit_ratio is None else show_result(HIT_RATIO, *array.hit_ratio)
        for array in pair
    ]
    for states in (pair, *zip(fit.today.states, fit.added.states, strict=True)):
        for objective in dict.fromkeys(states[0].objectives):
            shown = [{result.objective: _show(result) for result in reversed(one.measured)} for one in states]
            cells = [
                of_array.get(objective, _explain_missing(one))
                for of_array, one in zip(shown, states, strict=True)
            ]
            rows.append((_name(states[0], objective), *cells, show_bound(objective)))
        if states is pair:
            rows.append((name_result(HIT_RATIO), *hits, ""))
    return [f"{_GAP}{line}" for line in align_cells(rows, left=4).splitlines()]


def _explain_missing(array: JudgedArray) -> str:
    """Return why an array has no results: `overloaded`, or only that they were not measured."""
    return "overloaded" if is_overload(array.binding) else _UNKNOWN


def _describe_changes(fit: Fit) -> list[str]:
    """Return the single changes that make the addition fit, or the nearest miss."""
    if fit.added.fits:
        return []
    if not fit.fitting:
        nearest = min(fit.changes, key=_find_distance, default=None)
        missed = ""
        if nearest is not None:
            missed = f" The nearest: {name_change(fit, nearest)}: {_describe_miss(nearest)}."
        return [f"No single change makes it fit.{missed}", *_count_others(fit)]
    order = "the cheapest first" if fit.currency else "the smallest first"
    rows = []
    for change in fit.fitting:
        array = change.array
        price = "no price" if change.price is None else f"{fit.currency} {format_amount(change.price)}"
        states = [array, *array.states]
        # Why fewer further disks do not suffice.
        failing = [one for one in states if change.kind == "disks" and one.failing is not None]
        fewer = "".join(f"{one.failing} {_describe_failing(one)}" for one in failing[:1])
        odds = _qualify(change.reliance, array).strip().removeprefix("with ")
        results = [(one, one.measured[0]) for one in states]
        facts = [
            f"holds {show_bytes(change.usable_bytes)}",
            *(f"{_name(one, result.objective)} {_show(result)}" for one, result in results),
            odds,
            fewer,
        ]
        cells = [name_change(fit, change), "; ".join(filter(None, facts))]
        rows.append([*([price] if fit.currency else []), *cells])
    listed = align_cells(rows, left=len(rows[0])).splitlines()
    return [
        f"Each of these changes makes it fit, {order}:",
        *(f"{_GAP}{line}" for line in listed),
        *_count_others(fit),
    ]


def _find_distance(change: JudgedChange) -> tuple[int, float]:
    """Return how far a change is from fitting: one that meets the objectives of more states is nearer."""
    return len(change.array.missed) - len(change.array.states), change.array.excess


def _describe_miss(change: JudgedChange) -> str:
    texts = []
    for array in change.array.missed:
        binding = [_show(result) for result in array.measured if result.objective.text == array.binding]
        texts.append(" with ".join([_describe_failing(array), *binding[:1]]))
    return f"runs {', and '.join(texts)}"


def _count_others(fit: Fit) -> list[str]:
    """Return how many changes do not help, and how many cannot be built."""
    missing = len(fit.changes) - len(fit.fitting)
    counts = [f"{format_count(missing, 'other change')} simulated without success"] if missing else []
    if fit.impossible:
        counts.append(
            f"{format_count(fit.impossible, 'change')} impossible, or too small for the data of both loads"
        )
    lines = [begin_sentence(f"{'; '.join(counts)}.")] if counts else []
    if fit.too_small:
        own = "" if fit.data_bytes is None else f"; the loads have {show_bytes(fit.data_bytes)} of data"
        lines.append(
            f"{format_count(fit.too_small, 'change')} not simulated, as the array would hold less than "
            f"{show_bytes(fit.kept_bytes)} (--keep states less{own})."
        )
    return lines
