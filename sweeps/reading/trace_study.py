"""The study behind `destage trace replay`: one trace on one array, with several cache sizes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from destage.engine.traces.access_places import resolve_place
from destage.objects import Location
from destage.sweeps.reading.new_study import make_name
from destage.sweeps.reading.parsing import parse_study
from destage.sweeps.study.valid_study import Study

CAPACITY = "controller.cache.capacity"


def make_study(
    trace: Location,
    *,
    controller: str,
    disk: str,
    raid: str,
    disks: int,
    caches: Sequence[str],
    mode: str,
    addresses: str,
    depth: int | None = None,
    replicates: int,
) -> Study:
    """Return the study; without cache sizes, the cache is that of the controller.

    Args:
        addresses: What becomes of addresses beyond the array, as `arrival.map`.
        depth: The outstanding requests of the mode `asap`; None for its default.

    Raises:
        TraceError: The trace cannot be read.
    """
    arrival: dict[str, Any] = {"kind": "trace", "file": str(resolve_place(trace)), "mode": mode}
    if addresses != "error":
        arrival["map"] = addresses
    if depth is not None:
        arrival["depth"] = depth
    document: dict[str, Any] = {
        "name": f"replay-{make_name(Path(str(trace)).name.partition('.')[0])}",
        "question": f"How fast is this trace on RAID {raid} of {disks} disks?",
        "scenario": {
            "workload": {"streams": [{"name": "trace", "arrival": arrival}]},
            "controller": {"use": controller},
            "array": {"raid": raid, "disks": disks, "disk": {"use": disk}},
        },
        "replicates": replicates,
    }
    if caches:
        document["axes"] = {CAPACITY: list(dict.fromkeys(0 if size == "0" else size for size in caches))}
    return parse_study(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), name="replay")
