"""The assignments of a point: which settings of the study's scenario they are, and in which order."""

import copy
from collections.abc import Iterable, Mapping
from contextlib import suppress

from destage.errors import ConfigError
from destage.sweeps.keys.trace_files import TRACE_FILE
from destage.sweeps.space import parameters
from destage.sweeps.study.valid_study import Study

REPLICATE = "run.replicate"
Assignments = Mapping[str, object]
"""Values by dotted path."""


def list_settings(study: Study, assignments: Assignments) -> list[tuple[str, object]]:
    """Return a point's assignments in their order; replicate 0 and the seek at its start unless assigned."""
    settings: list[tuple[str, object]] = []
    # What an entry of the catalogue has below a path depends on its name.
    for path, value in sorted(assignments.items(), key=lambda item: not item[0].endswith(".use")):
        settings.append((path, value))
        if path.endswith(TRACE_FILE) and (digest := f"{path.removesuffix('file')}digest") not in assignments:
            # The scenario's digest is that of another trace.
            settings.append((digest, None))
    if study.seek is not None and study.seek.path not in assignments:
        settings.append((study.seek.path, study.seek.written))
    return settings if REPLICATE in assignments else [*settings, (REPLICATE, 0)]


def is_nested(study: Study, paths: Iterable[str]) -> bool:
    """Return whether one assignment of these points is inside the table of another."""
    places = [split_path(path) for path, _ in list_settings(study, dict.fromkeys(paths))]
    return any(
        inner[: len(outer)] == outer
        for position, inner in enumerate(places)
        for outer in (*places[:position], *places[position + 1 :])
    )


def assign(study: Study, assignments: Assignments) -> dict[str, object]:
    """Return the study's scenario with a point's assignments; tables get those that are nested in them."""
    scenario = copy.deepcopy(dict(study.scenario))
    for path, value in list_settings(study, assignments):
        parameters.assign(scenario, path, value)
    return scenario


def complete(study: Study, assignments: Assignments) -> Assignments:
    """Return a point's assignments, tables with the assignments nested in them."""
    if not is_nested(study, assignments):
        return assignments
    values = copy.deepcopy(dict(assignments))
    with suppress(ConfigError):
        assign(study, values)
    return values


def split_path(path: str) -> list[str]:
    """Return the segments of a path; `array` is short for the first of `arrays`."""
    first, *rest = path.split(".")
    return ["arrays", "0", *rest] if first == "array" else [first, *rest]
