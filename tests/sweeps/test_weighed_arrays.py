"""Odds and regret of arrays under a load in ranges, worked by hand, and their laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from destage.measured_systems.model_error import LoadClass, ModelError
from destage.spec.objective import DEAD_BATTERY, DURING_REBUILD, NORMAL
from destage.sweeps.sizing.request import InputRange, SizingRequest
from destage.sweeps.sizing.uncertain_load import (
    LoadPoint,
    UncertainLoad,
    describe_load,
    interpolate,
    measure_load,
)
from destage.sweeps.sizing.weighed_arrays import Carried, MeasuredArray, list_regrets, weigh_arrays

ERROR = ModelError(LoadClass("flash"), systems=9, low=0.5, middle=1.0, high=2.0)
AMOUNTS = st.floats(1, 1e6)
PRICES = st.lists(st.floats(0, 1e5), min_size=1, max_size=6)


def array(price: float, *carried: float, error: ModelError | None = None) -> MeasuredArray:
    return MeasuredArray({}, price, {NORMAL: Carried(list(carried), [False] * len(carried), error)})


def points(*amounts: float) -> list[LoadPoint]:
    return [LoadPoint(amount, 0.0) for amount in amounts]


def test_regrets_of_three_arrays_by_hand() -> None:
    """At 300, the first has to be replaced, and its 100 are lost; the third costs 250 more than another."""
    weighed, uncarried = weigh_arrays(
        [array(100, 200), array(150, 300), array(400, 900)], [0.0], points(200, 300)
    )
    assert [one.odds for one in weighed] == [0.5, 1, 1]
    assert [one.mean_regret for one in weighed] == [50, 25, 275]
    assert [one.greatest_regret for one in weighed] == [100, 50, 300]
    assert uncarried == 0


def test_the_least_mean_regret_may_have_a_larger_greatest_one() -> None:
    """A cheap array that fits nearly everywhere is worth the risk of buying twice, although it is larger."""
    cheap, large = weigh_arrays([array(100, 9), array(190, 99)], [0.0], points(*range(10)))[0]
    assert (cheap.mean_regret, cheap.greatest_regret) == (0, 0)
    assert (large.mean_regret, large.greatest_regret) == (90, 90)
    cheap, large = weigh_arrays([array(100, 8), array(190, 99)], [0.0], points(*range(10)))[0]
    assert (cheap.mean_regret, cheap.greatest_regret) == (10, 100)
    assert (large.mean_regret, large.greatest_regret) == (81, 90)


def test_a_load_that_none_carries_is_not_regretted() -> None:
    (only,), uncarried = weigh_arrays([array(100, 200)], [0.0], points(100, 150, 201, 900))
    assert (only.odds, only.mean_regret, uncarried) == (0.5, 0, 0.5)


def test_what_is_carried_depends_on_the_share_of_reads() -> None:
    """100 at no reads and 300 at half: 200 at a quarter."""
    shares, loads = [0.0, 0.5, 1.0], [LoadPoint(200, 0.2), LoadPoint(200, 0.3)]
    (only,), _ = weigh_arrays([array(1, 100, 300, 300)], shares, loads)
    assert only.odds == 0.5
    assert [interpolate(shares, [100, 300, 310], share) for share in (0, 0.25, 0.5, 0.75, 1)] == [
        *(100, 200, 300),
        *(305, 310),
    ]


def test_odds_with_the_models_error_by_hand() -> None:
    """Systems run at 0.5 to 2 times the simulated speed in 90 of 100 cases, half of them below it."""
    for amount, odds in ((100, 0.5), (50, 0.95), (200, 0.05)):
        (only,), _ = weigh_arrays([array(1, 100, error=ERROR)], [0.0], points(amount))
        assert only.odds_with_error == pytest.approx(odds)
    (unknown, none), _ = weigh_arrays([array(1, 100), array(1, 0, error=ERROR)], [0.0], points(50))
    assert (unknown.odds_with_error, none.odds_with_error) == (None, 0)


def test_an_array_carries_what_it_carries_in_its_worst_state() -> None:
    """Dead batteries limit it below a half of reads, the rebuild above; the error of a rebuild is unknown."""
    states = {
        NORMAL: Carried([300.0, 400.0], [True, True], ERROR),
        DEAD_BATTERY: Carried([50.0, 200.0], [False, True], ERROR),
        DURING_REBUILD: Carried([100.0, 100.0], [True, False], "unknown"),
    }
    one = MeasuredArray({}, 1.0, states)
    assert (one.limiting, one.carried) == ([DEAD_BATTERY, DURING_REBUILD], [50, 100])
    assert one.is_bound == [False, False]
    shares = [0.0, 1.0]
    for load, odds, with_error in (
        (LoadPoint(50, 0.0), 1, 0.5),  # the dead battery carries just this
        (LoadPoint(100, 0.0), 0, 0.05),  # and half of this
        (LoadPoint(100, 1.0), 1, 0.95),  # the rebuild carries it as simulated, the dead battery twice as much
        (LoadPoint(101, 1.0), 0, 0.0),
    ):
        (weights,), _ = weigh_arrays([one], shares, [load])
        assert (weights.odds, weights.odds_with_error) == (odds, pytest.approx(with_error))
    one.raise_to(0, 120.0)
    assert (one.limiting[0], one.carried[0], states[NORMAL].amounts[0]) == (DEAD_BATTERY, 120, 300)


@given(PRICES, st.data())
def test_regret_is_never_negative_and_zero_for_one(prices: list[float], data: st.DataObject) -> None:
    loads = st.lists(st.booleans(), min_size=5, max_size=5)
    carries = [data.draw(loads) for _ in prices]
    for at_load in zip(*list_regrets(prices, carries), strict=True):
        assert min(at_load) == 0


@given(PRICES, st.data())
def test_the_least_mean_regret_is_the_least_expected_cost(prices: list[float], data: st.DataObject) -> None:
    """With one array that carries all, each costs its price, or that and the price of a replacement."""
    loads = st.lists(st.booleans(), min_size=4, max_size=4)
    prices, carries = [*prices, 2e5], [*(data.draw(loads) for _ in prices), [True] * 4]
    cheapest = [
        min(price for price, fits in zip(prices, at_load, strict=True) if fits)
        for at_load in zip(*carries, strict=True)
    ]
    costs = [
        sum(price + (0 if fits else least) for fits, least in zip(row, cheapest, strict=True))
        for price, row in zip(prices, carries, strict=True)
    ]
    regrets = [sum(regret) for regret in list_regrets(prices, carries)]
    assert costs[regrets.index(min(regrets))] == pytest.approx(min(costs))


@given(AMOUNTS, AMOUNTS, st.floats(1, 3))
def test_odds_fall_as_the_load_grows(amount: float, carried: float, growth: float) -> None:
    arrays = [array(1, carried, error=ERROR)]
    ((before,), _), ((after,), _) = (
        weigh_arrays(arrays, [0.0], points(*(each * factor for each in (amount, 2 * amount))))
        for factor in (1, growth)
    )
    assert after.odds <= before.odds
    assert (after.odds_with_error or 0) <= (before.odds_with_error or 0) + 1e-12


def ignore(_values: object) -> SizingRequest:
    return SizingRequest({"use": "vdi", "users": 7}, "load", (), {})


def test_strata_are_alike_probable_and_inside_the_range() -> None:
    load = describe_load([InputRange("users", 100, 300)], ignore)
    amounts = [point.amount for point in load.strata]
    assert (amounts[0], amounts[-1], len(amounts)) == (101, 299, 100)
    assert sum(amounts) / len(amounts) == pytest.approx(200)
    assert (load.shares, load.unit) == ([0], "users")
    assert load.corners == [{"users": 100}, {"users": 300}, {"users": 200}]


def test_a_range_without_width_is_one_load() -> None:
    load = describe_load([InputRange("users", 300, 300)], ignore)
    assert (load.corners, load.strata) == ([{"users": 300}], [LoadPoint(300, 0)])


def test_a_share_of_reads_takes_the_users_of_the_workload() -> None:
    load = describe_load([InputRange("read_share", 0.6, 0.8)], ignore)
    assert load.shares == pytest.approx([0.6, 0.7, 0.8])
    assert {point.amount for point in load.strata} == {7}


def test_rates_are_an_amount_and_a_share_of_reads() -> None:
    """With 100 to 300 reads and 100 writes per second, half to three quarters are reads."""
    load: UncertainLoad = describe_load(
        [InputRange("read_iops", 100, 300), InputRange("write_iops", 100, 100)], ignore
    )
    assert load.unit == "IO/s"
    assert load.shares == [0.5, 0.625, 0.75]
    assert measure_load({"read_iops": 300, "write_iops": 100}) == LoadPoint(400, 0.75)
    assert load.make_largest(0.625)[1] == 400
    asked: list[object] = []
    UncertainLoad(load.inputs, lambda values: asked.append(values) or ignore(values)).make_largest(0.625)
    assert asked == [{"read_iops": 250, "write_iops": 150}]
