"""Figures that no draw explains together with the others: which are missed, and what they do to predictions.

Unless a test says otherwise, the draws are two systems: one has 10 in every figure, the other 20. With a
tolerance of 0.5 and a discrepancy of 10 %, the first is 8.9 deviations from 20, and the second 4.9 from 10.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from destage.sweeps.calibration.judgement import find_needed_discrepancy, judge, widen
from destage.sweeps.calibration.result_tables import make_tables
from destage.sweeps.calibration.sample import Sample
from destage.sweeps.keys.calibrate_settings import Calibration, Candidate, Figure, Waves
from destage.sweeps.space.distributions import Continuous

SYSTEMS = (10.0, 20.0)


def make_figure(name: str, value: float | None, load_class: str = "") -> Figure:
    return Figure(
        name=name,
        set={},
        of="response_mean",
        column="response_mean_us",
        value=value,
        tolerance=0.5,
        discrepancy=0.1,
        load_class=load_class,
    )


def make_calibration(values: Sequence[float], *predicted: Figure, classes: Sequence[str] = ()) -> Calibration:
    """Return a calibration on figures named by their number, and what it predicts."""
    names = classes or [""] * len(values)
    fitted = [
        make_figure(str(number), value, name)
        for number, (value, name) in enumerate(zip(values, names, strict=True))
    ]
    candidate = Candidate(
        name="next",
        set={},
        of="response_mean",
        column="response_mean_us",
        tolerance=0.05,
        discrepancy=0.1,
        load_class="reads",
    )
    return Calibration(
        unknowns={"service": Continuous(1.0, 100.0, is_log=False, is_whole=False)},
        figures={figure.name: figure for figure in (*fitted, *predicted)},
        fits={"all": tuple(figure.name for figure in fitted)},
        candidates={"next": candidate},
        waves=Waves(),
        where=None,
    )


def make_sample(
    calibration: Calibration,
    simulated: Mapping[str, Sequence[float]] | None = None,
    log_ratios: Sequence[float] = (0.0, 0.0),
) -> Sample:
    """Return the two systems; `simulated` replaces what they have in some figures."""
    figures = {name: np.array(SYSTEMS) for name in calibration.figures}
    figures |= {name: np.array(values) for name, values in (simulated or {}).items()}
    return Sample(
        waves=np.zeros(2, int),
        scores=np.zeros((2, 1)),
        values={"service": list(SYSTEMS)},
        log_ratios=np.array(log_ratios),
        figures=figures,
        errors={name: np.zeros(2) for name in figures},
    )


def tabulate(calibration: Calibration, sample: Sample | None = None) -> dict[str, list[dict[str, object]]]:
    tables = make_tables(calibration, sample or make_sample(calibration))
    return {name: table.to_pylist() for name, table in tables.items()}


@pytest.mark.parametrize(
    ("values", "missed", "is_ruled_out"),
    [
        ([10] * 6, (), False),
        ([10] * 5 + [20], ("5",), False),
        ([20] + [10] * 2, ("0",), False),
        ([10] * 4 + [20] * 2, ("4", "5"), False),
        ([10] * 3 + [20] * 2, ("3", "4"), True),
        ([10, 20], None, True),
        ([10] * 3 + [20] * 3, None, True),
        ([1000] * 6, tuple("012345"), True),
    ],
)
def test_at_most_a_third_of_the_figures_may_be_missed(
    values: list[float], missed: tuple[str, ...] | None, is_ruled_out: bool
) -> None:
    """Where half are missed, either half may be named."""
    calibration = make_calibration(values)
    judgement = judge(calibration, make_sample(calibration), calibration.leading)
    assert judgement.is_ruled_out == is_ruled_out
    assert len(judgement.missed) == len(values) // 2 if missed is None else judgement.missed == missed
    assert judgement.weights.tolist() == ([0, 0] if is_ruled_out else [1, 0])
    tables = tabulate(calibration)
    assert [row["figure"] for row in tables["missed_figures"]] == list(judgement.missed)
    assert [row["is_ruled_out"] for row in tables["calibration"]] == [is_ruled_out]


def test_a_figure_may_not_be_missed_before_the_waves_end() -> None:
    calibration = make_calibration([10, 10, 20])
    judgement = judge(calibration, make_sample(calibration), calibration.leading, may_miss=False)
    assert judgement.is_ruled_out
    assert judgement.missed == ()


def test_what_is_explained_is_judged_as_without_missed_figures() -> None:
    calibration = make_calibration([9, 10, 11])
    sample = make_sample(calibration)
    given, strict = (
        judge(calibration, sample, calibration.leading, may_miss=is_on) for is_on in (True, False)
    )
    assert given.missed == ()
    for name in ("implausibility", "log_likelihoods", "weights"):
        assert getattr(given, name).tolist() == getattr(strict, name).tolist()
    assert widen(calibration, sample, calibration.leading, given) is calibration


@pytest.mark.parametrize(("log_ratios", "missed"), [((0, 0), ("1",)), ((math.log(2), 0), ("0",))])
def test_of_two_sets_the_more_likely_one_is_missed(
    log_ratios: tuple[float, float], missed: tuple[str, ...]
) -> None:
    """The first system misses figure 0 by 20, the other one figure 1 by 12: this is 5 / 3 times as likely."""
    calibration = make_calibration([30, 30, 15])
    simulated = {"0": (10.0, 30.0), "1": (30.0, 18.0), "2": (15.0, 15.0)}
    sample = make_sample(calibration, simulated, log_ratios)
    assert judge(calibration, sample, calibration.leading).missed == missed


def test_a_load_that_no_draw_carries_is_not_only_missed() -> None:
    """No discrepancy, which is a share of the simulated figure, explains what has none, or 0."""
    for nothing in (math.nan, 0.0):
        calibration = make_calibration([10, 10, 20])
        sample = make_sample(calibration, {"2": (nothing, nothing)})
        judgement = judge(calibration, sample, calibration.leading)
        assert judgement.is_ruled_out
        assert judgement.missed == ("2",)


def test_a_missed_figure_widens_the_predictions() -> None:
    """It needs 100 %: 20 of 10. A prediction with 30 % of its own has the root of 0.09 + 1 - 0.01."""
    then = replace(make_figure("then", None), discrepancy=0.3)
    calibration = make_calibration([10] * 5 + [20], then)
    tables = tabulate(calibration)
    (missed,) = tables["missed_figures"]
    half = 1.6448536 * 0.1 * 10
    assert missed["measured"] == 20
    assert missed["needed_discrepancy"] == pytest.approx(1)
    assert (missed["low_90"], missed["high_90"]) == pytest.approx((10 - half, 10 + half))
    predicted = {row["figure"]: row for row in tables["predictive"]}
    # A log-normal distribution with the simulated figure as its median, so that no end is at 0.
    wider = math.sqrt(0.09 + 0.99)
    assert predicted["then"]["median"] == pytest.approx(10)
    assert predicted["then"]["deviation"] / predicted["then"]["mean"] == pytest.approx(wider)
    factor = math.exp(1.6448536 * math.sqrt(math.log(1 + wider**2)))
    ends = predicted["then"]["low_90"], predicted["then"]["high_90"]
    assert ends == pytest.approx((10 / factor, 10 * factor))
    # What the fit has seen is described as it stands.
    assert predicted["0"]["deviation"] == pytest.approx(1)
    assert predicted["5"]["is_fitted"]


def test_the_interval_of_a_share_ends_at_0_and_1() -> None:
    """A hit ratio of 99 % and one of 0.1 % have a deviation of a tenth of them, and of 5 % from the runs."""
    share = {"of": "hit_ratio", "column": "hit_ratio"}
    many, few = (replace(make_figure(name, None), **share) for name in ("many", "few"))
    calibration = make_calibration([10] * 3, many, few)
    sample = make_sample(calibration, {"many": (0.99, 0.99), "few": (0.001, 0.001)})
    sample.errors["few"][:] = 0.05
    predicted = {row["figure"]: row for row in tabulate(calibration, sample)["predictive"]}
    assert predicted["many"]["high_90"] == 1
    assert predicted["few"]["low_90"] == 0
    assert 0 < predicted["few"]["high_90"] < 1


@pytest.mark.parametrize(("measured", "needed"), [(20.0, 1.0), (5.0, 1.0), (1.0, 9.0)])
def test_what_is_missed_by_a_factor_needs_the_same_either_way(measured: float, needed: float) -> None:
    calibration = make_calibration([10] * 5 + [measured])
    sample = make_sample(calibration)
    figure = calibration.figures["5"]
    assert find_needed_discrepancy(figure, sample, np.array([1.0, 0.0])) == pytest.approx(needed)


def test_a_missed_figure_widens_its_class() -> None:
    """No mixed load is fitted, so that the missed figures of all classes count for it."""
    predicted = [make_figure(name, None, name) for name in ("reads", "writes", "mixed")]
    classes = ["reads"] * 3 + ["writes"] * 3
    calibration = make_calibration([10, 20, 10, 10, 10, 15], *predicted, classes=classes)
    sample = make_sample(calibration)
    judgement = judge(calibration, sample, calibration.leading)
    assert judgement.missed == ("1", "5")
    wider = widen(calibration, sample, calibration.leading, judgement)
    expected = {"reads": 1.0, "writes": 0.25, "mixed": (1.0 + 0.25) / 2}
    for name, variance in expected.items():
        assert wider.figures[name].discrepancy == pytest.approx(math.sqrt(variance)), name
    assert wider.candidates["next"].discrepancy == pytest.approx(1)
    assert wider.figures["1"].discrepancy == 0.1
    one = make_calibration([10, 20, 10, 10, 10, 10], *predicted, classes=classes)
    wider = widen(one, sample, one.leading, judge(one, sample, one.leading))
    assert wider.figures["writes"].discrepancy == 0.1
