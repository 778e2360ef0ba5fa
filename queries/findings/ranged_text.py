"""The answer of `destage size` for a load in ranges: odds and regret of each array, and which one to buy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from destage.measured_systems.model_error import ModelError, is_sure
from destage.queries.findings.candidates import name_parts
from destage.queries.findings.sizing_text import Sized, compose_sizing, format_odds
from destage.queries.text.presentation import format_amount, format_count, format_number, format_rounded
from destage.queries.text.shown_results import name_state
from destage.spec.printed_text import align_cells

_GAP = "  "
_RULE = (
    "Regret: what an array costs beyond the cheapest one that carries the load; where it does not carry it, "
    "its own price, as that one has to be bought in its place. Recommended is the least on average, which is "
    "the least expected cost, as the ranges say how probable each load is. Regret takes the simulation as "
    "exact; the odds with error do not."
)


@dataclass(frozen=True, slots=True)
class RangedCandidate:
    """An array under a load in ranges.

    Attributes:
        parts: Controller, disk and RAID level, by dotted path.
        price: Its price [currency].
        carried: The most of the load that it carries in the simulation, at each share of reads.
        is_bound: Whether it may carry more, at each share of reads.
        limiting: The state in which it carries the least, at each share of reads.
        odds: The share of the ranges in which it meets the objectives, as far as the simulation is exact.
        error: The speeds of measured systems of its class in normal operation, or why they are unknown; None
            without devices.
        odds_with_error: The probability that it meets them, if its speed is one of these, in the state where
            that is least; None if unknown.
        mean_regret: The expected regret [currency].
        greatest_regret: The regret at the worst load [currency].
    """

    parts: Mapping[str, str]
    disks: int
    price: float
    carried: Sequence[float]
    is_bound: Sequence[bool]
    limiting: Sequence[str]
    odds: float
    error: ModelError | str | None
    odds_with_error: float | None
    mean_regret: float
    greatest_regret: float


@dataclass(frozen=True, slots=True)
class RangedSizing:
    """What `destage size` has found for a load in ranges.

    Attributes:
        ranges: The ends of each range, by the name of the input.
        unit: What the amount of the load counts: users or IO/s.
        shares: The shares of reads at which arrays were measured; one value if that has no range.
        candidates: The arrays, the cheapest first.
        sizings: The loads that were sized, and what was found for each; the least load first.
        uncarried: The share of the ranges in which no candidate meets the objectives.
        states: The states of failure that have objectives, too.
    """

    ranges: Mapping[str, tuple[float, float]]
    unit: str
    shares: Sequence[float]
    candidates: Sequence[RangedCandidate]
    sizings: Sequence[tuple[Mapping[str, float], Sized]]
    uncarried: float
    states: Sequence[str] = ()

    @property
    def currency(self) -> str:
        """The currency of the prices."""
        return self.sizings[0][1].currency

    @property
    def spares(self) -> int:
        """The hot spares of each candidate."""
        return self.sizings[0][1].spares

    @property
    def remarks(self) -> list[str]:
        """Sentences on what the answer rests on; those on some of the loads begin with these."""
        loads: dict[str, list[str]] = {}
        for values, sized in self.sizings:
            load = ", ".join(_describe_input(name, values[name], values[name]) for name in self.ranges)
            for remark in dict.fromkeys(sized.remarks):
                loads.setdefault(remark, []).append(load)
        return [
            remark if len(about) == len(self.sizings) else f"{'; '.join(about)}: {remark}"
            for remark, about in loads.items()
        ]

    @property
    def carrying(self) -> list[RangedCandidate]:
        """The candidates, the recommended one first: by their regret on average, then by price."""
        return sorted(self.candidates, key=lambda one: (one.mean_regret, one.price))

    @property
    def sure(self) -> RangedCandidate | None:
        """The cheapest candidate that is as probable to carry the load as what a single load is sized for."""
        return next((one for one in self.candidates if is_sure(one.odds_with_error)), None)


def compose_ranged(ranged: RangedSizing) -> list[str]:
    """Return the answer, line by line."""
    if not ranged.candidates:
        values, sized = ranged.sizings[0]
        least = ", ".join(_describe_input(name, value, value) for name, value in values.items())
        return [f"Even at the low ends ({least}):", *compose_sizing(sized)]
    best = ranged.carrying[0]
    ranges = [_describe_input(name, *ends) for name, ends in ranged.ranges.items()]
    count = format_count(len(ranged.candidates), "candidate")
    mean, most = (
        f"{ranged.currency} {_amount(regret)}" for regret in (best.mean_regret, best.greatest_regret)
    )
    facts = [
        ("ranges", f"{', '.join(ranges)}; every value is as probable as any other"),
        *([("states", _describe_states(ranged.states))] if ranged.states else []),
        ("odds", _describe_odds(best)),
        ("regret", f"{mean} on average, {most} at most, the least on average of {count}"),
    ]
    if (sure := ranged.sure) is not None:
        facts.append(("to be sure", f"{_name(ranged, sure)} ({ranged.currency} {format_amount(sure.price)})"))
    if ranged.uncarried:
        facts.append(("not carried", f"{_percent(ranged.uncarried)} of the ranges, by any candidate"))
    return [
        f"{_name(ranged, best)}: {ranged.currency} {format_amount(best.price)}",
        "",
        *(f"{_GAP}{line}" for line in align_cells(facts, left=2).splitlines()),
        "",
        *_tabulate(ranged),
        "",
        _RULE,
        *(["", *ranged.remarks] if ranged.remarks else []),
    ]


def _name(ranged: RangedSizing, one: RangedCandidate) -> str:
    return name_parts(one.parts, one.disks, ranged.spares)


def _describe_input(name: str, low: float, high: float) -> str:
    words = {
        "users": ("users", 1),
        "read_share": ("% reads", 100),
        "iops": ("IO/s", 1),
        "read_iops": ("reads/s", 1),
        "write_iops": ("writes/s", 1),
    }
    unit, scale = words[name]
    ends = dict.fromkeys(format_number(end * scale) for end in (low, high))
    return f"{' to '.join(ends)} {unit}"


def _describe_states(states: Sequence[str]) -> str:
    names = " and ".join(name_state(state) for state in states)
    return f"normal operation and {names}: carried is what meets the objectives of each"


def _describe_odds(one: RangedCandidate) -> str:
    odds = f"{_percent(one.odds)} that all objectives are met, as far as the simulation is exact"
    if one.odds_with_error is None:
        return f"{odds}; its error is unknown"
    return f"{odds}; {_percent(one.odds_with_error)} with the error of the model"


def _tabulate(ranged: RangedSizing) -> list[str]:
    """Return the candidates with their odds and regret, the cheapest first."""
    results = ("odds", "with error", "mean regret", "greatest", "configuration")
    limited = ("limited in",) if ranged.states else ()
    rows = [(f"price [{ranged.currency}]", f"carries [{ranged.unit}]", *limited, *results)]
    rows += [
        (
            format_amount(one.price),
            _describe_carried(one),
            *([", ".join(dict.fromkeys(map(name_state, one.limiting)))] if ranged.states else []),
            _percent(one.odds),
            "unknown" if one.odds_with_error is None else _percent(one.odds_with_error),
            _amount(one.mean_regret),
            _amount(one.greatest_regret),
            _name(ranged, one),
        )
        for one in ranged.candidates
    ]
    return [f"{_GAP}{line}" for line in align_cells(rows, ends_in_text=True).splitlines()]


def _describe_carried(one: RangedCandidate) -> str:
    carried = sorted(zip(one.carried, one.is_bound, strict=True))
    ends = [
        f"{'≥ ' if is_bound else ''}{format_rounded(most)}" for most, is_bound in (carried[0], carried[-1])
    ]
    return " to ".join(dict.fromkeys(ends))


def _percent(share: float) -> str:
    """Return a probability, where none is certain: every one is computed from a sample of loads."""
    return "100 %" if share == 1 else format_odds(share)


def _amount(price: float) -> str:
    return format_amount(round(price))
