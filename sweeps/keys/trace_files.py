"""The files of the traces that a study replays."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from destage import engine
from destage.engine.traces.access_places import resolve_place

TRACE_FILE = ".arrival.file"
"""The end of the dotted path of a trace's file."""


def bind_traces(document: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Make every trace file absolute, and bind the scenario's traces to their content."""
    bound = copy.deepcopy(dict(document))
    bound["scenario"] = engine.traces.bind(bound["scenario"], folder)
    for path, written in bound.get("axes", {}).items():
        if path.endswith(TRACE_FILE) and isinstance(written, list):
            bound["axes"][path] = [_absolute(file, folder) for file in written]
    for point in bound.get("points", []):
        for path in point:
            if path.endswith(TRACE_FILE):
                point[path] = _absolute(point[path], folder)
    return bound


def _absolute(file: object, folder: Path) -> object:
    return str(resolve_place(file, folder)) if isinstance(file, str) else file
