"""The reader of DiskSim's files: overheads, buffer and bus, and what no field expresses."""

from pathlib import Path

import pytest
from validation.disksim_samples import SPECS, read_facts, write_files

from destage.errors import ConfigError
from destage.tools.disksim import measured_disk
from destage.tools.disksim.disksim_model import read_model


def test_overheads_are_the_buffers_own(tmp_path: Path) -> None:
    """Commands: means after reads and writes; hits: after reads; all with that of every request, scaled."""
    description = read_model(write_files(tmp_path))
    facts = description.facts
    assert facts["command_time"] == "0.800000ms"
    assert facts["bus_rate"] == "10240000B/s"
    assert facts["buffer"] == {
        "segments": 4,
        "segment": "102400B",
        "read_ahead": "segment",
        "hit_time": "0.400000ms",
        "write_cache": True,
        "write_time": "1.400000ms",
    }
    assert not {"send_after", "early_write_data", "write_overhead"} & set(facts)
    assert description.unmodelled == ()


def test_writes_to_the_media_have_their_own_command(tmp_path: Path) -> None:
    """(1.6 + 0.1) ms x 2 is 2.6 ms more than the read's."""
    facts = read_facts(write_files(tmp_path, specs=SPECS.replace("write level = 2", "write level = 0")))
    assert facts["write_overhead"] == "2.600000ms"
    assert facts["early_write_data"] is True
    assert facts["buffer"]["write_cache"] is False


def test_a_disk_without_caching_has_no_buffer(tmp_path: Path) -> None:
    specs = SPECS.replace("Enable caching in buffer = 1", "Enable caching in buffer = 0")
    facts = read_facts(write_files(tmp_path, specs=specs))
    disk, assumed = measured_disk.complete_facts(facts)
    assert disk["buffer"] is None
    assert not [name for name in assumed if name.startswith("buffer.")]


LATE = """   High (read) water mark = 0.75,
   Set watermark by reqsize = 1,
   Read completion overhead = 0.01,
   Write completion overhead = 0.02,
   Data preparation overhead = 0.03,
   First reselect overhead = 0.04,
   Other reselect overhead = 0.05,
   Extra write disconnect = 1,
   Extradisc command overhead = 1.0,
   Extradisc seek delta = 0.25,
   Read hit over. after read"""


def test_each_overhead_is_charged_where_it_is_paid(tmp_path: Path) -> None:
    """All times are doubled by the scale; those of both reads and writes contain 0.1 ms of every request."""
    specs = SPECS.replace("   Read hit over. after read", LATE)
    cached = read_facts(write_files(tmp_path, specs=specs))
    # Miss 0.3 + 0.1, completion, and the preparation and reselection that no transfer from the media hides.
    assert cached["command_time"] == "0.960000ms"
    assert cached["send_after"] == 0.75
    assert cached["buffer"]["hit_time"] == "0.480000ms"
    assert cached["buffer"]["write_time"] == "1.500000ms"
    # Extra disconnect: 0.1 + 1.0 + 0.25, completion 0.02, the other reselection 0.05, less the read's 0.48.
    through = read_facts(write_files(tmp_path, specs=specs.replace("write level = 2", "write level = 0")))
    assert through["write_overhead"] == "1.880000ms"
    # Nothing disconnects, so nothing reselects.
    never = specs.replace("   Extra write", "   Never disconnect = 1,\n   Extra write")
    assert read_facts(write_files(tmp_path, specs=never))["command_time"] == "0.880000ms"


@pytest.mark.parametrize(
    ("given", "place", "value"),
    [
        ("First reselect overhead = 0.04", "First reselect overhead", 0.08),
        ("Read disconnect afterwrite = 0.02", "Read disconnect afterwrite", 0.04),
        ("Minimum seek delay = 0.6", "Minimum seek delay", 1.2),
        ("Maximum read-ahead (blks) = 128", "Maximum read-ahead (blks)", 128),
        ("High (read) water mark = 0.5", "High (read) water mark", 0.5),
    ],
)
def test_what_no_field_expresses_is_reported(tmp_path: Path, given: str, place: str, value: float) -> None:
    """A sector has 0.05 ms on the bus and 0.1 ms on the longest track: what is paid before it is hidden."""
    specs = SPECS.replace("   Read hit over. after read", f"   {given},\n   Read hit over. after read")
    path = write_files(tmp_path, specs=specs)
    (issue,) = read_model(path).unmodelled
    assert (issue.code, issue.place, issue.value) == ("disk.not-modelled", place, pytest.approx(value))
    assert measured_disk.find_unmodelled(str(path)) == (issue,)
    assert read_facts(path) == read_facts(write_files(tmp_path))


def test_preparation_counts_only_where_nothing_hides_it(tmp_path: Path) -> None:
    """Hits and cached writes wait for it, as 0.03 ms twice; a read from the media does not."""
    given = "   Data preparation overhead = 0.03,\n   Read hit over. after read"
    description = read_model(
        write_files(tmp_path, specs=SPECS.replace("   Read hit over. after read", given))
    )
    assert [issue.place for issue in description.unmodelled] == ["Data preparation overhead"]
    buffer = description.facts["buffer"]
    assert description.facts["command_time"] == "0.800000ms"
    assert (buffer["hit_time"], buffer["write_time"]) == ("0.460000ms", "1.460000ms")


def test_shorter_commands_of_writes_are_reported(tmp_path: Path) -> None:
    specs = SPECS.replace("write level = 2", "write level = 0").replace(
        "after read = 1.5", "after read = 0.01"
    )
    specs = specs.replace("after write = 1.7", "after write = 0.09")
    description = read_model(write_files(tmp_path, specs=specs))
    assert "write_overhead" not in description.facts
    assert [(issue.place, issue.value) for issue in description.unmodelled] == [
        ("Write miss over. after write", pytest.approx(0.5))
    ]


SYSTEM = """\
disksim_global Global { Init Seed = 42 }
disksim_bus INNER { type = 1, Read block transfer time = 0.0, Write block transfer time = 0.0 }
disksim_bus OUTER { type = 1, Read block transfer time = 0.125, Write block transfer time = 0.25 } # slow
disksim_ctlr CTLR { type = 1, Bulk sector transfer time = 0.0 }
source hand.diskspecs

instantiate [ bus0 ] as INNER
instantiate [ bus1 ] as OUTER
instantiate [ disk0 .. disk3 ] as HAND_MADE
instantiate [ driver0 ] as DRIVER
instantiate [ ctlr0 ] as CTLR
topology disksim_iodriver driver0 [
   disksim_bus bus0 [
      disksim_ctlr ctlr0 [ disksim_bus bus1 [ disksim_disk disk2 [] ] ]
   ]
]
"""


def write_system(folder: Path, system: str) -> Path:
    write_files(folder)
    path = folder / "hand.parv"
    path.write_text(system + "disksim_iodriver DRIVER { type = 1 }\n")
    return path


def test_the_slowest_of_disk_bus_and_controller_sends_a_sector(tmp_path: Path) -> None:
    description = read_model(write_system(tmp_path, SYSTEM))
    assert description.facts["bus_rate"] == "4096000B/s"
    assert [issue.place for issue in description.unmodelled] == ["Write block transfer time"]
    alone = read_facts(tmp_path / "hand.diskspecs")
    assert {**description.facts, "bus_rate": alone["bus_rate"]} == alone
    slow = SYSTEM.replace("sector transfer time = 0.0", "sector transfer time = 0.5")
    assert read_facts(write_system(tmp_path, slow))["bus_rate"] == "1024000B/s"
    # A system states its bus: one that takes no time has no rate, where a disk alone leaves it open.
    specs = SPECS.replace("transfer time = 0.05", "transfer time = 0.0")
    fast = SYSTEM.replace("0.125", "0.0").replace("0.25", "0.0")
    path = write_system(tmp_path, fast)
    (tmp_path / "hand.diskspecs").write_text(specs)
    assert read_facts(path)["bus_rate"] is None
    assert "bus_rate" not in read_facts(tmp_path / "hand.diskspecs")
    fast = SYSTEM.replace("0.125", "0.01").replace("0.25", "0.01")
    assert read_facts(write_system(tmp_path, fast)) == alone


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("disksim_disk disk2 []", "", "no disk in the topology"),
        ("disk0 .. disk3", "disk3 .. disk9", "no block for 'disksim_disk disk2'"),
        ("as OUTER", "as OTHER", "no block for 'disksim_bus bus1'"),
        ("instantiate [ bus0 ]", "} instantiate [ bus0 ]", "expected '{', found '}'"),
    ],
)
def test_a_system_without_its_disk_is_refused(tmp_path: Path, before: str, after: str, words: str) -> None:
    assert before in SYSTEM
    with pytest.raises(ConfigError) as caught:
        read_model(write_system(tmp_path, SYSTEM.replace(before, after)))
    assert caught.value.issues[0].code == "disk.bad-model"
    assert words in caught.value.issues[0].message


@pytest.mark.parametrize(
    ("continuous", "free", "expected"),
    [
        (0, 0, "off"),
        (1, 0, "track_end"),
        (1, 1, "track"),
        (2, 0, "cylinder_end"),
        (3, 0, "segment"),
        (3, 1, "segment_on_arrival"),
        (4, 0, "track_end"),
        (4, 1, "track"),
    ],
)
def test_each_read_ahead(tmp_path: Path, continuous: int, free: int, expected: str) -> None:
    specs = SPECS.replace("continuous read = 3", f"continuous read = {continuous}")
    specs = specs.replace("free blocks = 0", f"free blocks = {free}")
    assert read_facts(write_files(tmp_path, specs=specs))["buffer"]["read_ahead"] == expected


@pytest.mark.parametrize(("segment", "expected"), [(49, "stream"), (50, "track_end"), (200, "track_end")])
def test_a_track_ahead_needs_a_segment_that_holds_one(tmp_path: Path, segment: int, expected: str) -> None:
    """The shortest track has 50 sectors."""
    specs = SPECS.replace("continuous read = 3", "continuous read = 4")
    specs = specs.replace("Segment size (in blks) = 200", f"Segment size (in blks) = {segment}")
    assert read_facts(write_files(tmp_path, specs=specs))["buffer"]["read_ahead"] == expected


def test_an_interface_without_a_rate_has_no_further_facts(tmp_path: Path) -> None:
    """So the identity of a configuration that does not use them is what it was."""
    facts = read_facts(write_files(tmp_path))
    late = {"send_after": 0.5, "early_write_data": True}
    assert measured_disk.canonical_disk({**facts, **late}).items() >= late.items()
    assert not set(late) & set(measured_disk.canonical_disk({**facts, **late, "bus_rate": None}))
    assert not set(late) & set(measured_disk.canonical_disk(facts))
