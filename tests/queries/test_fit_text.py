"""The answer of `destage size --have` in words."""

import math
from dataclasses import replace
from typing import Any

import pytest

from destage.measured_systems.model_error import LoadClass, ModelError
from destage.queries.findings.candidates import JudgedArray, measure
from destage.queries.findings.fit_text import Fit, JudgedChange, Reliance, compose_fit, list_misses
from destage.spec.objective import Objective

P95 = Objective("response_p95 <= 30ms", "response_p95_us", "<=", 30_000.0)
BUSY = Objective("disk_busy_max <= 0.9", "disk_busy_max_fraction", "<=", 0.9)
CONFIG: dict[str, Any] = {"arrays": [{"disk": {"kind": "disk"}}]}


def judge(p95_ms: float, busy: float, disks: int = 4, failing: int | None = None) -> JudgedArray:
    """Return an array with these results, and the objective that it misses by most."""
    results = (measure(P95, [p95_ms * 1000] * 3), measure(BUSY, [busy] * 3))
    missed = [result for result in results if not result.objective.is_met(result.mean)]
    binding = max(missed, key=lambda result: result.mean / result.objective.bound, default=None)
    return JudgedArray(
        label=None,
        disks=disks,
        is_met=binding is None,
        failing=failing if binding is None else disks,
        verdict=None if binding is None else "misses",
        binding=P95.text if binding is None else binding.objective.text,
        objectives=(P95, BUSY),
        measured=results,
        hit_ratio=(0.25, 0.0),
        means={"disk_busy_max_fraction": busy},
    )


OVERLOADED = replace(judge(99, 1), measured=(), binding="overloaded", hit_ratio=None)
MORE = JudgedChange("disks", "exos_x18", 200.0, judge(20, 0.7, disks=6, failing=5), 90 * 10**12)
LEVEL = JudgedChange("raid", "10", 0.0, judge(36, 0.95), 36 * 10**12)
CACHE = JudgedChange("cache", "megaraid_9560_16i", None, judge(31, 0.8), 54 * 10**12)


def test_an_addition_that_fits_has_its_figures() -> None:
    lines = compose_fit(Fit(CONFIG, judge(10, 0.4), judge(24, 0.8)))
    assert lines[0] == (
        "It fits: with the addition, response p95 is 24 ms, at most 30 ms, "
        "and disk busy max is 80 %, at most 90 %."
    )
    rows = [line.split() for line in lines[2:6]]
    assert rows[1] == ["response", "p95", "10", "ms", "24", "ms", "at", "most", "30", "ms"]
    assert rows[3] == ["hit", "ratio", "25", "%", "25", "%"]
    assert lines[7].startswith("Limited by the disks.")
    assert not any("change" in line for line in lines)


ERROR = ModelError(LoadClass("spinning"), 6, 0.5, 1.0, 2.0)


@pytest.mark.parametrize(
    ("odds", "verdict", "sure"),
    [
        (0.58, "It fits with limited confidence (58 %): ", "no"),
        (0.95, "It fits with high confidence (95 %): ", "yes"),
    ],
)
def test_a_fit_has_its_odds_and_whether_it_is_sure(odds: float, verdict: str, sure: str) -> None:
    """A system of half the speed carries the load if the simulated one carries twice as much."""
    fit = Fit(CONFIG, judge(10, 0.4), judge(24, 0.8), reliance=Reliance(0.97, ERROR, 1.25, False, odds))
    first, _, exact, assured, *_ = compose_fit(fit)
    assert first.startswith(verdict)
    assert "97 % that all objectives are met" in exact
    assert exact.endswith(f"{odds:.0%}".replace("%", " %") + " with the error of the model")
    assert assured.split("  ")[2].startswith(f"{sure}: the array carries 1.2 times the load")
    assert assured.endswith("0.5 to 2 times the simulated speed, which asks for 2")


@pytest.mark.parametrize(("carried", "text"), [(1.01, "1.0"), (1.25, "1.2"), (0.36, "0.36"), (12.3, "12")])
def test_what_is_carried_has_two_digits(carried: float, text: str) -> None:
    fit = Fit(CONFIG, judge(10, 0.4), judge(24, 0.8), reliance=Reliance(0.97, ERROR, carried, False, 0.58))
    assert f" carries {text} times the load " in compose_fit(fit)[3]


def test_a_fit_without_a_known_error_is_one_of_the_simulation() -> None:
    for reliance in (Reliance(0.97, "a sequential load", 3.0), Reliance(0.97, None, None)):
        fit = Fit(CONFIG, judge(10, 0.4), judge(24, 0.8), reliance=reliance)
        first, _, _, assured, *_ = compose_fit(fit)
        assert not reliance.is_sure
        assert first.startswith("It fits in the simulation: ")
        assert "unknown" in assured


def test_changes_that_make_it_fit_are_listed() -> None:
    more = replace(MORE, reliance=Reliance(1.0, ERROR, 1.25, False, 0.7))
    fit = Fit(CONFIG, judge(10, 0.4), judge(50, 0.99), [more, LEVEL], impossible=3, currency="EUR")
    lines = compose_fit(fit)
    assert lines[0] == "It does not fit: the runs with the addition miss response_p95 <= 30ms."
    (listed,) = [line for line in lines if "more disks" in line]
    words = [
        "EUR 200",
        "2 more disks, 6 in all",
        "holds 90 TB; response p95 20 ms; limited confidence (70 %); 5 miss response_p95 <= 30ms",
    ]
    assert [line.strip() for line in listed.strip().split("  ") if line.strip()] == words
    assert lines[lines.index(listed) + 1].startswith("1 other change simulated without success; 3 changes")
    assert [line.split("  ")[1:] for line in list_misses(fit)] == [
        ["RAID 1+0", "runs miss response_p95 <= 30ms with 36 ms"]
    ]


def test_the_nearest_miss_exceeds_its_bound_by_least() -> None:
    """31 of 30 ms are nearer than 36 of 30 ms."""
    lines = compose_fit(Fit(CONFIG, judge(10, 0.4), judge(50, 0.99), [LEVEL, CACHE]))
    (line,) = [line for line in lines if line.startswith("No single change")]
    assert "larger cache: " in line
    assert line.endswith("runs miss response_p95 <= 30ms with 31 ms.")


def test_an_overloaded_array_has_no_figures() -> None:
    fit = Fit(CONFIG, judge(40, 0.95), OVERLOADED)
    verdict, *lines = compose_fit(fit)
    assert verdict == (
        "It does not fit: the runs with the addition are overloaded. "
        "Today's load alone does not fit either: its runs miss response_p95 <= 30ms."
    )
    assert [cell.strip() for cell in lines[2].split("  ") if cell][-2:] == ["overloaded", "at most 30 ms"]
    assert lines[4].split() == ["hit", "ratio", "25", "%", "overloaded"]
    unknown = compose_fit(replace(fit, added=replace(OVERLOADED, verdict="not_measured", binding=P95.text)))
    assert all("not measured" in line for line in unknown[3:6])
    assert OVERLOADED.excess == pytest.approx(float("inf"))
    assert lines[-1].startswith("No single change makes it fit.")


def test_each_state_of_failure_has_its_figures() -> None:
    """50 of 60 ms are met with a dead battery; 90 ms are not."""
    slow = replace(P95, text="response_p95 <= 60ms", bound=60_000.0)

    def add(array: JudgedArray, p95_ms: float, *, failing: int | None = None) -> JudgedArray:
        is_met = p95_ms <= 60
        state = replace(
            array,
            state="dead_battery",
            objectives=(slow,),
            measured=(measure(slow, [p95_ms * 1000] * 3),) if math.isfinite(p95_ms) else (),
            is_met=is_met,
            verdict=None if is_met else "misses",
            binding=slow.text if math.isfinite(p95_ms) else "overloaded",
            failing=failing if is_met else array.disks,
        )
        return replace(array, states=(state,))

    today, met, missed = (add(judge(10, 0.4), 20), add(judge(24, 0.8), 50), add(judge(24, 0.8), 90))
    assert (met.fits, missed.fits, missed.is_met) == (True, False, True)
    assert missed.excess == pytest.approx(1.5)
    lines = compose_fit(Fit(CONFIG, today, met, reliance=Reliance(0.97, ERROR, 2.5, False, 0.97)))
    assert lines[0].startswith("It fits with high confidence (97 % in normal operation): ")
    assert lines[0].endswith("and response p95 (dead battery) is 50 ms, at most 60 ms.")
    assert any(
        line.split()
        == ["response", "p95", "(dead", "battery)", "20", "ms", "50", "ms", "at", "most", "60", "ms"]
        for line in lines
    )
    # An array that is overloaded in a state has its objective, too.
    overloaded = compose_fit(Fit(CONFIG, add(judge(10, 0.4), math.inf), add(judge(24, 0.8), math.inf)))
    (line,) = [line for line in overloaded if line.lstrip().startswith("response p95 (dead battery)")]
    assert line.split()[4:] == ["overloaded", "overloaded", "at", "most", "60", "ms"]
    more = replace(MORE, array=add(replace(MORE.array, failing=None), 40, failing=5))
    changes = [more, LEVEL, replace(CACHE, array=add(judge(12, 0.8), 80))]
    lines = compose_fit(Fit(CONFIG, today, missed, changes))
    assert lines[0] == (
        "It does not fit: the runs with the addition miss response_p95 <= 60ms (dead battery)."
    )
    assert any(line.startswith("Dead battery: Limited by the disks.") for line in lines)
    (listed,) = [line for line in lines if "more disks" in line]
    assert "response p95 (dead battery) 40 ms" in listed
    assert listed.endswith("5 miss response_p95 <= 60ms (dead battery)")
    # 80 of 60 ms in one state are nearer than 36 of 30 ms, with which no other state was examined.
    (line,) = [line for line in compose_fit(Fit(CONFIG, today, missed, changes[1:])) if "nearest" in line]
    assert line.endswith("runs miss response_p95 <= 60ms (dead battery) with 80 ms.")
