"""A hand-made disk in DiskSim's files."""

from pathlib import Path
from typing import Any

import numpy as np

from destage.tools.disksim.disksim_model import read_model
from destage.tools.disksim.service_times import MeasuredTrace

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


def read_facts(path: Path) -> dict[str, Any]:
    return dict(read_model(path).facts)


def zones_of(facts: dict[str, Any]) -> list[dict[str, Any]]:
    return list(facts["geometry"]["zones"])


def reads_at(places: list[int]) -> MeasuredTrace:
    """Reads of one sector each."""
    count = len(places)
    return MeasuredTrace(
        np.zeros(count, dtype=np.bool_),
        np.array(places, dtype=np.uint64),
        np.ones(count, dtype=np.uint64),
        np.ones(count),
        np.full(count, 10**6, dtype=np.uint64),
    )
