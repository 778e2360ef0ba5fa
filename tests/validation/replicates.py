"""Comparison of exact values with replicates: a t-interval must be narrow and cover the exact value.

All interval checks of this folder are one family that holds with 99 %, so each check has the level
1 - 0.01 / `FAMILY` (Bonferroni). Seeds are fixed, so the verdicts are reproducible. Each check also gets the
results of a wrong model and must reject them.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from scipy import stats
from validation.form import SHARE
from validation.mutations import ENGINE, simulate_mutants

from destage.engine import simulate

FAMILY = 160
"""Maximum number of interval checks in the family."""

LEVEL = 1 - 0.01 / FAMILY

REPLICATES = 16

SEED = 20_060_606

Row = dict[str, Any]


@dataclass(frozen=True)
class Estimate:
    """A mean over replicates with the half-width of its interval."""

    mean: float
    half_width: float

    def covers(self, value: float, rounding: float = 0.0) -> bool:
        """Return whether the interval contains `value`, which has the relative uncertainty `rounding`."""
        return abs(self.mean - value) <= self.half_width + rounding * abs(value)


@dataclass(frozen=True)
class Mutant:
    """The value of a wrong model in a check, and whether the check rejected it."""

    change: str
    ours: float
    is_rejected: bool


@dataclass(frozen=True)
class Verdict:
    """One row of the page: a comparison and its verdict."""

    title: str
    unit: str
    exact: float
    ours: float
    half_width: float | None
    text: str
    mutants: tuple[Mutant, ...] = ()


@dataclass(frozen=True)
class Case:
    """A test: its file, and the docstrings of both."""

    path: str
    subject: str
    name: str
    summary: str


@dataclass
class Ledger:
    """The verdicts of all checks of a session by test."""

    verdicts: dict[Case, dict[tuple[str, str], Verdict]] = field(default_factory=dict)
    case: Case = field(default_factory=lambda: Case("", "", "", ""))

    def add(self, verdict: Verdict) -> None:
        """Add a verdict; it replaces an earlier one with the same title."""
        self.verdicts.setdefault(self.case, {})[verdict.title, verdict.unit] = verdict

    def lines(self) -> list[Verdict]:
        """Return all verdicts."""
        return [verdict for verdicts in self.verdicts.values() for verdict in verdicts.values()]


LEDGER = Ledger()


def replicate(
    scenario: Mapping[str, Any], count: int = REPLICATES, *, mutation: str | None = None
) -> list[Row]:
    """Return the rows of `count` replicates of a scenario.

    With a `mutation`, they are from the engine with this mistake; none in the short form.
    """
    scenarios = [
        {**scenario, "run": {"seed": SEED, "replicate": index, **scenario["run"]}} for index in range(count)
    ]
    if mutation is not None:
        return simulate_mutants(scenarios, mutation)
    return [simulate(one) for one in scenarios]


def mutants_of(
    scenario: Mapping[str, Any],
    mutations: Mapping[str, str],
    value: Callable[[Row], float],
    count: int = REPLICATES,
) -> dict[str, list[float]]:
    """Return a value of the replicates of a scenario on the engine with each of `mutations`."""
    return {
        change: each(replicate(scenario, count, mutation=mutation), value)
        for change, mutation in mutations.items()
    }


def requests(count: int, replicates: int = REPLICATES) -> int:
    """Return the number of requests per replicate, of `count` in total, in the current form."""
    return max(count // replicates // SHARE, 100)


@lru_cache
def _quantile(degrees: int) -> float:
    return float(stats.t.ppf(0.5 + LEVEL / 2, degrees))


def estimate(values: Iterable[float]) -> Estimate:
    """Return the mean of independent values, with an interval at the family's level."""
    values = list(values)
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    error = math.sqrt(squares / (len(values) - 1) / len(values))
    return Estimate(mean, _quantile(len(values) - 1) * error)


def each(rows: Iterable[Row], value: Callable[[Row], float]) -> list[float]:
    """Return a value of each row."""
    return [value(row) for row in rows]


def response_ms(row: Row) -> float:
    """Return the mean response time of a row [ms]."""
    return float(row["response_mean_us"]) / 1e3


def assert_covers(
    title: str,
    unit: str,
    exact: float,
    values: Sequence[float],
    *,
    mutants: Mapping[str, Sequence[float]],
    bound: float = 0.01,
    rounding: float = 0.0,
) -> None:
    """Assert that the interval over `values` is narrow and covers `exact`, and those over `mutants` do not.

    Args:
        title: Title on the page.
        exact: The true value.
        values: One value per replicate.
        mutants: What wrong models give, by what is wrong with them: there is one at least, and the check
            must reject each. Without values where the short form has no engine that makes the mistake.
        bound: Greatest half width of the long form, relative to `exact`.
        rounding: How far the model is knowingly from the closed form, relative to `exact`: whole
            nanoseconds, a term that the formula leaves out. Said in the page's title where it matters.
    """
    assert mutants, f"{title}: no wrong model that it rejects"
    found = estimate(values)
    judged = []
    for change, wrong in mutants.items():
        if ENGINE is None and not wrong:
            continue
        mutant = estimate(wrong)
        judged.append(Mutant(change, mutant.mean, not mutant.covers(exact, rounding)))
    is_covered = found.covers(exact, rounding)
    text = "covers" if is_covered else "MISSES"
    LEDGER.add(Verdict(title, unit, exact, found.mean, found.half_width, text, tuple(judged)))
    allowed = bound * abs(exact) * math.sqrt(SHARE)
    assert found.half_width <= allowed, (
        f"{title}: half width {found.half_width:.6g} above {allowed:.6g} {unit}"
    )
    assert is_covered, f"{title}: {found.mean:.8g} ± {found.half_width:.3g} {unit} misses {exact:.8g}"
    for mutant in judged:
        assert mutant.is_rejected, f"{title}: {mutant.change} gives {mutant.ours:.8g}, and {exact:.8g} passes"


def assert_equal(
    title: str,
    unit: str,
    exact: float,
    ours: float,
    *,
    tolerance: float = 0.0,
    mutants: Mapping[str, float | None] | None = None,
) -> None:
    """Assert that a value without randomness is exact within a relative `tolerance`, and `mutants` are not.

    A mutant is None if the short form has no engine with this mistake.
    """

    def is_equal(value: float) -> bool:
        return math.isclose(value, exact, rel_tol=tolerance, abs_tol=1e-12)

    judged = tuple(
        Mutant(change, wrong, not is_equal(wrong))
        for change, wrong in (mutants or {}).items()
        if wrong is not None
    )
    text = ("equal" if tolerance == 0 else f"within {tolerance:.2g}") if is_equal(ours) else "DIFFERS"
    LEDGER.add(Verdict(title, unit, exact, ours, None, text, judged))
    assert is_equal(ours), f"{title}: {ours!r} instead of {exact!r} {unit}"
    for mutant in judged:
        assert mutant.is_rejected, f"{title}: {mutant.change} gives {mutant.ours!r}, and {exact!r} passes"
