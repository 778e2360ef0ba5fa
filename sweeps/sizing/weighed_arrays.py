"""The odds and the regret of each array, if the load is not known when one has to be bought.

The regret at a load is what a choice costs beyond the cheapest choice for that load [1]. An array that
carries the load costs its price. One that does not is replaced by the cheapest that does, and costs both
prices: its own price is regretted. With a probability for each load, the choice of the least expected regret
is that of the least expected cost [2].

1. L. J. Savage: The theory of statistical decision. J. Am. Stat. Assoc. 46, 1951.
2. H. Raiffa, R. Schlaifer: Applied Statistical Decision Theory. Harvard University, 1961 (expected
  opportunity loss).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from destage.measured_systems.model_error import ModelError
from destage.sweeps.sizing.uncertain_load import LoadPoint, interpolate


@dataclass(frozen=True, slots=True)
class Carried:
    """How much of a load an array carries in normal operation, or in a state of failure.

    Attributes:
        amounts: The most that it carries in the simulation, at each share of reads.
        is_bound: Whether it may carry more, at each share of reads.
        error: The speeds of measured systems of its class, or why they are unknown; None without devices.
    """

    amounts: list[float]
    is_bound: Sequence[bool]
    error: ModelError | str | None


@dataclass(frozen=True, slots=True)
class MeasuredArray:
    """An array, and how much of a load it carries.

    Attributes:
        parts: Its parts and number of disks, by dotted path.
        price: Its price [currency].
        states: What it carries in normal operation, which comes first, and in each state of failure.
    """

    parts: Mapping[str, Any]
    price: float
    states: Mapping[str, Carried]

    @property
    def limiting(self) -> list[str]:
        """The state in which it carries the least, at each share of reads."""
        shares = range(len(next(iter(self.states.values())).amounts))
        return [min(self.states, key=lambda state: self.states[state].amounts[share]) for share in shares]

    @property
    def carried(self) -> list[float]:
        """The most that it carries in all states in the simulation, at each share of reads."""
        return [self.states[state].amounts[share] for share, state in enumerate(self.limiting)]

    @property
    def is_bound(self) -> list[bool]:
        """Whether it may carry more, at each share of reads."""
        return [self.states[state].is_bound[share] for share, state in enumerate(self.limiting)]

    def raise_to(self, share: int, amount: float) -> None:
        """Count a load, at a share of reads by its position, as carried in all states."""
        for carried in self.states.values():
            carried.amounts[share] = max(carried.amounts[share], amount)


@dataclass(frozen=True, slots=True)
class Weights:
    """The odds and the regret of an array.

    Attributes:
        odds: The share of the loads that it carries in the simulation.
        odds_with_error: The probability that it carries them with the model's error, in the state where that
            is least; None if the error is unknown in normal operation.
        mean_regret: The expected regret [currency].
        greatest_regret: The regret at the worst load [currency].
    """

    odds: float
    odds_with_error: float | None
    mean_regret: float
    greatest_regret: float


def weigh_arrays(
    arrays: Sequence[MeasuredArray], shares: Sequence[float], strata: Sequence[LoadPoint]
) -> tuple[list[Weights], float]:
    """Return the odds and the regret of each array, and the share of the loads that none carries.

    Args:
        shares: The shares of reads at which they were measured, ascending.
        strata: Loads of equal probability.
    """
    limits = [[interpolate(shares, array.carried, load.share) for load in strata] for array in arrays]
    carries = [[load.amount <= limit for load, limit in zip(strata, most, strict=True)] for most in limits]
    regrets = list_regrets([array.price for array in arrays], carries)
    weighed = [
        Weights(fmean(carried), _find_least_odds(array, shares, strata), fmean(regret), max(regret))
        for array, carried, regret in zip(arrays, carries, regrets, strict=True)
    ]
    return weighed, 1 - fmean(map(any, zip(*carries, strict=True)))


def list_regrets(prices: Sequence[float], carries: Sequence[Sequence[bool]]) -> list[list[float]]:
    """Return the regret of each array at each load [currency]; 0 at loads that none carries.

    Args:
        prices: The price of each array [currency].
        carries: Whether it carries each of the loads, in the same order for all.
    """
    regrets: list[list[float]] = [[] for _ in prices]
    for at_load in zip(*carries, strict=True):
        enough = [price for price, is_carried in zip(prices, at_load, strict=True) if is_carried]
        for price, is_carried, regret in zip(prices, at_load, regrets, strict=True):
            regret.append((price - min(enough) if is_carried else price) if enough else 0.0)
    return regrets


def _find_least_odds(
    array: MeasuredArray, shares: Sequence[float], strata: Sequence[LoadPoint]
) -> float | None:
    """Return the least odds of an array in its states; None if the error is unknown in normal operation.

    In a state of failure whose error is unknown, they are those of the simulation.
    """
    amounts = [load.amount for load in strata]
    least = None
    for carried in array.states.values():
        limits = [interpolate(shares, carried.amounts, load.share) for load in strata]
        odds = find_odds(carried.error, amounts, limits)
        if least is None:
            if odds is None:
                return None
            least = odds
        elif odds is None:
            odds = fmean(amount <= limit for amount, limit in zip(amounts, limits, strict=True))
        least = min(least, odds)
    return least


def find_odds(
    error: ModelError | str | None, amounts: Sequence[float], limits: Sequence[float]
) -> float | None:
    """Return the probability that a system carries loads of equal probability; None if the error is unknown.

    A system of half the simulated speed carries half of what was simulated.

    Args:
        amounts: The loads.
        limits: What the simulated array carries, at the share of reads of each.
    """
    if not isinstance(error, ModelError):
        return None
    return fmean(
        error.share_above(amount / limit) if limit else 0.0
        for amount, limit in zip(amounts, limits, strict=True)
    )
