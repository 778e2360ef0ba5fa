"""Configurations of the engine: validation, and the canonical form, which the engine runs and names runs by.

The extension module's exceptions become those of `destage.errors`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from destage.engine import _engine, catalog, scenario_schema
from destage.errors import ConfigError, DestageError, Issue, SimulationError, TraceError
from destage.spec.base_units import BaseUnits, to_base_units
from destage.spec.documents import value_at
from destage.spec.validation import find_mistakes, keep_known_keys

_POSITION = re.compile(r"\[(\d+)\]")
_ISSUE = re.compile(r"(\S+?)(?: at (.+?))?: (.+)", re.DOTALL)
"""The text of a failed run: code, place, message."""


def issues_of(error: _engine.EngineConfigError) -> list[Issue]:
    """Return the rules that a configuration breaks, places dotted as in ``workload.streams.0.arrival``."""
    return [
        Issue(issue["code"], _POSITION.sub(r".\1", issue["place"]), issue["message"])
        for issue in json.loads(error.issues)
    ]


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise the engine's errors as those of `destage.errors`, for the length of a `with` block."""
    try:
        yield
    except _engine.EngineConfigError as error:
        raise ConfigError(issues_of(error)) from None
    except _engine.EngineTraceError as error:
        raise as_trace_error(error) from None


def as_trace_error(error: _engine.EngineTraceError, source: str = "") -> TraceError:
    """Return the error for a trace, with its file or address as the source."""
    (issue,) = json.loads(error.issues)
    trace_error = TraceError(issue["code"], issue["message"], issue["place"], issue.get("data"))
    trace_error.source = source
    return trace_error


def as_run_error(kind: str, text: str) -> DestageError:
    """Return the error for a failed run, given `error_kind` and `error` of its row."""
    match = _ISSUE.fullmatch(text)
    if match is None:
        raise ValueError(f"a failed run without a code: {text}")
    code, place, message = match.groups(default="")
    place = _POSITION.sub(r".\1", place)
    if kind == "configuration":
        return ConfigError([Issue(code, place, message)])
    return (TraceError if kind == "trace" else SimulationError)(code, message, place)


Scenario = Mapping[str, Any] | str
"""One configuration: a mapping, or its JSON text."""


def normalise(scenario: Scenario) -> dict[str, Any]:
    """Return the canonical form of a configuration: defaults filled in, quantities in base units.

    Raises:
        ConfigError: With all mistakes of the configuration.
    """
    canonical: dict[str, Any] = json.loads(canonical_json(scenario))
    return canonical


def prepare(fields: Mapping[str, Any]) -> str:
    """Return top-level fields of a configuration as JSON members.

    Each top-level field (`array` and `arrays` together) is resolved independently of the others, so that
    configurations with common fields can share the result.

    Args:
        fields: At least one field.

    Raises:
        ConfigError: With the names and quantities that cannot be read; the engine checks everything else.
    """
    resolved, unknown = catalog.resolve_known(fields)
    given = to_base_units(resolved, scenario_schema.engine_tree())
    if unknown or given.issues:
        raise ConfigError([*unknown, *given.issues])
    return json.dumps(given.value)[1:-1]


def assemble(scenario: Mapping[str, Any]) -> str:
    """Return the canonical form as text, like `canonical_json`, which also explains mistakes.

    Raises:
        ConfigError: The configuration is invalid.
    """
    with translated_errors():
        return _engine.normalise(f"{{{prepare(scenario)}}}")


def canonical_json(scenario: Scenario) -> str:
    """Return the canonical form as text: keys sorted, equal for equal configurations."""
    text, issues = _check(scenario)
    if issues:
        raise ConfigError(issues)
    return text


def usable_capacity(array: Mapping[str, Any]) -> int:
    """Return the size of the data that an array can hold [bytes].

    Args:
        array: RAID level, disks and their number, as in a configuration.

    Raises:
        ConfigError: The array cannot be built.
    """
    prepared = json.loads(f"{{{prepare({'array': array})}}}")
    with translated_errors():
        return _engine.usable_capacity(json.dumps(prepared["array"]))


def validate(scenario: Scenario) -> list[Issue]:
    """Return all mistakes of a configuration."""
    return _check(scenario)[1]


def read(scenario: Scenario) -> dict[str, Any]:
    """Return a configuration as a mapping."""
    if not isinstance(scenario, str):
        return dict(scenario)
    try:
        parsed = json.loads(scenario)
    except json.JSONDecodeError as error:
        raise ConfigError(
            [Issue("scenario.bad-syntax", f"{error.lineno}:{error.colno}", f"invalid JSON: {error.msg}")]
        ) from None
    if not isinstance(parsed, dict):
        raise ConfigError([Issue("scenario.wrong-type", "", "must be a table", parsed)])
    return parsed


def _check(scenario: Scenario) -> tuple[str, list[Issue]]:
    """Return the canonical text and no issues, or no text and the issues."""
    resolved, unknown = catalog.resolve_known(read(scenario))
    tree = scenario_schema.engine_tree()
    given = to_base_units(resolved, tree)
    if not unknown and not given.issues:
        # The engine checks all bounds; the schema is only used to explain mistakes.
        text, issues = _check_rules(given)
        if not issues:
            return text, []
    unresolved = tuple(f"{issue.place.removesuffix('.use')}." for issue in unknown)
    mistakes = [issue for issue in find_mistakes(given, tree) if not f"{issue.place}.".startswith(unresolved)]
    if unknown or given.issues:
        return "", unknown + mistakes
    if mistakes:
        # A misspelt key must not hide broken rules between the other fields.
        given.value = keep_known_keys(given.value, tree)
        further = [] if find_mistakes(given, tree) else _check_rules(given)[1]
        return "", mistakes + further
    return _check_rules(given)


def _check_rules(given: BaseUnits) -> tuple[str, list[Issue]]:
    """Check the rules between fields, in the engine."""
    try:
        return _engine.normalise(json.dumps(given.value)), []
    except _engine.EngineConfigError as error:
        return "", [
            replace(issue, value=given.texts.get(issue.place, value_at(given.value, issue.place)))
            for issue in issues_of(error)
        ]
