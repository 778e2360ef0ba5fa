"""From what a person writes to the one canonical form that the engine runs and that identifies a run."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from destage.engine import _engine, catalog, scenario_schema
from destage.engine.base_units import BaseUnits, to_base_units
from destage.engine.validation import known_part, mistakes
from destage.errors import ConfigError, Issue

Scenario = Mapping[str, Any] | str
"""One configuration: a mapping, or its JSON text."""


def normalise(scenario: Scenario) -> dict[str, Any]:
    """The canonical form of a configuration: every default filled, every quantity in base units.

    Args:
        scenario: A configuration; catalogue names and unit strings are resolved.

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
        raise _refusal([*unknown, *given.issues])
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
        raise ConfigError(str(error)) from None


def canonical_json(scenario: Scenario) -> str:
    """The canonical form as text: keys sorted, equal for equal configurations.

    Args:
        scenario: A configuration; catalogue names and unit strings are resolved.

    Raises:
        ConfigError: With all mistakes found, each with its path, value and what is allowed.
    """
    text, issues = _judge(scenario)
    if issues:
        raise _refusal(issues)
    return text


def validate(scenario: Scenario) -> list[Issue]:
    """Every mistake of a configuration; empty where there is none.

    Args:
        scenario: A configuration; catalogue names and unit strings are resolved.
    """
    return _judge(scenario)[1]


def read(scenario: Scenario) -> dict[str, Any]:
    """A configuration as a mapping.

    Args:
        scenario: A configuration, or its JSON text.

    Raises:
        ConfigError: The text is no JSON object.
    """
    if not isinstance(scenario, str):
        return dict(scenario)
    try:
        parsed = json.loads(scenario)
    except json.JSONDecodeError as error:
        raise ConfigError(f"the configuration is no JSON: {error}") from None
    if not isinstance(parsed, dict):
        raise ConfigError("the configuration is not a table of fields")
    return parsed


def _refusal(issues: list[Issue]) -> ConfigError:
    count = "a mistake" if len(issues) == 1 else f"{len(issues)} mistakes"
    return ConfigError(f"the configuration has {count}", issues=tuple(issues))


def _judge(scenario: Scenario) -> tuple[str, list[Issue]]:
    """The canonical text and no issue, or no text and the issues."""
    resolved, unknown = catalog.resolve_known(read(scenario))
    tree = scenario_schema.engine_tree()
    given = to_base_units(resolved, tree)
    if not unknown and not given.issues:
        # The engine holds every bound itself; the schema is asked only for what to say of a mistake.
        text, issues = _judge_rules(given)
        if not issues:
            return text, []
    unresolved = tuple(issue.path.removesuffix("use") for issue in unknown)
    found = [issue for issue in mistakes(given, tree) if not (unknown and issue.path.startswith(unresolved))]
    if unknown or given.issues:
        return "", unknown + found
    if found:
        # A misspelt key must not hide what is wrong between the fields that are spelt well.
        given.value = known_part(given.value, tree)
        further = [] if mistakes(given, tree) else _judge_rules(given)[1]
        return "", found + further
    return _judge_rules(given)


def _judge_rules(given: BaseUnits) -> tuple[str, list[Issue]]:
    """Let the engine judge the rules between fields."""
    try:
        return _engine.normalise(json.dumps(given.value)), []
    except _engine.EngineConfigError as error:
        found = [(issue["place"], issue["message"]) for issue in json.loads(error.issues)]
        return "", [
            Issue(path, given.texts.get(path, _value_at(given.value, path)), message)
            for path, message in found
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
