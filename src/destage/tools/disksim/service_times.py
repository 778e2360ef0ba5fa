"""Service times of a disk model for the requests of a measurement.

They come from `disk_service_times`: the disk model of all runs, with one request outstanding and the
recorded gaps. The gaps do not determine the angle of the platter (the disk's speed and the clock drift apart
by turns), so the model is replayed several times, each with all gaps longer by another fraction of a turn.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from destage.engine import _engine
from destage.engine.configuration import as_trace_error
from destage.tools.disksim.measured_trace import MeasuredTrace

_SEED = 1


def simulate_service_ms(
    trace: MeasuredTrace, disk: Mapping[str, Any], phases: int
) -> npt.NDArray[np.float64]:
    """Simulate the service time of each request [ms], one row for each of `phases` replays.

    Raises:
        TraceError: A request lies beyond the disk.
    """
    turn_ns = 60e9 / float(disk["rpm"])
    text = json.dumps({key: value for key, value in disk.items() if key != "kind"})
    columns = trace.lba.astype("<u8").tobytes(), trace.sectors.astype("<u8").tobytes()
    writes = trace.is_write.astype("u1").tobytes()
    rows = []
    for phase in range(phases):
        gaps = (trace.gap_ns + np.uint64(round(phase * turn_ns / phases))).astype("<u8").tobytes()
        try:
            raw = _engine.disk_service_times(text, _SEED, *columns, writes, gaps)
        except _engine.EngineTraceError as error:
            raise as_trace_error(error) from None
        rows.append(np.frombuffer(raw, dtype="<u8") / 1e6)
    return np.stack(rows)
