"""A configuration in a text, alone or in a study, and its mistakes by their lines."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from destage import engine
from destage.engine.configuration import explain_wrong_table
from destage.engine.workload_description import describe_assumed_localities
from destage.errors import ConfigError, Issue
from destage.spec.documents import parse_document
from destage.spec.source import Source
from destage.sweeps.space.parameters import find_bare_numbers, is_json

_VARIED = ("axes", "zip", "points", "design", "search", "refine", "seek", "calibrate")
"""The keys of a study that may give it more than one configuration."""


def parse_scenario(text: str | bytes, name: str, folder: Path) -> tuple[dict[str, Any], Source]:
    """Return the configuration in a text, and what locates its mistakes.

    Args:
        name: Its name in messages, usually its file.
        folder: The folder of relative files of parts.

    Raises:
        ConfigError: It is not a table, or a part of its own has a mistake.
    """
    document = parse_document(text, name)
    within = ""
    if isinstance(document, dict) and "scenario" in document:
        document, within = document["scenario"], "scenario"
    if not isinstance(document, dict):
        message = "must be a table of fields, at least `workload` and `array`"
        raise ConfigError([Issue("scenario.wrong-type", "", message)], name)
    if (reason := explain_wrong_table(document)) is not None:
        raise ConfigError([Issue("scenario.wrong-type", within, reason)], name)
    source = Source(name, text, within)
    if engine.catalog.OWN not in document:
        return document, source
    from destage.sweeps.keys.own_parts import bind_parts  # noqa: PLC0415 - few have parts of their own

    try:
        return bind_parts(document, folder), source
    except ConfigError as error:
        raise error if error.source else source.error(error.issues) from None


def check_units(scenario: dict[str, Any], assigned: Sequence[str], source: Source) -> None:
    """Reject numbers without a unit, with all other mistakes; those of a JSON file are in base units.

    Args:
        assigned: The fields that were assigned, which are not in the text.
    """
    bare = find_bare_numbers(scenario)
    if is_json(source.text):
        bare = [issue for issue in bare if _is_below(issue.place, assigned)]
    if bare:
        places = {issue.place for issue in bare}
        others = [issue for issue in engine.validate(scenario) if issue.place not in places]
        raise ConfigError([*bare, *others])


@contextmanager
def locate_mistakes(source: Source, assigned: Sequence[str]) -> Iterator[None]:
    """Give mistakes of a configuration their lines in the text, in a `with` block.

    Args:
        assigned: The fields that `--set` assigned, which are not in the text.
    """
    try:
        yield
    except ConfigError as error:
        given = [issue for issue in error.issues if _is_below(issue.place, assigned)]
        written = [source.locate(issue) for issue in error.issues if issue not in given]
        options = [replace(issue, place=f"--set {issue.place}") for issue in given]
        raise ConfigError([*written, *options], source.name if written else "") from error


def read_present(
    scenario: dict[str, Any], source: Source, folder: Path, assigned: Sequence[str] = ()
) -> tuple[dict[str, Any], list[str]]:
    """Return the configuration of one array with its load, and the localities that its load assumes.

    Args:
        scenario: The configuration as parsed, with the fields that were assigned.
        folder: The folder of relative traces.

    Raises:
        ConfigError: It has a mistake, several arrays, or is a study of several configurations.
    """
    document = parse_document(source.text, source.name)
    if (
        source.within
        and isinstance(document, dict)
        and (varied := [key for key in _VARIED if key in document])
    ):
        message = "a study of several configurations, and one is needed: leave out this key"
        raise Source(source.name, source.text).error([Issue("study.unknown-key", varied[0], message)])
    with locate_mistakes(source, assigned):
        check_units(scenario, assigned, source)
        scenario = engine.traces.bind(scenario, folder)
        arrays = engine.normalise(scenario)["arrays"]
        if len(arrays) > 1:
            message = f"{len(arrays)} arrays, and one is needed"
            raise ConfigError([Issue("scenario.several-arrays", "arrays", message)])
    localities = describe_assumed_localities(scenario, assigned)
    own = {key: scenario[key] for key in ("workload", engine.catalog.OWN) if key in scenario}
    return {**scenario, "workload": engine.catalog.resolve(own)["workload"]}, localities


def _is_below(place: str, paths: Sequence[str]) -> bool:
    return any(f"{place}.".startswith(f"{path}.") for path in paths)
