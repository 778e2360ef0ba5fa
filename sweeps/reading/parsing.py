"""The study of a text, parsed with all mistakes at once."""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from destage import engine
from destage.engine.traces.access_places import resolve_place
from destage.errors import ConfigError, Issue, TraceError
from destage.spec.documents import parse_document
from destage.spec.source import Source
from destage.sweeps.space.parameters import TRACE_FILE, find_bare_numbers, is_json
from destage.sweeps.study.reader import StudyReader, drop_mistaken, find_study_mistakes, study_keys
from destage.sweeps.study.valid_study import Study

_ABSENCES = frozenset({"study.missing-key", "study.no-effect", "study.unknown-name"})
"""Mistakes that something which is not there may cause."""
_DEPENDENT = frozenset({"design", "search", "refine", "when", "derived"})
"""Keys that need axes, or each other."""


def parse_study(
    text: str | bytes, *, name: str = "study", folder: Path | None = None, is_stored: bool = False
) -> Study:
    """Parse a study.

    Args:
        name: Its name in messages, usually its file.
        folder: The folder of relative files of traces and parts (default: the working directory).
        is_stored: Whether it was parsed before: numbers without a unit are then accepted.

    Raises:
        ConfigError: With every mistake; if there are any, also those of the points.
        TraceError: A trace cannot be read, and the study has no other mistake.
    """
    source = Source(name, text)
    written = _parse_table(text, source)
    issues = find_study_mistakes(written)
    document = drop_mistaken(written, issues)
    if not isinstance(document.get("scenario"), Mapping):
        raise source.error(issues)
    if (message := engine.configuration.explain_wrong_table(document["scenario"])) is not None:
        raise source.error([*issues, Issue("study.wrong-type", "scenario", message)])
    if not is_stored:
        document = _bind_parts(document, (folder or Path()).absolute(), source, issues)
    needs_units = not is_stored and not is_json(text)
    if needs_units:
        issues += [_in_scenario(issue) for issue in find_bare_numbers(document["scenario"])]
    unreadable: TraceError | None = None
    try:
        document = _bind_traces(document, (folder or Path()).absolute())
    except TraceError as error:
        unreadable = error
    except ConfigError as error:
        issues += error.issues
    reader = StudyReader(document, needs_units=needs_units)
    issues += _drop_consequences(reader.issues, issues)
    if not issues:
        if unreadable is not None:
            raise unreadable
        return replace(reader.study(), source=source)
    from destage.sweeps.reading.expansion import add_point_mistakes  # noqa: PLC0415 - only mistakes need it

    issues = add_point_mistakes(issues, reader.study())
    raise source.error([*issues, *(unreadable.issues if unreadable is not None else ())])


def _bind_parts(
    document: Mapping[str, Any], folder: Path, source: Source, issues: Iterable[Issue]
) -> dict[str, Any]:
    """Put the parts that a study names into it; without them, nothing else can be checked."""
    if engine.catalog.OWN not in document["scenario"] and not engine.catalog.list_added():
        return dict(document)
    from destage.sweeps.keys.own_parts import bind_parts  # noqa: PLC0415 - few studies have parts of their own

    try:
        return bind_parts(document, folder)
    except ConfigError as error:
        if error.source:
            raise
        raise source.error([*issues, *map(_in_scenario, error.issues)]) from None


def _bind_traces(document: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Make every trace file absolute, and bind the scenario's traces to their content."""
    bound = copy.deepcopy(dict(document))
    if engine.configuration.find_replays(bound["scenario"]):
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


def _drop_consequences(issues: Iterable[Issue], schema: Iterable[Issue]) -> list[Issue]:
    """Return mistakes without those that only say that a part with a mistake of its own is not there."""
    if not any(_key(issue) in {"axes", "zip", "design", "search"} for issue in schema):
        return list(issues)
    return [issue for issue in issues if issue.code not in _ABSENCES or _key(issue) not in _DEPENDENT]


def _key(issue: Issue) -> str:
    """Return the key of the study that has a mistake."""
    return issue.place.partition(".")[0]


def parse_fields(text: str | bytes, name: str, folder: Path | None = None) -> dict[str, Any]:
    """Parse the fields of a study as written, without its traces, which other machines may read.

    Args:
        folder: The folder of relative files of parts (default: the working directory).

    Raises:
        ConfigError: With every mistake.
    """
    source = Source(name, text)
    document = _parse_table(text, source)
    if not (issues := find_study_mistakes(document)):
        document = _bind_parts(document, (folder or Path()).absolute(), source, ())
        issues = _find_own_mistakes(document, needs_units=not is_json(text))
    if issues:
        try:
            parse_study(text, name=name, folder=folder)
        except ConfigError as error:
            issues = [issue for issue in error.issues if not issue.code.startswith("trace.")]
        raise source.error(issues)
    return document


def _find_own_mistakes(document: Mapping[str, Any], *, needs_units: bool) -> list[Issue]:
    """Return the mistakes of a study that fits the schema, except those of its points."""
    bare = find_bare_numbers(document["scenario"]) if needs_units else []
    return [*map(_in_scenario, bare), *StudyReader(document, needs_units=needs_units).issues]


def _parse_table(text: str | bytes, source: Source) -> dict[str, Any]:
    document = parse_document(text, source.name, "study")
    if not isinstance(document, dict) or not study_keys() & document.keys():
        message = "not a study, which is a table with at least name and scenario"
        raise source.error([Issue("study.wrong-type", "", message)])
    return document


def _in_scenario(issue: Issue) -> Issue:
    return replace(issue, place=f"scenario.{issue.place}")
