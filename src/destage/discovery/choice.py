"""The box that answers where a statement holds, chosen from a peeling trajectory by a stated rule.

Without a demand, it is the box with the largest harmonic mean of coverage and density (F-measure). With one,
it is the box with the largest coverage among those of at least a density, or with the largest density among
those of at least a coverage. Limits of the chosen box are then moved outwards as long as that improves it
(pasting), and removed where they are likely chance.

The quasi-p-value of a limit is the probability of as many cases in the box, if the points inside were cases
as often as without this limit [1]. Above 0.05, the limit may be chance, and is named as such; above 0.2, it
is removed.

[1] B. P. Bryant, R. J. Lempert, Thinking inside the box: A participatory, computer-assisted approach to
    scenario discovery, Technological Forecasting and Social Change 77 (2010) 34-49.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from destage.discovery.boxes import Box, list_expanded

CHANCE, LIKELY_CHANCE = 0.05, 0.2
"""Quasi-p-values above which a limit may be chance, and above which it is removed."""
_MOST_STEPS = 200

Key = Callable[[Box], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a box must have.

    Attributes:
        coverage: The least coverage; None if none is demanded.
        density: The least density; None if none is demanded.
    """

    coverage: float | None = None
    density: float | None = None

    def is_met(self, box: Box) -> bool:
        """Whether a box has what is demanded."""
        return box.coverage >= (self.coverage or 0) and box.density >= (self.density or 0)

    def rank(self, box: Box) -> tuple[float, ...]:
        """Return how good a box is, in the order of tuples."""
        fewer = -float(len(box.restricted))
        if self.density is not None:
            return float(self.is_met(box)), box.coverage, box.density, fewer
        if self.coverage is not None:
            return float(self.is_met(box)), box.density, box.coverage, fewer
        return 1.0, box.f_measure, fewer


def choose_box(trajectory: Sequence[Box], rule: Rule) -> Box | None:
    """Return the box that a rule selects, with its limits moved outwards; None if no box meets the rule."""
    box = max(trajectory, key=rule.rank)
    if not rule.is_met(box):
        return None
    for _ in range(_MOST_STEPS):
        better = max(list_expanded(box), key=rule.rank, default=box)
        if rule.rank(better) <= rule.rank(box):
            break
        box = better
    while limits := [(quasi_p_value(box, axis), axis) for axis in box.restricted]:
        worst, axis = max(limits)
        wider = box.replace(axis, box.allowed[axis] | True)
        if worst <= LIKELY_CHANCE or not rule.is_met(wider):
            break
        box = wider
    return box


def quasi_p_value(box: Box, axis: int) -> float:
    """Return the quasi-p-value of the limits of an axis."""
    without = box.is_inside_without(axis)
    share = float((without & box.is_case).sum()) / int(without.sum())
    return binomial_tail(box.cases, box.points, share)


def binomial_tail(least: int, trials: int, share: float) -> float:
    """Return the probability of at least this many successes, each with the probability `share`."""
    if least <= 0 or share >= 1:
        return 1.0
    if share <= 0:
        return 0.0
    log_share, log_rest = math.log(share), math.log1p(-share)
    logs = (
        math.lgamma(trials + 1)
        - math.lgamma(count + 1)
        - math.lgamma(trials - count + 1)
        + count * log_share
        + (trials - count) * log_rest
        for count in range(least, trials + 1)
    )
    return min(1.0, math.fsum(map(math.exp, logs)))
