"""From what a person writes to the one canonical form that the engine runs and that identifies a run."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from destage.engine import _engine, catalog, scenario_schema
from destage.engine.engine_errors import as_config_error, issues_of
from destage.errors import ConfigError, Issue
from destage.spec.base_units import BaseUnits, to_base_units
from destage.spec.validation import find_mistakes, keep_known_keys

Scenario = Mapping[str, Any] | str
"""One configuration: a mapping, or its JSON text."""


def normalise(scenario: Scenario) -> dict[str, Any]:
    """The canonical form of a configuration: every default filled, every quantity in base units.

    Raises:
        ConfigError: With all mistakes found, each with its path, value and what is allowed.
    """
    canonical: dict[str, Any] = json.loads(canonical_json(scenario))
    return canonical


def prepare(fields: Mapping[str, Any]) -> str:
    """Some top-level fields of a configuration as JSON members, for `assemble`.

    What a catalogue name stands for and what a quantity means is told by its own top-level field (`array` and
    `arrays` together), so that configurations which have fields in common can have this in common.

    Args:
        fields: At least one field; catalogue names and unit strings are resolved.

    Raises:
        ConfigError: With the names and quantities that cannot be read; all else is for `assemble` to judge.
    """
    resolved, unknown = catalog.resolve_known(fields)
    given = to_base_units(resolved, scenario_schema.engine_tree())
    if unknown or given.issues:
        raise ConfigError([*unknown, *given.issues])
    return json.dumps(given.value)[1:-1]


def assemble(members: Iterable[str]) -> str:
    """The canonical form, as text, of the configuration that has these fields.

    Args:
        members: All its fields as `prepare` gives them, or as they stand in a canonical form.

    Raises:
        ConfigError: It is no possible configuration. `canonical_json` says why in the author's words.
    """
    try:
        return _engine.normalise(f"{{{','.join(members)}}}")
    except _engine.EngineConfigError as error:
        raise as_config_error(error) from None


def canonical_json(scenario: Scenario) -> str:
    """The canonical form as text: keys sorted, equal for equal configurations.

    Raises:
        ConfigError: With all mistakes found, each with its path, value and what is allowed.
    """
    text, issues = _check(scenario)
    if issues:
        raise ConfigError(issues)
    return text


def validate(scenario: Scenario) -> list[Issue]:
    """Every mistake of a configuration; empty where there is none."""
    return _check(scenario)[1]


def read(scenario: Scenario) -> dict[str, Any]:
    """A configuration as a mapping.

    Raises:
        ConfigError: The text is no JSON object.
    """
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
    """The canonical text and no issue, or no text and the issues."""
    resolved, unknown = catalog.resolve_known(read(scenario))
    tree = scenario_schema.engine_tree()
    given = to_base_units(resolved, tree)
    if not unknown and not given.issues:
        # The engine holds every bound itself; the schema is asked only for what to say of a mistake.
        text, issues = _check_rules(given)
        if not issues:
            return text, []
    unresolved = tuple(issue.place.removesuffix("use") for issue in unknown)
    found = [
        issue for issue in find_mistakes(given, tree) if not (unknown and issue.place.startswith(unresolved))
    ]
    if unknown or given.issues:
        return "", unknown + found
    if found:
        # A misspelt key must not hide what is wrong between the fields that are spelt well.
        given.value = keep_known_keys(given.value, tree)
        further = [] if find_mistakes(given, tree) else _check_rules(given)[1]
        return "", found + further
    return _check_rules(given)


def _check_rules(given: BaseUnits) -> tuple[str, list[Issue]]:
    """Let the engine judge the rules between fields."""
    try:
        return _engine.normalise(json.dumps(given.value)), []
    except _engine.EngineConfigError as error:
        return "", [
            replace(issue, value=given.texts.get(issue.place, _value_at(given.value, issue.place)))
            for issue in issues_of(error)
        ]


def _value_at(value: Any, path: str) -> object:
    """What stands at a dotted path; None where nothing does."""
    for step in path.split(".") if path else ():
        if isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            return None
    return value
