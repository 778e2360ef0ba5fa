"""The model's error by class: hand-worked statistics, coverage over the bank, and which class a run has."""

import math
import statistics
from types import SimpleNamespace
from typing import Any

import pytest

from destage import engine
from destage.measured_systems import estimation, model_error
from destage.measured_systems.bank import rates, systems
from destage.measured_systems.model_error import LoadClass, classify_rate, classify_run
from destage.measured_systems.prediction import stored_predictions
from destage.queries.findings.caveats import describe_run_error, list_model_errors

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
    covered = [estimation.is_covered(rate, each) for rate, each in pairs()]
    assert 0.88 <= statistics.fmean(covered) <= 0.92


def test_an_interval_is_the_part_that_holds_the_rates_of_systems_left_out() -> None:
    """A wider part would hold more than 90 %, a narrower one fewer, with each system in its own interval."""
    parts = [estimation._find_part(rate, each) for rate, each in pairs()]
    level = estimation.find_level()
    assert statistics.fmean(part <= level for part in parts) == pytest.approx(0.9, abs=1 / len(parts))
    farthest = "microserver-g10-ahci-wd740gd"  # without it, less of a distribution holds the others
    assert estimation.find_level(farthest) < level


def test_the_interval_is_students_with_pooled_variances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the widest class of a medium there is one, so that nothing is pooled."""
    monkeypatch.setattr(estimation, "find_level", lambda _: 0.9)
    weights = estimation.weigh()
    speeds: dict[str, list[list[float]]] = {}
    for rate, predictions in pairs():
        if systems()[rate.system].medium == "spinning":
            every = speeds.setdefault(rate.system, [[] for _ in predictions])
            for each, predicted in zip(every, predictions, strict=True):
                each.append(math.log(rate.iops / predicted.iops))
    parts = [
        (weight, statistics.fmean(each), [value - statistics.fmean(each) for value in each])
        for name, every in speeds.items()
        for weight, each in zip(weights[name], every, strict=True)
    ]
    middle = sum(weight * mean for weight, mean, _ in parts) / len(speeds)
    between = sum(weight * (mean - middle) ** 2 for weight, mean, _ in parts) / (len(speeds) - 1)
    squares = sum(weight * sum(value**2 for value in values) for weight, _, values in parts)
    within = squares / sum(len(every[0]) - 1 for every in speeds.values())
    # Student's 95 % quantile of 5 degrees of freedom, from tables.
    half = 2.0150 * math.sqrt(between * (1 + 1 / len(speeds)) + within)
    found = estimation.estimate(LoadClass("spinning"))
    assert found is not None
    assert found.systems == len(speeds) == 6
    assert found.middle == pytest.approx(math.exp(middle))
    assert (found.low, found.high) == (
        pytest.approx(found.middle * math.exp(-half), rel=1e-4),
        pytest.approx(found.middle * math.exp(half), rel=1e-4),
    )


def test_what_is_open_is_found_where_it_decides() -> None:
    """A drive whose write cache is disabled writes 473 times a second at depth 1, with it 22,000 times."""
    weights = estimation.weigh()
    for name, each in weights.items():
        assert len(each) == len(systems()[name].alternatives)
        assert math.fsum(each) == pytest.approx(1)
    found = dict(
        zip(
            (each.name for each in systems()["dl380g8-p420i-860pro-nocache"].alternatives),
            weights["dl380g8-p420i-860pro-nocache"],
            strict=True,
        )
    )
    assert sum(weight for name, weight in found.items() if name.endswith("off")) > 0.85


def test_weights_are_a_fixed_point() -> None:
    """Another step of the expectation maximisation changes nothing."""
    classes = sorted({classify_rate(rate) for rate in rates()}, key=lambda load: load.order)
    weights = estimation.weigh()
    again = estimation._weigh_anew(classes, weights, None)
    for name, each in weights.items():
        assert again[name] == pytest.approx(each, abs=1e-6)


def test_a_system_that_is_left_out_has_no_weight() -> None:
    load = LoadClass("spinning", cached=False, operations="reads", band=0)
    whole, left = estimation.estimate(load), estimation.estimate(load, "microserver-g10-ahci-f1")
    assert whole is not None
    assert left is not None
    assert (whole.systems, left.systems) == (3, 2)
    assert whole.load == left.load == load


@pytest.mark.parametrize("load", sorted({classify_rate(rate) for rate in rates()}, key=lambda one: one.order))
def test_each_class_of_the_bank_has_an_interval(load: LoadClass) -> None:
    found = model_error.find_error(load)
    assert found is not None
    assert 0 < found.low < found.middle < found.high
    assert found.load.contains(load)
    assert found.systems >= 2
    # What is stored is what follows from the bank.
    estimated = estimation.estimate(load)
    assert estimated is not None
    assert (found.load, found.systems) == (estimated.load, estimated.systems)
    assert (found.low, found.high) == pytest.approx((estimated.low, estimated.high), rel=1e-3)


def test_a_class_is_read_from_its_words() -> None:
    for load in {wider for rate in rates() for wider in classify_rate(rate).widen()}:
        assert LoadClass.parse(str(load)) == load


def test_a_run_has_the_class_of_its_array_and_load() -> None:
    found = classify_run(configure(), RESULTS)
    assert found == LoadClass("spinning", cached=True, operations="writes", band=1)
    few = classify_run(configure(), RESULTS | {"response_mean_us": 4000.0, "writes": 50})
    assert few == LoadClass("spinning", cached=True, operations="mixed", band=0)


@pytest.mark.parametrize(
    ("writes", "fraction", "is_said"), [(100, 0.9, True), (0, 0.9, False), (100, 0.0, False)]
)
def test_a_speed_holds_for_the_destages_in_flight(writes: int, fraction: float, *, is_said: bool) -> None:
    """No document states how many there are; they decide the speed of writes into a write cache."""
    config = configure()
    config["controller"]["cache"]["write_fraction"] = fraction
    (sentence,) = describe_run_error(config, RESULTS | {"writes": writes})
    assert ("destage_depth" in sentence) == is_said


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


def open_study(metric: str | None = None, **spec: Any) -> Any:
    """Return a study with the results of one point, which is not certified."""

    def sql(text: str) -> SimpleNamespace:
        rows = [] if "FROM certified" in text else [RESULTS | {"plan_row": 0}]
        return SimpleNamespace(to_pylist=lambda: rows)

    sweep = SimpleNamespace(configuration=lambda _: configure())
    return SimpleNamespace(spec=spec, metric=metric, sql=sql, sql_of_named_columns=sql, sweep=sweep)


FITTED = [{"parameter": "workload.streams.0.arrival.ios", "value": 49, "on": "39 users"}]
BESIDE = [{"figure": "f", "source": "p. 1", "value": 1, "kind": "predicted"}]


@pytest.mark.parametrize(
    ("spec", "sentences"),
    [
        (
            {"fitted": FITTED},
            ["Calibrated, not validated: fitted on 39 users (workload.streams.0.arrival.ios)."],
        ),
        (
            {"fitted": FITTED, "published": BESIDE},
            ["Calibrated: fitted on 39 users (workload.streams.0.arrival.ios)."],
        ),
        ({"fitted": FITTED, "published": BESIDE, "answer": ["Estimated: 4 users."]}, []),
        ({"answer": ["It was estimated."]}, describe_run_error(configure(), RESULTS)),
        ({"published": BESIDE}, describe_run_error(configure(), RESULTS)),
        ({"metric": "workload.users"}, describe_run_error(configure(), RESULTS)),
    ],
)
def test_each_study_says_its_stage_once(spec: Any, sentences: list[str]) -> None:
    assert list_model_errors(open_study(**spec)) == sentences
    assert len(sentences) <= 1
