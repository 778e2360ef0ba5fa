"""What to measure next: the measurement that is expected to narrow the predictions most."""

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from small_studies import RATE, small_calibration

from destage import sweeps
from destage.store import open_sweep
from destage.sweeps.calibration.candidate_loads import MOST, list_candidates
from destage.sweeps.calibration.next_measurement import (
    MOST_DRAWS,
    Measurement,
    choose_draws,
    list_narrowings,
    rank_measurements,
)
from destage.sweeps.calibration.sample import Mixture
from destage.sweeps.keys.calibrate_settings import Calibration, Candidate, Figure

DRAWS = 20
EQUAL = np.full(DRAWS, 1 / DRAWS)
SLOW = np.arange(DRAWS) % 2 == 1
"""Every second draw is another system."""


def make(values: np.ndarray, error: float = 0.1) -> Measurement:
    """Return a measurement with a model error of 0.1, and an error of its own."""
    model = np.full(len(values), 0.1)
    return Measurement(Mixture(values, model, EQUAL), np.hypot(model, error))


TARGET = np.where(SLOW, 20.0, 10.0)
ALIKE = np.full(DRAWS, 5.0)
LADDER = {
    "depth 1": make(np.where(SLOW, 2.0, 1.0)),
    "depth 4": make(ALIKE),
    "depth 16": make(ALIKE + 0.01 * SLOW),
}


def rank(measurements: dict[str, Measurement], target: np.ndarray = TARGET) -> list[tuple[str, float]]:
    predictions = {"wanted": make(target).prediction}
    return [(row.measurement, row.variance_removed) for row in rank_measurements(predictions, measurements)]


def test_the_depth_at_which_two_systems_differ_is_next() -> None:
    """At depth 1, they differ by seven deviations; what stays is the error of the model, 0.1 of 15."""
    (first, removed), *others = rank(LADDER)
    assert first == "depth 1"
    assert removed == pytest.approx(25 / 25.01, rel=1e-6)
    assert all(share < 0.01 for _, share in others)
    (best, *_) = rank_measurements({"wanted": make(TARGET).prediction}, LADDER)
    assert best.deviation == pytest.approx(25.01**0.5 / 15)
    assert best.deviation_after == pytest.approx(0.1 / 15, rel=1e-3)


def test_the_order_of_candidates_does_not_matter() -> None:
    expected = rank(LADDER)
    for order in itertools.permutations(LADDER.items()):
        assert rank(dict(order)) == expected


def test_without_candidates_nothing_is_next() -> None:
    assert rank({}) == []
    assert rank({"wanted": make(TARGET)}) == []


def test_a_coarse_measurement_says_less() -> None:
    """An error of 0.1 distinguishes systems whose figures differ by 1; an error of 3 hardly does."""
    shares = dict(rank({f"{error}": make(np.where(SLOW, 2.0, 1.0), error) for error in (0.1, 0.5, 3.0)}))
    assert shares["0.1"] > shares["0.5"] > shares["3.0"]
    assert shares["3.0"] < 0.05


def test_the_variance_removed_is_that_of_normal_figures() -> None:
    """Of jointly normal figures, it is the squared covariance over the variance of the measurement."""
    generator = np.random.default_rng(3)
    count = 600
    shared, own = generator.normal(size=(2, count))
    weights = np.full(count, 1 / count)
    deviations = np.full(count, 0.6)
    target = Mixture(100 + shared + 0.5 * own, np.full(count, 0.5), weights)
    (row,) = rank_measurements(
        {"wanted": target}, {"x": Measurement(Mixture(shared, deviations, weights), deviations)}
    )
    assert row.variance_removed == pytest.approx(1 / (1 + 0.36) / (1 + 0.25 + 0.25), abs=0.05)


def test_draws_are_chosen_at_equal_steps_of_the_weight() -> None:
    assert choose_draws(np.array([2.0, 1.0, 0.0, 1.0]), 4).tolist() == [2, 1, 0, 1]
    assert choose_draws(np.array([0.0, 1e-9]), 4).tolist() == [0, 4]
    assert choose_draws(np.zeros(3), 4).tolist() == [0, 0, 0]


def _figure(name: str, value: float | None = None) -> Figure:
    """Return a figure that assigns what its name has after a space, if anything."""
    path = name.partition(" ")[2]
    return Figure(
        name=name, set={path: 1} if path else {}, of="response_mean", column="response_mean_us", value=value,
        tolerance=0.0, discrepancy=0.01, odds=(), against=None,
    )  # fmt: skip


def _list(figures: dict[str, tuple[float | None, np.ndarray]], candidates: dict[str, np.ndarray]) -> Any:
    """Return what narrows what, where the figure `fitted` was measured."""
    every = {"fitted": (1.0, ALIKE), **figures}
    calibration = Calibration(
        unknowns={},
        figures={name: _figure(name, value) for name, (value, _) in every.items()},
        candidates={
            name: Candidate(name=name, set={}, of="", column=None, tolerance=0.01, discrepancy=0.01)
            for name in candidates
        },
        fits={"all": ("fitted",)},
        where=None,
    )
    simulated = {name: values for name, (_, values) in every.items()} | candidates
    errors = {name: np.zeros(DRAWS) for name in simulated}
    sample: Any = SimpleNamespace(figures=simulated, errors=errors)
    found = list_narrowings(calibration, sample, ("fitted",), EQUAL, EQUAL)
    return [(row.measurement, row.figure) for row in found]


APART = np.where(SLOW, 2.0, 1.0)


def test_what_is_to_be_predicted_counts_before_held_figures() -> None:
    """Held figures are measured; without anything to predict, they count, and then the candidates."""
    held, wanted = {"held": (15.0, TARGET)}, {"wanted": (None, TARGET)}
    assert _list(held | wanted, {"c": APART}) == [("c", "wanted")]
    assert _list(held, {"c": APART}) == [("c", "held")]
    assert _list({}, {"c": APART, "d": APART}) == [("c", "d"), ("d", "c")]
    assert _list({}, {"c": APART}) == []
    assert _list({}, {}) == []


def test_a_prediction_is_a_candidate_for_the_others() -> None:
    wanted = {"wanted": (None, TARGET), "too": (None, 2 * TARGET)}
    assert _list(wanted, {}) == [("too", "wanted"), ("wanted", "too")]


def test_another_array_is_not_measured_next() -> None:
    """A load can be measured on the array that is there, and not on the one after a change."""
    wanted = {"w": (None, TARGET), "x array.disks": (None, TARGET), "y workload.users": (None, 2 * TARGET)}
    found = _list(wanted, {})
    assert {measured for measured, _ in found} == {"w", "y workload.users"}
    assert "x array.disks" in {figure for _, figure in found}


def test_a_candidate_without_a_figure_in_some_draw_is_left_out() -> None:
    lacking = np.where(np.arange(DRAWS) == 3, np.nan, APART)
    assert _list({"wanted": (None, TARGET)}, {"c": APART, "lacking": lacking}) == [("c", "wanted")]


def test_candidates_are_simulated_for_a_few_draws_of_the_posterior(tmp_path: Path) -> None:
    """The response at 150 requests a second follows from that at 100, and not from one without load."""
    text = small_calibration(
        "next",
        {"array.disks": {"integer": [2, 4]}},
        {
            "now": {"set": {RATE: "10/s"}, "of": "response_mean", "value": "5.1ms", "tolerance": "5%"},
            "then": {"set": {RATE: "150/s"}, "of": "response_mean"},
        },
        {"points": 32, "most": 2},
        candidates={
            "light": {"set": {RATE: "12/s"}, "of": "response_mean"},
            "heavy": {"set": {RATE: "140/s"}, "of": "response_mean", "tolerance": "1%"},
        },
        discrepancy="2%",
    )
    study = sweeps.parse_study(text)
    outcome = sweeps.run(study, tmp_path, executor="inline", workers=2)
    rows = open_sweep(outcome.path).analyses()["next_measurements"].to_pylist()
    assert [(row["rank"], row["measurement"], row["figure"]) for row in rows] == [
        (1, "heavy", "then"),
        (2, "light", "then"),
    ]
    assert rows[0]["variance_removed"] > 0.5 > rows[1]["variance_removed"]
    posterior = open_sweep(outcome.path).analyses()["posterior"].to_pylist()
    left = sum(row["weight"] > 0 for row in posterior)
    # Two replicates of each draw now, of those that are left then, and of the chosen ones in both candidates.
    assert left > MOST_DRAWS
    assert outcome.runs <= 2 * (len(posterior) + left + 2 * MOST_DRAWS)
    assert sweeps.run(study, tmp_path, executor="inline", workers=2).executed == 0


def _load(depth: int, reads: float = 1.0, kind: str = "uniform", size: str = "4096B") -> dict[str, Any]:
    return {
        "arrival": {"kind": "fixed_outstanding", "depth": depth},
        "operations": {"read_fraction": reads, "size": {"kind": "constant", "value": size}},
        "address": {"kind": kind},
    }


def test_the_ladder_has_the_depths_and_the_plain_loads_that_were_not_given() -> None:
    named = list_candidates([_load(1), _load(8), _load(32)], [_load(16, 0.0, size="4KiB")])
    depths = {name: stream["arrival"]["depth"] for name, stream in named.items()}
    assert [name for name in named if "random reads" in name] == [
        f"4 KiB random reads at {depth} outstanding" for depth in (2, 4, 16, 64)
    ]
    assert [name for name in named if "writes" in name] == [
        "4 KiB random writes at 1 outstanding",
        "4 KiB sequential writes at 1 outstanding",
        "4 KiB sequential writes at 16 outstanding",
    ]
    assert all(name.endswith(f" at {depth} outstanding") for name, depth in depths.items())
    mixed = list_candidates([_load(depth, reads) for depth in (1, 4) for reads in (1.0, 0.7)], [])
    assert len(mixed) == MOST
    assert "4 KiB random I/Os with 70 % reads at 2 outstanding" in mixed


def test_a_load_by_rate_has_plain_candidates() -> None:
    named = list_candidates([_load(1) | {"arrival": {"kind": "poisson", "rate": "5/s"}}], [])
    assert len(named) == 8
    assert "8 KiB sequential reads at 16 outstanding" in named
