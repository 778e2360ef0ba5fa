"""The model's error by class: hand-worked statistics, coverage over the bank, and which class a run has."""

import math
import statistics
from typing import Any

import pytest

from destage import engine
from destage.measured_systems import model_error
from destage.measured_systems.bank import rates, systems
from destage.measured_systems.load_class import LoadClass, classify_rate, classify_run
from destage.measured_systems.prediction import stored_predictions
from destage.queries.model_error_text import describe_run_error

RESULTS = {
    "throughput_iops": 1000.0,
    "throughput_bytes_per_s": 4096e3,
    "response_mean_us": 8000.0,
    "requests": 100,
    "writes": 100,
}


def pairs() -> list[Any]:
    return list(zip(rates(), stored_predictions(), strict=True))


def configure(**changes: object) -> dict[str, Any]:
    stream = {
        "name": "random",
        "arrival": {"kind": "fixed_outstanding", "depth": 8},
        "operations": {"read_fraction": 0, "size": {"kind": "constant", "value": 4096}},
        "address": {"kind": "uniform"},
    }
    return engine.normalise(
        {
            "workload": {"streams": [stream | changes]},
            "controller": {"use": "smart_array_p420_1gb"},
            "array": {"raid": "10", "disks": 4, "disk": {"use": "cheetah_15k7_600gb"}},
        }
    )


def test_the_intervals_cover_what_was_measured_on_systems_left_out() -> None:
    assert 0.85 <= model_error.find_coverage(pairs()) <= 0.95


def test_the_interval_is_students_with_pooled_variances() -> None:
    """Of the widest class of a medium there is one, so that nothing is pooled."""
    speeds: dict[str, list[float]] = {}
    for rate, predicted in pairs():
        if systems()[rate.system].medium == "spinning":
            speeds.setdefault(rate.system, []).append(math.log(rate.iops / predicted.iops))
    means = [statistics.fmean(values) for values in speeds.values()]
    squares = sum((one - statistics.fmean(values)) ** 2 for values in speeds.values() for one in values)
    within = squares / sum(len(values) - 1 for values in speeds.values())
    spread = math.sqrt(statistics.variance(means) * (1 + 1 / len(means)) + within)
    # Student's 95 % quantile of 4 degrees of freedom, from tables.
    half = 2.1318 * spread
    found = model_error.estimate(LoadClass("spinning"))
    assert found is not None
    assert found.systems == len(means) == 5
    assert found.middle == pytest.approx(math.exp(statistics.fmean(means)))
    assert (found.low, found.high) == (
        pytest.approx(found.middle * math.exp(-half), rel=1e-4),
        pytest.approx(found.middle * math.exp(half), rel=1e-4),
    )


def test_a_system_that_is_left_out_has_no_weight() -> None:
    load = LoadClass("spinning", cached=False, operations="reads", band=0)
    whole, left = model_error.estimate(load), model_error.estimate(load, "microserver-g10-ahci-f1")
    assert whole is not None
    assert left is not None
    assert (whole.systems, left.systems) == (3, 2)
    assert whole.load == left.load == load


@pytest.mark.parametrize("load", sorted({classify_rate(rate) for rate in rates()}, key=lambda one: one.order))
def test_each_class_of_the_bank_has_an_interval(load: LoadClass) -> None:
    found = model_error.estimate(load)
    assert found is not None
    assert 0 < found.low < found.middle < found.high
    assert found.load.contains(load)
    assert found.systems >= 2


def test_a_run_has_the_class_of_its_array_and_load() -> None:
    found = classify_run(configure(), RESULTS)
    assert found == LoadClass("spinning", cached=True, operations="writes", band=1)
    few = classify_run(configure(), RESULTS | {"response_mean_us": 4000.0, "writes": 50})
    assert few == LoadClass("spinning", cached=True, operations="mixed", band=0)


@pytest.mark.parametrize(
    ("changes", "results", "reason"),
    [
        ({"address": {"kind": "sequential"}}, {}, "sequential"),
        ({}, {"throughput_bytes_per_s": 1e9}, "more than 128 KiB"),
    ],
)
def test_other_loads_have_no_class(changes: Any, results: Any, reason: str) -> None:
    found = classify_run(configure(**changes), RESULTS | results)
    assert isinstance(found, str)
    assert reason in found
    assert reason in describe_run_error(configure(**changes), RESULTS | results)[0]


def test_an_abstract_disk_is_no_device() -> None:
    disk = {"kind": "server", "servers": 1, "service": {"kind": "exponential", "mean": 5_000_000}}
    config = configure()
    config["arrays"][0]["disk"] = disk
    assert describe_run_error(config, RESULTS) == []
