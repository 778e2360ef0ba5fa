"""The reader of DiskSim's files: hand-made layouts, seeks, fits, and refusals that name the line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from validation.disksim_samples import MODEL, SPECS, read_facts, reads_at, write_files, zones_of

from destage.errors import ConfigError, TraceError
from destage.tools.disksim import measured_disk, model_fit
from destage.tools.disksim.disksim_model import read_model
from destage.tools.disksim.service_times import MeasuredTrace, simulate_service_ms


def test_a_hand_made_layout_is_read(tmp_path: Path) -> None:
    facts = read_facts(write_files(tmp_path))
    outer, inner = zones_of(facts)
    # Seven cylinders of 200 sectors and an empty one, three ranges with five spares, and 30 sectors in front.
    assert outer["cylinders"] == 8
    assert outer["spare_range"] == {"cylinders": 3, "sectors": 5}
    assert outer["front_sectors"] == 30
    assert outer["spare_sectors"] == 200
    assert (outer["track_skew"], outer["cylinder_skew"]) == (10, 20)
    # Skews in revolutions of 50 sectors; 4 cylinders of 100 sectors in two ranges have 390: 1,745 in all.
    assert (inner["track_skew"], inner["cylinder_skew"]) == (12, 25)
    assert inner["spare_sectors"] == 0
    assert facts["write_settle"] == "0.500000ms"


def test_the_disk_of_a_file_has_its_block_count(tmp_path: Path) -> None:
    """1,355 sectors in the outer zone, 390 in the inner one: sector 1,744 is the last."""
    facts = read_facts(write_files(tmp_path))
    disk, _ = measured_disk.complete_facts(facts)
    assert simulate_service_ms(reads_at([0, 1354, 1355, 1744]), disk, 1).shape == (1, 4)
    with pytest.raises(TraceError) as caught:
        simulate_service_ms(reads_at([0, 1745]), disk, 1)
    assert (caught.value.code, caught.value.issues[0].place) == ("disk.bad-request", "request 1")


def test_sectors_beyond_the_block_count_hide_whole_zones(tmp_path: Path) -> None:
    """1,300 of 1,745 sectors: the inner zone of 390 has none of them, and 55 of the outer one are hidden."""
    facts = read_facts(write_files(tmp_path, model=MODEL.replace("count = 1745", "count = 1300")))
    (outer,) = zones_of(facts)
    assert outer["spare_sectors"] == 200 + 55
    disk, _ = measured_disk.complete_facts(facts)
    assert simulate_service_ms(reads_at([0, 1299]), disk, 1).shape == (1, 2)
    with pytest.raises(TraceError):
        simulate_service_ms(reads_at([1300]), disk, 1)


def test_a_seek_file_needs_no_header(tmp_path: Path) -> None:
    path = write_files(tmp_path)
    with_header = read_facts(path)["seek"]
    (tmp_path / "hand.seek").write_text("1, 1.0, 0.002\n11, 3.0, 0.004\n")
    assert read_facts(path)["seek"] == with_header
    (tmp_path / "hand.seek").write_text("Seek distances measured: 2\n1, 1.0\neleven, 3.0\n")
    with pytest.raises(ConfigError) as caught:
        read_model(path)
    assert caught.value.issues[0].place == "line 3"


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        (0, {}),
        (1, {"spare_sectors": 500}),
        (2, {"spare_range": {"cylinders": 1, "sectors": 5}}),
        (3, {"spares_per_track": 5}),
        (4, {"spare_range": {"cylinders": 1, "sectors": 5}}),
        (5, {"spare_range": {"cylinders": 1, "sectors": 5}}),
        (7, {}),
        (9, {"spare_sectors": 5}),
        (10, {"spare_sectors": 5}),
    ],
)
def test_each_sparing_scheme(tmp_path: Path, scheme: int, expected: dict[str, Any]) -> None:
    """Spares of the outer zone, without its empty cylinder: tracks, cylinders, ranges or the zone's end."""
    model = MODEL.replace("scheme used = 8", f"scheme used = {scheme}").replace("= 8,\n", "= 7,\n")
    facts = read_facts(
        write_files(tmp_path, model=model.replace("Block count = 1745", "Block count = 99999"))
    )
    outer = zones_of(facts)[0]
    found = {key: outer[key] for key in ("spare_sectors", "spare_range", "spares_per_track") if key in outer}
    assert found == {"spare_sectors": 0, **expected}


def test_seeks_of_an_hpl_equation_worked_by_hand(tmp_path: Path) -> None:
    """3.24 + 0.4 sqrt(d) up to 383 cylinders, 8 + 0.008 d beyond; ten measured times before."""
    curve = "HPL seek equation values = [ 383, 3.24, 0.4, 8.0, 0.008, -1.0 ]"
    ten = "First ten seek times = [ 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9 ]"
    given = "Seek type = extracted,\n      Full seek curve = hand.seek"
    model = MODEL.replace("Number of cylinders = 12", "Number of cylinders = 1962")
    seek = read_facts(write_files(tmp_path, model=model.replace(given, f"Seek type = hpl, {curve}")))["seek"]
    assert seek == {
        "kind": "two_piece",
        "boundary": 383,
        "a": "3.240000ms",
        "b": "0.400000ms",
        "c": "8.000000ms",
        "e": "0.008000ms",
    }
    measured = model.replace(given, f"Seek type = hplplus10, {curve}, {ten}")
    points = read_facts(write_files(tmp_path, model=measured))["seek"]["points"]
    times = {point["distance"]: point["time"] for point in points}
    assert (times[10], times[11], times[383]) == ("1.900000ms", "4.566650ms", "11.068154ms")
    assert (times[384], times[1961]) == ("11.072000ms", "23.688000ms")
    assert list(times) == sorted(times)


@pytest.mark.parametrize(
    ("before", "after", "line", "words"),
    [
        ("mapping scheme = 0", "mapping scheme = 3", 6, "mapping scheme 3 is not supported"),
        ("scheme used = 8", "scheme used = 11", 7, "scheme used 11 is not supported"),
        ("dm_layout_g1 {", "dm_layout_g2 {", 5, "'dm_layout_g2' is not supported"),
        ("Blocks per track = 100", "Blocks per track = many", 13, "Blocks per track: expected a number"),
        ("Blocks per track = 50", "Blocks = 50", 22, "missing number 'Blocks per track'"),
        ("Last cylinder number = 6", "Last cylinder number = 9", 12, "order of their cylinders"),
        ("units = revolutions", "units = radians", 30, "allowed: sectors, revolutions"),
        ("Rangesize for sparing = 3", "Rangesize for sparing = 0", 8, "allowed is 1 or more"),
        ("Head switch time = 0.2", "Head switch time 0.2", 42, "expected '='"),
    ],
)
def test_a_refusal_names_the_line(tmp_path: Path, before: str, after: str, line: int, words: str) -> None:
    assert before in MODEL
    path = write_files(tmp_path, model=MODEL.replace(before, after))
    with pytest.raises(ConfigError) as caught:
        read_facts(path)
    (issue,) = caught.value.issues
    assert (issue.code, issue.place, caught.value.source) == (
        "disk.bad-model",
        f"line {line}",
        str(tmp_path / "hand.model"),
    )
    assert words in issue.message


def test_a_fit_that_ends_on_a_bound_says_so() -> None:
    values = {"command_time": 0.0, "bus_rate": 1e10, "buffer.hit_time": 1e5, "buffer.lapse": 0.0}
    found = model_fit.warn_of_bounds(values)
    assert [(each.code, each.place) for each in found] == [
        ("disk.fit-at-bound", "command_time"),
        ("disk.fit-at-bound", "bus_rate"),
    ]
    assert ["minimum" in each.message for each in found] == [True, False]


@pytest.mark.parametrize("real", ["segment", "stream", "track_end"])
def test_the_fit_finds_the_read_ahead_that_was_measured(tmp_path: Path, real: str) -> None:
    """The measurement is the model's own with one read-ahead; the description has another."""
    specs = SPECS.replace("continuous read = 3", "continuous read = 2")
    facts = read_facts(write_files(tmp_path, specs=specs))
    disk, _ = measured_disk.complete_facts(facts)
    disk["buffer"]["read_ahead"] = real
    draws = np.random.default_rng(3)
    places = draws.integers(0, 1600, 300)
    trace = reads_at([int(place) + step for place in places for step in (0, 30, 60, 130)])
    service = simulate_service_ms(trace, disk, 1)[0]
    measured = MeasuredTrace(trace.is_write, trace.lba, trace.sectors, service, trace.gap_ns)
    found = measured_disk.validate(measured, facts, list(model_fit.CHOICES), overall_limit_ms=0.01, phases=1)
    assert found.chosen == {"buffer.read_ahead": real}
    assert all(each.is_met for each in found.classes)


def test_a_saved_disk_is_the_same_disk(tmp_path: Path) -> None:
    facts = read_facts(write_files(tmp_path))
    disk, _ = measured_disk.complete_facts(facts)
    measured_disk.save_disk(tmp_path / "saved.toml", disk)
    again, assumed = measured_disk.complete_facts(measured_disk.load_disk(str(tmp_path / "saved.toml")))
    assert again == disk
    assert assumed == {}
