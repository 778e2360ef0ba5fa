"""The reader of DiskSim's layout G4."""

from pathlib import Path

import pytest
from validation.disksim_samples import MODEL, read_facts, reads_at, write_files, zones_of

from destage.errors import ConfigError
from destage.tools.disksim import measured_disk
from destage.tools.disksim.disksim_model import read_model
from destage.tools.disksim.service_times import simulate_service_ms

INDEXED = """\
dm_layout_g4 {
TP = [ 0, 99, 100,
   0, 49, 50,
   0, 9, 10
   ],
IDX = [
   [ 0, 0, 0.0, 100, 1, 0.1, 500, 5, TRACK, 0, 0,
     500, 4, 0.0, 100, 1, 0.1, 500, -5, TRACK, 0, 1 ],
   [ 0, 0, 0.0, 50, 1, 0.2, 200, 4, TRACK, 1, 0,
     200, 3, 0.0, 50, 1, 0.2, 150, -3, TRACK, 1, 1,
     350, 0, 0.0, 10, 1, 0.0, 10, 1, TRACK, 2, 1 ],
   [ 0, 0, 0.0, 1000, 5, 0.4, 2000, 10, IDX, 0,
     2000, 10, 0.5, 360, 4, 0.9, 360, 4, IDX, 1 ]
],
Slips = [ 7, 1 ],
Remaps = [ ]
}
"""


def write_indexed(folder: Path, layout: str = INDEXED) -> Path:
    (folder / "hand.layout").write_text(layout)
    start, end = MODEL.index("dm_layout_g1"), MODEL.index("   Mechanical")
    model = MODEL[:start] + "source hand.layout,\n" + MODEL[end:]
    return write_files(folder, model=model.replace("Block count = 1745", "Block count = 2359"))


def test_each_entry_of_the_root_index_is_a_zone(tmp_path: Path) -> None:
    """Two bands of five cylinders on either surface, twice; then eight tracks of 50, the last with ten."""
    facts = read_facts(write_indexed(tmp_path))
    keys = ("cylinders", "sectors_per_track", "track_skew", "cylinder_skew", "spare_sectors")
    assert [tuple(zone[key] for key in keys) for zone in zones_of(facts)] == [
        (10, 100, 10, 10, 0),
        # One sector is beyond the block count.
        (4, 50, 10, 10, 40 + 1),
    ]
    disk, _ = measured_disk.complete_facts(facts)
    assert simulate_service_ms(reads_at([0, 1999, 2000, 2358]), disk, 1).shape == (1, 4)


@pytest.mark.parametrize(
    ("before", "after", "line", "words"),
    [
        ("TRACK, 1, 0", "RING, 1, 0", 6, "11 fields with TRACK, 10 fields with IDX"),
        ("360, 4, IDX, 1 ]", "360, 4, IDX ]", 6, "11 fields with TRACK, 10 fields with IDX"),
        ("360, 4, IDX, 1 ]", "360, 4, IDX, 2 ]", 6, "index 2 is not supported"),
        ("TRACK, 2, 1", "TRACK, 3, 1", 6, "a track pattern that TP does not have"),
        ("2000, 10, IDX", "2001, 10, IDX", 6, "2001 sectors from cylinder 0"),
        ("0, 49, 50", "0, 49, some", 2, "TP: expected numbers"),
    ],
)
def test_an_impossible_index_is_refused(
    tmp_path: Path, before: str, after: str, line: int, words: str
) -> None:
    assert before in INDEXED
    path = write_indexed(tmp_path, INDEXED.replace(before, after))
    with pytest.raises(ConfigError) as caught:
        read_model(path)
    (issue,) = caught.value.issues
    assert (issue.code, issue.place) == ("disk.bad-model", f"line {line}")
    assert words in issue.message
