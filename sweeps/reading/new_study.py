"""The texts of new studies: the commented one of `destage init`, and the one behind `destage trace replay`.

The latter replays one trace on one array, with several cache sizes.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from destage import engine
from destage.engine.traces.access_places import resolve_place
from destage.errors import ConfigError
from destage.objects import Location
from destage.sweeps.reading.parsing import parse_study
from destage.sweeps.study.reader import study_schema
from destage.sweeps.study.valid_study import Study

SCHEMA_FILE = "destage-study.schema.json"
"""The file of the schema, beside the studies that name it."""
_REPLICATES = 3
MOST_SOUGHT = 100_000
"""The largest number of users that a new seek tries."""
_WARM_UP, _WINDOW, _LOW_WATER = 5_000, 20_000, 0.795
"""Settings for runs that take seconds, as in `destage size`."""


@dataclass(frozen=True, slots=True)
class NewStudy:
    """The choices of a new study.

    Attributes:
        users: The numbers of users; of a seek, the first value tried.
        caches: The cache sizes; empty for that of the controller.
        limit: The limit of the 95th percentile of response times of a seek; None to run at the users given.
    """

    name: str
    workload: str
    controller: str
    disk: str
    raid: Sequence[str]
    disks: int
    users: Sequence[int]
    caches: Sequence[str] = ()
    limit: str | None = None


def write_study(new: NewStudy, file: str) -> str:
    """Return the study as commented YAML.

    Args:
        file: The name of its file, for the commands in the comments.
    """
    is_seek = new.limit is not None
    question = (
        f"How many users do these arrays support with 95 % of the I/Os within {new.limit}?"
        if is_seek
        else "How fast are these arrays?"
    )
    users = f", users: {new.users[0]}" if not is_seek and len(new.users) == 1 else ""
    lines = [
        f"# yaml-language-server: $schema={SCHEMA_FILE}",
        f"# {question}",
        "#",
        f"#   destage run {file} --plan    what would run",
        f"#   destage run {file}           run it; run it again to continue after an interruption",
        "#",
        "# `destage catalog list` lists workloads, controllers and disks. Any field may be an axis.",
        f"name: {new.name}",
        f"question: {question}",
        "scenario:",
        f"  workload: {{use: {new.workload}{users}}}",
        "  # Destage in short cycles, so that a short run covers many of them.",
        f"  controller: {{use: {new.controller}, cache: {{write: {{low_water: {_LOW_WATER}}}}}}}",
        f'  array: {{raid: "{new.raid[0]}", disks: {new.disks}, disk: {{use: {new.disk}}}}}',
        "  # Without this line, a run also ends only when its response times are steady.",
        f"  run: {{warm_up: {_warm_up_of(new)}, window: {{requests: {_WINDOW}}}}}",
        *_list_axes(new),
    ]
    if is_seek:
        objectives = f'["response_p95 <= {new.limit}"]'
        bounds = f"start: {new.users[0]}, max: {MOST_SOUGHT}"
        lines += [
            "# The most users that meet the objectives, for each combination of the axes.",
            f"seek: {{maximize: workload.users, subject_to: {objectives}, {bounds}}}",
        ]
    lines += [
        "# Runs per point with different random numbers; more of them narrow the intervals.",
        f"replicates: {_REPLICATES}",
    ]
    return "\n".join(lines) + "\n"


def _warm_up_of(new: NewStudy) -> str:
    """Return the warm-up: until the write cache is steady, unless the load itself varies."""
    workload = {"use": new.workload, **({"users": new.users[0]} if new.users else {})}
    array = {"raid": new.raid[0], "disks": new.disks, "disk": {"use": new.disk}}
    run = {"warm_up": "auto", "window": {"requests": _WINDOW}}
    try:
        engine.normalise({"workload": workload, "array": array, "run": run})
    except ConfigError as error:
        if any(issue.code == "scenario.no-steady-state" for issue in error.issues):
            return f"{{requests: {_WARM_UP}}}"
    return "auto"


def schema_text() -> str:
    """Return the schema of studies, as the file beside them has it."""
    return json.dumps(study_schema(), indent=1) + "\n"


def make_name(text: str) -> str:
    """Return a text as the name of a study may be."""
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-") or "study"


def _list_axes(new: NewStudy) -> list[str]:
    axes: dict[str, str] = {}
    if new.limit is None and len(new.users) > 1:
        axes["workload.users"] = ", ".join(map(str, new.users))
    if len(new.raid) > 1:
        axes["array.raid"] = ", ".join(f'"{level}"' for level in new.raid)
    if new.caches:
        axes["controller.cache.capacity"] = ", ".join(new.caches)
    if not axes:
        return []
    return [
        "# Every combination runs.",
        "axes:",
        *(f"  {path}: [{values}]" for path, values in axes.items()),
    ]


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
