"""Exact values against replicates: a t-interval that must be narrow and must cover the truth.

All interval checks of this folder are one family: it holds with 99 %, so each check has the level
1 - 0.01 / `FAMILY` (Bonferroni). Seeds are fixed, so the verdicts are too.
"""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from scipy import stats

from destage.engine import simulate

FAMILY = 96
"""Interval checks that the family may hold at most."""

LEVEL = 1 - 0.01 / FAMILY

REPLICATES = 16

REPORT_PATH = os.environ.get("DESTAGE_VALIDATION_REPORT")
"""Where the long form writes its page; without it, the short form runs."""

SHARE = 1 if REPORT_PATH else 4
"""The short form simulates this many times less, and may be off by the square root of it more."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Estimate:
    """A mean over replicates with the half width of its interval."""

    mean: float
    half_width: float

    def covers(self, value: float) -> bool:
        """Whether the interval holds `value`."""
        return abs(self.mean - value) <= self.half_width


@dataclass(frozen=True)
class Verdict:
    """One line of the page: what was compared, and how it came out."""

    title: str
    unit: str
    exact: float
    ours: float
    half_width: float | None
    text: str


@dataclass
class Ledger:
    """What all checks of a session found."""

    verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict)

    def note(self, verdict: Verdict) -> None:
        """Add one, in the place of an earlier one of the same title."""
        self.verdicts[verdict.title, verdict.unit] = verdict


LEDGER = Ledger()


def replicate(scenario: Mapping[str, Any], count: int = REPLICATES) -> list[Row]:
    """The rows of `count` replicates of a scenario."""
    return [
        simulate({**scenario, "run": {"seed": 20_060_606, "replicate": index, **scenario["run"]}})
        for index in range(count)
    ]


def requests(count: int, replicates: int = REPLICATES) -> int:
    """The share of `count` requests in all that falls to one replicate of the form that runs."""
    return max(count // replicates // SHARE, 100)


@lru_cache
def _quantile(degrees: int) -> float:
    return float(stats.t.ppf(0.5 + LEVEL / 2, degrees))


def estimate(values: Iterable[float]) -> Estimate:
    """The mean of independent values, with the interval of the family's level."""
    values = list(values)
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    error = math.sqrt(squares / (len(values) - 1) / len(values))
    return Estimate(mean, _quantile(len(values) - 1) * error)


def assert_covers(
    title: str,
    unit: str,
    exact: float,
    values: Sequence[float],
    *,
    bound: float = 0.01,
    rounding: float = 0.0,
) -> None:
    """The interval over `values` is narrow and covers `exact`.

    Args:
        title: What is compared, for the page.
        unit: Its unit.
        exact: The true value.
        values: One for each replicate.
        bound: Greatest half width of the long form, relative to `exact`.
        rounding: How far the model is knowingly from the closed form, relative to `exact`: whole
            nanoseconds, a term that the formula leaves out. Said in the page's title where it matters.
    """
    found = estimate(values)
    off = max(abs(found.mean - exact) - rounding * abs(exact), 0.0)
    is_covered = off <= found.half_width
    LEDGER.note(
        Verdict(title, unit, exact, found.mean, found.half_width, "covers" if is_covered else "MISSES")
    )
    allowed = bound * abs(exact) * math.sqrt(SHARE)
    assert found.half_width <= allowed, (
        f"{title}: half width {found.half_width:.6g} above {allowed:.6g} {unit}"
    )
    assert is_covered, f"{title}: {found.mean:.8g} ± {found.half_width:.3g} {unit} misses {exact:.8g}"


def assert_equal(title: str, unit: str, exact: float, ours: float, *, tolerance: float = 0.0) -> None:
    """A value that has no randomness left is exact, up to `tolerance` relative to it."""
    is_equal = math.isclose(ours, exact, rel_tol=tolerance, abs_tol=1e-12)
    text = ("equal" if tolerance == 0 else f"within {tolerance:.2g}") if is_equal else "DIFFERS"
    LEDGER.note(Verdict(title, unit, exact, ours, None, text))
    assert is_equal, f"{title}: {ours!r} instead of {exact!r} {unit}"


def assert_rejects(title: str, exact: float, values: Sequence[float]) -> None:
    """A mutation of the engine or of the truth would be found: the interval does not cover `exact`."""
    found = estimate(values)
    text = "rejected" if not found.covers(exact) else "NOT FOUND"
    LEDGER.note(Verdict(title, "mutation", exact, found.mean, found.half_width, text))
    assert not found.covers(exact), (
        f"{title}: {found.mean:.8g} ± {found.half_width:.3g} still covers {exact:.8g}"
    )
