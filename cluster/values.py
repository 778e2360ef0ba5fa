"""Reading settings as YAML has them, with every mistake told at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from destage.cluster.settings import Settings
from destage.cluster.settings_schema import OPERATOR, as_values, camel, entries, item_of, settings_schema
from destage.cluster.store_url import store_mistakes
from destage.errors import ConfigError, Issue


def read_file(path: Path) -> dict[str, Any]:
    """Return the values in a file, unchecked.

    Args:
        path: A YAML file, of the form of the chart's `values.yaml`.

    Raises:
        ConfigError: It cannot be read, or is no YAML.
    """
    try:
        values = yaml.safe_load(path.read_text())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is no YAML: {' '.join(str(error).split())}") from error
    if values is not None and not isinstance(values, dict):
        raise ConfigError(f"{path}: settings are a table of names and values")
    return values or {}


def merge_settings(files: Sequence[Path], given: Sequence[str], asked: Mapping[str, Any]) -> Settings:
    """Return the settings of several files and single values, the later ones winning as in Helm.

    Args:
        files: Files of the form of the chart's `values.yaml`.
        given: Settings as `path.to.setting=value`; the value is read as YAML, but a number or a date where a
            text may stand is that text.
        asked: What wins over all of them.

    Raises:
        ConfigError: A file cannot be read, or some value is not allowed.
    """
    values: Any = as_values(Settings())
    for path in files:
        values = _over(values, read_file(path))
    for text in given:
        path_text, separator, value = text.partition("=")
        if not separator or not path_text:
            raise ConfigError(f"--set {text!r}: write it as PATH=VALUE")
        steps = path_text.split(".")
        values = _with(values, steps, _value(steps, value.strip(), text), text)
    return read_settings(_over(values, asked))


def read_settings(values: Mapping[str, Any], source: str = "settings") -> Settings:
    """Return the settings that values give; what they leave out has its default.

    Args:
        values: The values, as the chart takes them.
        source: What to call them in messages.

    Raises:
        ConfigError: Some value is not allowed; every mistake is in its issues.
    """
    from destage.spec.validation import validate_document  # noqa: PLC0415 - what runs in pods reads no settings

    asked = {name: value for name, value in values.items() if name not in (OPERATOR, "global")}
    issues = tuple(validate_document(asked, settings_schema(), "settings"))
    if not issues:
        settings: Settings = _made(Settings, asked)
        issues = tuple(_refusals(settings))
        if not issues:
            return settings
    raise ConfigError(f"{source}: settings are not allowed", issues)


def _value(steps: Sequence[str], value: str, text: str) -> Any:
    from destage.spec.documents import parse_document  # noqa: PLC0415 - what runs in pods reads no settings

    found = parse_document(value, f"--set {text!r}")
    is_word = isinstance(found, bool | int | float | date) or not value
    return value if is_word and _is_text(steps) else found


def _is_text(steps: Sequence[str]) -> bool:
    """Return whether a text may stand at some place of the settings."""
    schema = settings_schema()
    for step in steps:
        known = schema.get("properties", {}).get(step)
        schema = known or schema.get("items") or schema.get("additionalProperties") or {}
    return "string" in schema.get("type", ())


def _over(values: Any, later: Any) -> Any:
    """Return values with later ones over them: tables are merged, all else is replaced."""
    if isinstance(values, Mapping) and isinstance(later, Mapping):
        return {**values, **{name: _over(values.get(name), value) for name, value in later.items()}}
    return later


def _with(values: Any, steps: Sequence[str], value: Any, text: str) -> Any:
    """Return values with one of them set; a number is a place in a list that is there."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(values, list) or (values is None and step.isdigit()):
        values = values or []
        if not step.isdigit() or int(step) >= len(values):
            raise ConfigError(
                f"--set {text!r}: there is no {step!r} in a list of {len(values)}; give the list in a file"
            )
        return [_with(each, rest, value, text) if at == int(step) else each for at, each in enumerate(values)]
    table = values if isinstance(values, Mapping) else {}
    return {**table, step: _with(table.get(step), rest, value, text)}


def _made(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        given = {
            one.name: _made(type_, value[camel(one.name)])
            for one, type_ in entries(kind)
            if camel(one.name) in value
        }
        return kind(**given)
    if (item := item_of(kind)) is not None:
        return tuple(_made(item, each) for each in value)
    return str(value) if kind is str else value  # `cpu: 2` is as good as `cpu: "2"`


def _refusals(settings: Settings) -> Iterator[Issue]:
    """Yield what no single setting shows: the same refusals as the chart's."""
    sweep = settings.sweep
    given = [name for name in ("spec", "config_map", "study") if getattr(sweep, name)]
    if settings.mode == "job" and len(given) != 1:
        told = " and ".join(f"sweep.{camel(name)}" for name in given) or "none"
        yield Issue(
            "sweep",
            None,
            f"mode job runs exactly one of sweep.spec, sweep.configMap, sweep.study; given: {told}",
        )
    if settings.mode == "cluster" and given:
        yield Issue(
            "sweep", None, "mode cluster runs nothing by itself: leave sweep empty, and submit sweeps to it"
        )
    yield from store_mistakes(settings)
    names = [group.name for group in settings.workers]
    if len(set(names)) != len(names):
        yield Issue("workers", names, "each group has a name of its own")
    for at, group in enumerate(settings.workers):
        most = group.max_replicas or group.replicas
        if not group.min_replicas <= group.replicas <= most:
            yield Issue(
                f"workers.{at}.replicas",
                group.replicas,
                f"is from minReplicas ({group.min_replicas}) to maxReplicas ({most})",
            )
