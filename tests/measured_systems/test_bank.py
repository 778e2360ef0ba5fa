"""The bank of measured systems: its data are complete, and the stored predictions are those of the engine."""

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from destage import engine
from destage.engine import catalog, validate
from destage.measured_systems.bank import MEDIA, MeasuredRate, MeasuredSystem, rates, read_text, systems
from destage.measured_systems.prediction import (
    PREDICTED,
    Prediction,
    agree_on_rate,
    agree_on_response,
    combine,
    describe,
    format_predictions,
    group_by_class,
    group_by_system,
    predict,
    stored_predictions,
)

LADDER = "configuration-manager-p822"
HP = "hp-p421-12x15k"
F1 = "microserver-g10-ahci-f1"
FILE_SYSTEMS_IN_USE = {"server-m1015-8x2tb-md5"}
"""The systems whose source says that the file system of the file was in use."""


def find_rate(system: str, pattern: str, outstanding: int, disks: int | None = None) -> int:
    """Return the number of the first rate of a load."""
    return next(
        number
        for number, rate in enumerate(rates())
        if (rate.system, rate.pattern, rate.outstanding, rate.disks) == (system, pattern, outstanding, disks)
    )


def make_rate(iops: float, response_us: float | None = None, **fields: Any) -> MeasuredRate:
    return MeasuredRate(
        **{
            "system": F1,
            "disks": None,
            "pattern": "randread",
            "block_bytes": 4096,
            "depth_per_job": 1,
            "jobs": 1,
            "iops": iops,
            "response_us": response_us,
            **fields,
        }
    )


def test_the_bank_is_complete() -> None:
    counts = Counter(rate.system for rate in rates())
    assert set(counts) == set(systems())
    assert counts.pop(LADDER) == 10
    assert counts.pop(HP) == 2
    assert (len(counts), sum(counts.values())) == (14, 1271)


def test_units_agree_by_the_law_of_little() -> None:
    """Outstanding I/Os = rate [1/s] x response [us]: fio's means agree with it, so the units are right."""
    held = [
        rate.iops * rate.response_us / 1e6 / rate.outstanding
        for rate in rates()
        if rate.response_us is not None
    ]
    assert sorted(held)[len(held) // 2] == pytest.approx(1, abs=0.02)
    assert sum(abs(each - 1) < 0.15 for each in held) > 0.98 * len(held)


def test_a_row_is_read_with_its_response_weighted_by_rate() -> None:
    rate = rates()[find_rate("dl380g8-p420i-860pro-mixed", "randrw", 1)]
    (row,) = [
        row
        for row in csv.DictReader(io.StringIO(read_text("measured_arrays.csv")))
        if (row["system"], row["depth_per_job"], row["jobs"]) == (rate.system, "1", "1")
    ]
    reads, writes = float(row["read_iops"]), float(row["write_iops"])
    assert rate.iops == reads + writes
    low, high = sorted([float(row["read_latency_mean_us"]), float(row["write_latency_mean_us"])])
    assert rate.response_us is not None
    assert low < rate.response_us < high


@pytest.mark.parametrize("system", systems().values(), ids=lambda system: system.name)
def test_a_system_is_of_catalogue_parts(system: MeasuredSystem) -> None:
    controller = catalog.entry("controllers", system.scenario["controller"]["use"])
    disk = catalog.entry("disks", system.scenario["array"]["disk"]["use"])
    assert system.medium in MEDIA
    assert disk.config["kind"] == {"spinning": "disk", "flash": "ssd"}[system.medium]
    share = (
        system.scenario["controller"]
        .get("cache", {})
        .get("write_fraction", controller.config["cache"]["write_fraction"])
    )
    assert system.cached == (share > 0)
    assert system.unknown
    arrays = {rate.disks: rate for rate in rates() if rate.system == system.name}.values()
    composed = [[describe(rate, each) for rate in arrays] for each in system.alternatives]
    assert all(validate(each) == [] for every in composed for each in every)
    # No alternative is another one under a second name.
    texts = {json.dumps([engine.normalise(each) for each in every], sort_keys=True) for every in composed}
    assert len(texts) == len(composed) == len({each.name for each in system.alternatives})


def find_placement(scenario: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return where the file of a configuration lies; None for the start of the array."""
    placement: Mapping[str, Any] | None = scenario["workload"]["streams"][0]["address"].get("placement")
    return placement


@pytest.mark.parametrize("system", systems().values(), ids=lambda system: system.name)
def test_where_a_file_lies_is_open(system: MeasuredSystem) -> None:
    """Each place is as probable; a new file system is ruled out by a source that says that it was in use."""
    assert ("share of the file system in use" in system.unknown) == (system.footprint is not None)
    rate = next(rate for rate in rates() if rate.system == system.name)
    places = Counter(
        json.dumps(find_placement(rate.compose_scenario(system, each))) for each in system.alternatives
    )
    if system.footprint is None:
        assert set(places) == {"null"}
        return
    expected: list[dict[str, Any]] = [
        {"kind": "scattered", "extent": "128MiB", "share": share} for share in (0.25, 0.5, 1.0)
    ]
    if system.name not in FILE_SYSTEMS_IN_USE:
        expected.append({"kind": "contiguous"})
    count = len(system.alternatives) // len(expected)
    assert places == dict.fromkeys(map(json.dumps, expected), count)


def test_a_system_that_was_measured_through_a_file_has_its_size() -> None:
    rows = csv.DictReader(io.StringIO(read_text("measured_arrays.csv")))
    files = {row["system"] for row in rows if row["target"] == "file"}
    assert {system.name for system in systems().values() if system.footprint} == files | {LADDER}
    assert files >= FILE_SYSTEMS_IN_USE


def test_a_file_larger_than_the_share_in_use_is_all_that_is_in_use() -> None:
    """100 GB are a third of a mirror of two disks of 300 GB, and a sixth of two mirrors."""
    new, quarter = systems()[LADDER].alternatives[:2]
    assert (new.name, quarter.name) == ("1 new", "1 quarter")
    two, four = (rates()[find_rate(LADDER, "randwrite", 64, disks)] for disks in (2, 4))
    assert engine.normalise(describe(two, quarter)) == engine.normalise(describe(two, new))
    placement = find_placement(describe(four, quarter))
    assert placement is not None
    assert placement["share"] == 0.25


def test_the_ladder_has_a_level_for_each_number_of_disks() -> None:
    system = systems()[LADDER]
    levels = {
        rate.disks: rate.compose_scenario(system, system.alternatives[0])["array"]["raid"]
        for rate in rates()
        if rate.system == LADDER
    }
    assert levels == dict.fromkeys([4, 6, 8, 10, 12, 16, 20, 30, 40], "10") | {2: "1"}


def test_the_rates_of_hp_s_brief_are_those_of_its_page_15() -> None:
    """Twelve disks in RAID 0: "8,350 random writes per second while achieving only 4,850 random reads"."""
    found = {rate.pattern: (rate.iops, rate.disks, rate.outstanding) for rate in rates() if rate.system == HP}
    assert found == {"randread": (4850, 12, 256), "randwrite": (8350, 12, 256)}
    scenario = rates()[find_rate(HP, "randread", 256, 12)].compose_scenario(
        systems()[HP], systems()[HP].alternatives[0]
    )
    assert (scenario["array"]["raid"], scenario["array"]["disks"]) == ("0", 12)


@pytest.mark.parametrize(
    ("system", "pattern", "outstanding", "disks"),
    [
        (LADDER, "randwrite", 64, 8),
        (HP, "randread", 256, 12),
        (HP, "randwrite", 256, 12),
        (F1, "randread", 32, None),
        ("dl380g8-p420i-hgst", "randwrite", 4, None),
        ("server-m1015-860pro", "randread", 4, None),
        ("dl380g8-p420i-860pro-mixed", "randrw", 8, None),
        ("server-m1015-8x2tb-md5", "randwrite", 64, None),
    ],
)
def test_a_stored_prediction_is_that_of_the_engine(
    system: str, pattern: str, outstanding: int, disks: int | None
) -> None:
    number = find_rate(system, pattern, outstanding, disks)
    alternatives = systems()[system].alternatives
    for which in {0, len(alternatives) - 1}:
        assert stored_predictions()[number][which] == predict(rates()[number], alternatives[which])


def test_stored_predictions_are_in_the_order_of_the_rates() -> None:
    assert format_predictions(stored_predictions()) == read_text(PREDICTED)


def test_equal_loads_have_equal_predictions() -> None:
    predictions: dict[object, object] = {}
    for rate, each in zip(rates(), stored_predictions(), strict=True):
        assert predictions.setdefault(rate.load, each) == each
    assert len(predictions) < 400


def test_a_prediction_is_the_geometric_mean_of_its_alternatives() -> None:
    assert combine([Prediction(100, 1000)]) == Prediction(pytest.approx(100), pytest.approx(1000))
    assert combine([Prediction(100, 400), Prediction(400, 100)]) == Prediction(
        pytest.approx(200), pytest.approx(200)
    )


def test_an_option_is_set_where_the_configuration_has_it() -> None:
    system = systems()["dl380g8-p420i-hgst"]
    assert system.unknown[:2] == ("write cache of the disk behind the controller", "destages in flight")
    scenario = rates()[find_rate(system.name, "randread", 1)].compose_scenario(
        system, next(each for each in system.alternatives if each.name == "on 4")
    )
    assert scenario["array"]["disk"] == {"use": "travelstar_7k1000", "buffer": {"write_cache": True}}
    assert scenario["controller"]["cache"]["write"] == {"force_destages": False, "destage_depth": 4}


def test_agreement_worked_by_hand() -> None:
    """Errors +10 %, -50 % and +1 %."""
    pairs = [
        (make_rate(100, 1000), Prediction(110, 909)),
        (make_rate(200, 500), Prediction(100, 1000)),
        (make_rate(100, None), Prediction(101, 990)),
    ]
    rate = agree_on_rate(pairs)
    assert (rate.count, rate.error, rate.bias) == pytest.approx((3, 0.1, 0.01))
    response = agree_on_response(pairs)
    assert response is not None
    assert (response.count, response.error, response.bias) == pytest.approx((2, 0.5455, 0.4545))
    assert agree_on_response(pairs[2:]) is None


def test_classes_divide_the_bank() -> None:
    pairs = list(zip(rates(), map(combine, stored_predictions()), strict=True))
    classes = group_by_class(pairs)
    assert sum(map(len, classes.values())) == len(pairs) == sum(map(len, group_by_system(pairs).values()))
    assert {name.split(", ")[0] for name in classes} == set(MEDIA)
    band = classes["spinning, not cached, reads, 1 to 4 outstanding"]
    assert {rate.outstanding for rate, _ in band} == {1, 2, 4}
    assert {rate.system for rate, _ in classes["flash, cached, mixed, 33 or more outstanding"]} == {
        "dl380g8-p420i-860pro-mixed"
    }
