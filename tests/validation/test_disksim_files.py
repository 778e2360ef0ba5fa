"""The reader of DiskSim's files: hand-made layouts, overheads, and refusals that name the line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from destage.disk_validation import fit, measured_disk, saved_disk
from destage.disk_validation.disksim_model import read_model
from destage.disk_validation.measured_trace import MeasuredTrace
from destage.disk_validation.service_times import simulate_service_ms
from destage.errors import ConfigError, TraceError

MODEL = """\
dm_disk HAND_MADE {
   Number of data surfaces = 2,
   Number of cylinders = 12,
   Block count = 1745,
   Layout Model = dm_layout_g1 {
      LBN-to-PBN mapping scheme = 0,   # line 6
      Sparing scheme used = 8,
      Rangesize for sparing = 3,
      Zones = [
         dm_layout_g1_zone {
            First cylinder number = 0,
            Last cylinder number = 6,
            Blocks per track = 100,
            Offset of first block = 0.0,
            Empty space at zone front = 30,
            Skew for track switch = 10.0,
            Skew for cylinder switch = 20.0,
            Number of spares = 5,
            slips = [ 3, 4 ],
            defects = [ ]
         },
         dm_layout_g1_zone {
            First cylinder number = 8,
            Last cylinder number = 11,
            Blocks per track = 50,
            Offset of first block = 0.0,
            Empty space at zone front = 0,
            Skew for track switch = 0.25,
            Skew for cylinder switch = 0.5,
            Skew units = revolutions,
            Number of spares = 5,
            slips = [ ],
            defects = [ ]
         }
      ]
   },
   Mechanical Model = dm_mech_g1 {
      Access time type = trackSwitchPlusRotation,
      Seek type = extracted,
      Full seek curve = hand.seek,
      Add. write settling delay = 0.5,
      Head switch time = 0.2,
      Rotation speed (in rpms) = 6000,
      Percent error in rpms = 0.0
   }
}
"""

SPECS = """\
disksim_disk HAND_MADE {
   Model = source hand.model,
   Per-request overhead time = 0.1,
   Time scale for overheads = 2.0,
   Bulk sector transfer time = 0.05,
   Number of buffer segments = 4,
   Segment size (in blks) = 200,
   Enable caching in buffer = 1,
   Buffer continuous read = 3,
   Read any free blocks = 0,
   Fast write level = 2,
   Read hit over. after read = 0.1,
   Read hit over. after write = 0.3,
   Read miss over. after read = 0.2,
   Read miss over. after write = 0.4,
   Write hit over. after read = 0.5,
   Write hit over. after write = 0.7,
   Write miss over. after read = 1.5,
   Write miss over. after write = 1.7
}
"""


def write_files(folder: Path, *, model: str = MODEL, specs: str = SPECS) -> Path:
    """Write the files of the hand-made disk; returns the one to read."""
    (folder / "hand.model").write_text(model)
    (folder / "hand.seek").write_text("Seek distances measured: 2\n1, 1.0\n11, 3.0\n")
    path = folder / "hand.diskspecs"
    path.write_text(specs)
    return path


def zones_of(facts: dict[str, Any]) -> list[dict[str, Any]]:
    return list(facts["geometry"]["zones"])


def test_a_hand_made_layout_is_read(tmp_path: Path) -> None:
    facts = read_model(write_files(tmp_path))
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
    facts = read_model(write_files(tmp_path))
    disk, _ = measured_disk.complete_facts(facts)
    assert simulate_service_ms(_reads([0, 1354, 1355, 1744]), disk, 1).shape == (1, 4)
    with pytest.raises(TraceError) as caught:
        simulate_service_ms(_reads([0, 1745]), disk, 1)
    assert (caught.value.code, caught.value.issues[0].place) == ("disk.bad-request", "request 1")


def _reads(places: list[int]) -> MeasuredTrace:
    count = len(places)
    return MeasuredTrace(
        np.zeros(count, dtype=np.bool_),
        np.array(places, dtype=np.uint64),
        np.ones(count, dtype=np.uint64),
        np.ones(count),
        np.full(count, 10**6, dtype=np.uint64),
    )


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
    facts = read_model(
        write_files(tmp_path, model=model.replace("Block count = 1745", "Block count = 99999"))
    )
    outer = zones_of(facts)[0]
    found = {key: outer[key] for key in ("spare_sectors", "spare_range", "spares_per_track") if key in outer}
    assert found == {"spare_sectors": 0, **expected}


def test_overheads_are_the_buffers_own(tmp_path: Path) -> None:
    """Means after reads and writes, plus the overhead of every request, times the scale."""
    facts = read_model(write_files(tmp_path))
    assert facts["command_time"] == "0.800000ms"
    assert facts["bus_rate"] == "10240000B/s"
    assert facts["buffer"] == {
        "segments": 4,
        "segment": "102400B",
        "read_ahead": "segment",
        "hit_time": "0.600000ms",
        "write_cache": True,
        "write_time": "1.400000ms",
    }
    uncached = read_model(
        write_files(tmp_path, specs=SPECS.replace("Fast write level = 2", "Fast write level = 0"))
    )
    assert (uncached["buffer"]["write_cache"], uncached["buffer"]["write_time"]) == (False, "3.400000ms")


@pytest.mark.parametrize(
    ("continuous", "free", "expected"),
    [
        (0, 0, "off"),
        (1, 0, "track_end"),
        (1, 1, "track"),
        (2, 0, "cylinder_end"),
        (3, 0, "segment"),
        (3, 1, "segment_on_arrival"),
        (4, 0, "segment"),
    ],
)
def test_each_read_ahead(tmp_path: Path, continuous: int, free: int, expected: str) -> None:
    specs = SPECS.replace("continuous read = 3", f"continuous read = {continuous}")
    specs = specs.replace("free blocks = 0", f"free blocks = {free}")
    assert read_model(write_files(tmp_path, specs=specs))["buffer"]["read_ahead"] == expected


def test_seeks_of_an_hpl_equation_worked_by_hand(tmp_path: Path) -> None:
    """3.24 + 0.4 sqrt(d) up to 383 cylinders, 8 + 0.008 d beyond; ten measured times before."""
    curve = "HPL seek equation values = [ 383, 3.24, 0.4, 8.0, 0.008, -1.0 ]"
    ten = "First ten seek times = [ 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9 ]"
    given = "Seek type = extracted,\n      Full seek curve = hand.seek"
    model = MODEL.replace("Number of cylinders = 12", "Number of cylinders = 1962")
    seek = read_model(write_files(tmp_path, model=model.replace(given, f"Seek type = hpl, {curve}")))["seek"]
    assert seek == {
        "kind": "two_piece",
        "boundary": 383,
        "a": "3.240000ms",
        "b": "0.400000ms",
        "c": "8.000000ms",
        "e": "0.008000ms",
    }
    measured = model.replace(given, f"Seek type = hplplus10, {curve}, {ten}")
    points = read_model(write_files(tmp_path, model=measured))["seek"]["points"]
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
        read_model(path)
    (issue,) = caught.value.issues
    assert (issue.code, issue.place, caught.value.source) == (
        "disk.bad-model",
        f"line {line}",
        str(tmp_path / "hand.model"),
    )
    assert words in issue.message


def test_a_fit_that_ends_on_a_bound_says_so() -> None:
    values = {"command_time": 0.0, "bus_rate": 1e10, "buffer.hit_time": 1e5, "buffer.lapse": 0.0}
    found = fit.warn_of_bounds(values)
    assert [(each.code, each.place) for each in found] == [
        ("disk.fit-at-bound", "command_time"),
        ("disk.fit-at-bound", "bus_rate"),
    ]
    assert ["minimum" in each.message for each in found] == [True, False]


@pytest.mark.parametrize("real", ["segment", "track_end"])
def test_the_fit_finds_the_read_ahead_that_was_measured(tmp_path: Path, real: str) -> None:
    """The measurement is the model's own with one read-ahead; the description has another."""
    specs = SPECS.replace("continuous read = 3", "continuous read = 2")
    facts = read_model(write_files(tmp_path, specs=specs))
    disk, _ = measured_disk.complete_facts(facts)
    disk["buffer"]["read_ahead"] = real
    draws = np.random.default_rng(3)
    places = draws.integers(0, 1600, 300)
    trace = _reads([int(place) + step for place in places for step in (0, 30, 60, 130)])
    service = simulate_service_ms(trace, disk, 1)[0]
    measured = MeasuredTrace(trace.is_write, trace.lba, trace.sectors, service, trace.gap_ns)
    found = measured_disk.validate(measured, facts, list(fit.CHOICES), overall_limit_ms=0.01, phases=1)
    assert found.chosen == {"buffer.read_ahead": real}
    assert all(each.is_met for each in found.classes)


def test_a_saved_disk_is_the_same_disk(tmp_path: Path) -> None:
    facts = read_model(write_files(tmp_path))
    disk, _ = measured_disk.complete_facts(facts)
    saved_disk.save(tmp_path / "saved.toml", disk)
    again, assumed = measured_disk.complete_facts(measured_disk.load_disk(str(tmp_path / "saved.toml")))
    assert again == disk
    assert assumed == {}
