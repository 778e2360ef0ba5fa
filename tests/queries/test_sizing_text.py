"""The answer of `destage size`: margins, odds and what was ruled out, by hand."""

from dataclasses import replace

import pytest

from destage.measured_systems.model_error import LoadClass, ModelError
from destage.queries.findings.candidates import (
    CONTROLLER,
    DISK,
    RAID,
    BatteryCase,
    Candidate,
    JudgedArray,
    Measured,
    measure,
)
from destage.queries.findings.sizing_text import Assured, Sized, compose_sizing, format_odds
from destage.spec.objective import Objective

P95 = Objective("response_p95 <= 30ms", "response_p95_us", "<=", 30_000.0)
IOPS = Objective("throughput_iops >= 900", "throughput_iops", ">=", 900.0)
PARTS = {CONTROLLER: "megaraid_9560_8i", DISK: "exos_x18", RAID: "10"}
BEST = Candidate(
    parts=PARTS,
    disks=6,
    price=3230.0,
    failing=4,
    verdict="misses",
    censored=None,
    binding="response_p95 <= 30ms",
    measured=(Measured(P95, 12_000.0, 300.0, 2.5, 0.9999),),
    limiting="disk",
    use=0.703,
)
OTHER = replace(BEST, parts=PARTS | {RAID: "5"}, disks=7, price=3560.5)
DEAR = replace(
    BEST,
    parts=PARTS | {RAID: "6"},
    disks=None,
    price=None,
    censored="more_expensive",
    failing=None,
    verdict=None,
)
RUNNER_UP = (
    "Runner-up: 7 x Seagate Exos X18 NL-SAS 18 TB, RAID 5, Broadcom MegaRAID 9560-8i, 4 GB, CacheVault: "
    "EUR 3560.50. It meets the objectives and costs EUR 330.50 more."
)
SIZED = Sized(candidates=[BEST, OTHER, DEAR], found=2, impossible=3, battery=None, currency="EUR")


def test_a_result_has_its_factor_and_odds() -> None:
    """Mean 12 ms, at most 30 ms: a factor of 2.5; 1,000 IO/s, at least 900 IO/s: a factor of 1.11."""
    upper = measure(P95, [11_000.0, 12_000.0, 13_000.0])
    assert (upper.mean, upper.factor) == (12_000.0, 2.5)
    assert upper.odds == pytest.approx(0.99949, abs=1e-5)  # t = 18 / (1 / sqrt 3) with 2 degrees of freedom
    lower = measure(IOPS, [990.0, 1_000.0, 1_010.0])
    assert lower.factor == pytest.approx(1000 / 900)
    assert lower.odds > 0.99
    missed = measure(P95, [31_000.0, 32_000.0, 33_000.0])
    assert missed.odds < 0.05


def test_the_odds_of_several_objectives_are_at_least_what_is_left() -> None:
    several = replace(
        BEST, measured=(Measured(P95, 1.0, 0.0, 2.0, 0.98), Measured(IOPS, 1.0, 0.0, 2.0, 0.97))
    )
    assert several.odds == pytest.approx(0.95)
    texts = [format_odds(odds) for odds in (0.9995, 0.9951, 0.95, 0.5)]
    assert texts == ["more than 99.9 %", "99.5 %", "95 %", "50 %"]


def test_a_bound_that_is_met_exactly_is_met() -> None:
    """No stalls in any replicate: at most 0 is met, less than 0 is not."""
    stalls = Objective("write_stalls <= 0", "write_stalls", "<=", 0.0)
    assert measure(stalls, [0.0, 0.0, 0.0]).odds == 1
    assert measure(replace(stalls, comparison="<"), [0.0, 0.0, 0.0]).odds == 0


def test_the_answer_line_by_line() -> None:
    assert compose_sizing(SIZED) == [
        "6 x Seagate Exos X18 NL-SAS 18 TB, RAID 1+0, Broadcom MegaRAID 9560-8i, 4 GB, CacheVault: EUR 3230",
        "",
        "  response p95  12 ms (95 % CI 11.7 to 12.3); at most 30 ms: a factor of 2.5 below",
        "  probability   more than 99.9 % that it is met, as far as the simulation is exact",
        "  busiest       the disks, 70 %",
        "  disks         6; 4 miss response_p95 <= 30ms",
        "  dead battery  no effect: no write cache needs a battery",
        "",
        RUNNER_UP,
        "",
        "The others, of 6 combinations of controller, disk and RAID level:",
        "     1  more expensive even with the fewest disks",
        "     3  cannot be built",
    ]


def test_a_runner_up_of_the_same_price_costs_the_same() -> None:
    cheap = replace(OTHER, price=BEST.price)
    (line,) = (
        line
        for line in compose_sizing(replace(SIZED, candidates=[BEST, cheap, DEAR]))
        if line.startswith("Runner-up")
    )
    assert line.endswith("costs the same.")


def test_the_disks_that_hold_the_models_error() -> None:
    error = ModelError(LoadClass("spinning", cached=True), 4, 0.5, 0.8, 1.28)
    assured = Assured(error, 2.0, OTHER.parts, 11, 4500.0)
    lines = compose_sizing(replace(SIZED, assured=assured))
    name = RUNNER_UP.partition(" x ")[2].partition(": EUR")[0]
    assert lines[:3] == [*compose_sizing(SIZED)[:1], f"To be sure: 11 x {name}: EUR 4500", ""]
    (odds,) = [line for line in lines if line.startswith("  probability")]
    assert odds.endswith("; less than 95 % with the error of the model")
    (line,) = [line for line in lines if "to be sure" in line]
    assert line == (
        "  to be sure    the cheapest array that carries 2 times the load, "
        "as real systems may be that much slower"
    )
    none = replace(assured, parts=PARTS, disks=None, price=None)
    lines = compose_sizing(replace(SIZED, assured=none))
    assert lines[1] == ""
    (line,) = [line for line in lines if "to be sure" in line]
    assert "more disks than are considered" in line


def test_the_first_candidate_may_hold_the_models_error() -> None:
    error = ModelError(LoadClass("spinning", cached=True), 4, 0.5, 0.8, 1.28)
    same = Assured(error, 2.0, BEST.parts, BEST.disks, BEST.price)
    lines = compose_sizing(replace(SIZED, assured=same))
    assert lines[1] == ""
    assert any(line.endswith("; at least 95 % with the error of the model") for line in lines)
    assert any(line.startswith("  to be sure    it carries 2 times the load") for line in lines)


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        ("misses", "6; 4 miss response_p95 <= 30ms"),
        ("undecided", "6; 4 are not shown to meet response_p95 <= 30ms"),
        ("not_stationary", "6; 4 reach no steady state"),
    ],
)
def test_only_a_miss_is_called_one(verdict: str, text: str) -> None:
    lines = compose_sizing(replace(SIZED, candidates=[replace(BEST, verdict=verdict), OTHER]))
    assert f"  disks         {text}" in lines


def test_what_other_numbers_of_destages_do() -> None:
    column = BEST.measured[0].objective.column
    bound = BEST.measured[0].objective.bound
    results = {16: {column: bound / 2}, 1: {column: 2 * bound}, 4: {}}
    lines = compose_sizing(replace(SIZED, by_destages=results))
    (line,) = [line for line in lines if line.strip().startswith("destages")]
    places = [
        line.index(text) for text in (" (missed) with 1;", "overloads the array with 4;", "with 16 in flight")
    ]
    assert places == sorted(places)
    assert line.count("(missed)") == 1


def test_what_a_dead_battery_costs() -> None:
    case = BatteryCase({"response_p95_us": 16_000.0}, {"response_p95_us": 320_000.0}, 82 * 2**20)
    lines = compose_sizing(replace(SIZED, battery=case))
    (line,) = [line for line in lines if "dead battery" in line]
    assert line.endswith(
        "up to 82 MiB of dirty data unprotected until destaged; then, in write-through, "
        "response p95 320 ms, 20 times as long"
    )
    lines = compose_sizing(replace(SIZED, battery=replace(case, without={})))
    assert "the load overloads the array" in "".join(lines)


def test_no_configuration_is_explained() -> None:
    above = replace(DEAR, censored="above", failing=24, verdict="misses")
    (line,) = compose_sizing(replace(SIZED, candidates=[above, DEAR], impossible=0))
    assert line == (
        "No configuration meets the objectives: 1 miss response_p95 <= 30ms with the most disks; "
        "1 cost too much with as many disks as the load needs."
    )
    others = [replace(above, censored=None, verdict="undecided"), replace(above, binding="overloaded")]
    (line,) = compose_sizing(replace(SIZED, candidates=[above, *others], impossible=0))
    assert line == (
        "No configuration meets the objectives: 1 are not shown to meet response_p95 <= 30ms with the most "
        "disks; 1 are overloaded with the most disks; 1 miss response_p95 <= 30ms with the most disks."
    )


def test_what_the_answer_rests_on_is_the_last_paragraph() -> None:
    remark = "Rests on an assumed locality: Zipf 0.9 over 20 GB (preset vdi)."
    assert compose_sizing(replace(SIZED, remarks=[remark])) == [*compose_sizing(SIZED), "", remark]
    none = replace(SIZED, candidates=[replace(DEAR, censored="above", failing=24)], remarks=[remark])
    assert compose_sizing(none)[1:] == [remark]


def test_states_of_failure_have_a_line_each() -> None:
    """61 ms of at most 80 ms leave a factor of 1.31; 99 ms with the most disks are over it."""
    slow = Objective("response_p95 <= 80ms", "response_p95_us", "<=", 80_000.0)
    rebuilt = JudgedArray(
        label=None,
        disks=6,
        is_met=True,
        failing=None,
        verdict=None,
        binding=None,
        objectives=(slow,),
        measured=(Measured(slow, 61_000.0, 0.0, 80 / 61, 0.99),),
        hit_ratio=None,
        means={},
        state="during_rebuild",
    )
    measured = (Measured(slow, 20_000.0, 0.0, 4.0, 1.0),)
    dead = replace(rebuilt, state="dead_battery", is_always=True, measured=measured)
    best = replace(BEST, states=(rebuilt, dead))
    assert best.odds == pytest.approx(1 - 0.0001 - 0.01)
    lines = [" ".join(line.split()) for line in compose_sizing(replace(SIZED, candidates=[best, OTHER]))]
    assert "during rebuild response p95 61 ms; at most 80 ms: a factor of 1.3 below" in lines
    assert any(line.startswith("dead battery response p95 20 ms; at most 80 ms: a") for line in lines)
    assert any(line.endswith("no write cache needs a battery") for line in lines)
    assured = Assured(ModelError(LoadClass("spinning"), 4, 0.5, 0.8, 1.28), 2.0, BEST.parts, BEST.disks, 9.0)
    sure = compose_sizing(replace(SIZED, candidates=[best, OTHER], assured=assured))
    assert any(line.endswith(" (in normal operation)") for line in sure)

    missed = replace(
        rebuilt, disks=24, is_met=False, measured=(Measured(slow, 99_000.0, 2_000.0, 80 / 99, 0.0),)
    )
    none = replace(
        BEST, disks=None, price=None, censored="above", binding="response_p95 <= 80ms (during rebuild)"
    )
    answer = compose_sizing(replace(SIZED, candidates=[replace(none, states=(missed,))]))
    assert "1 miss response_p95 <= 80ms (during rebuild) with the most disks" in answer[0]
    assert answer[2].endswith("at most 80 ms: missed with 24 disks")
    ended = replace(none, censored=None, verdict="rebuild_ended", states=(replace(missed, is_met=False),))
    answer = compose_sizing(replace(SIZED, candidates=[BEST, ended]))
    assert "     1  ending a rebuild before the window ends" in answer
