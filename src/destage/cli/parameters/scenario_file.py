"""The configuration that a file holds, alone or in a study, with fields that `--set` assigns."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from destage.cli.parameters.shared_options import read_file, split_assignment
from destage.errors import ConfigError, Issue, UsageError

if TYPE_CHECKING:
    from destage.spec.source import Source

EXAMPLE = "controller.cache.capacity=64MiB"


def read_scenario(file: Path, place: str = "FILE") -> tuple[dict[str, Any], "Source"]:
    """Return the configuration in a file, and its text.

    Args:
        place: The argument or option that names the file.
    """
    from destage.engine.configuration import explain_wrong_table
    from destage.spec.documents import parse_document
    from destage.spec.source import Source

    text = read_file(file, place)
    document = parse_document(text, str(file))
    within = ""
    if isinstance(document, dict) and "scenario" in document:
        document, within = document["scenario"], "scenario"
    if not isinstance(document, dict):
        message = "must be a table of fields, at least `workload` and `array`"
        raise ConfigError([Issue("scenario.wrong-type", "", message)], str(file))
    if (reason := explain_wrong_table(document)) is not None:
        raise ConfigError([Issue("scenario.wrong-type", within, reason)], str(file))
    source = Source(str(file), text, within)
    if "catalog" not in document:
        return document, source
    from destage.sweeps.keys.own_parts import bind_parts

    try:
        return bind_parts(document, file.parent), source
    except ConfigError as error:
        raise error if error.source else source.error(error.issues) from None


def check_units(scenario: dict[str, Any], assigned: list[str], source: "Source") -> None:
    """Reject numbers without a unit, with all other mistakes; those of a JSON file are in base units."""
    from destage import engine
    from destage.sweeps.space.parameters import find_bare_numbers, is_json

    bare = find_bare_numbers(scenario)
    if is_json(source.text):
        bare = [issue for issue in bare if _is_below(issue.place, assigned)]
    if bare:
        places = {issue.place for issue in bare}
        others = [issue for issue in engine.validate(scenario) if issue.place not in places]
        raise ConfigError([*bare, *others])


@contextmanager
def locate_mistakes(source: "Source", assigned: list[str]) -> Iterator[None]:
    """Give mistakes of a configuration their lines in the file, in a `with` block.

    Args:
        assigned: The fields that `--set` gave, which are not in the file.
    """
    try:
        yield
    except ConfigError as error:
        given = [issue for issue in error.issues if _is_below(issue.place, assigned)]
        written = [source.locate(issue) for issue in error.issues if issue not in given]
        raise ConfigError([*written, *given], source.name) from error


def _is_below(place: str, paths: list[str]) -> bool:
    return any(f"{place}.".startswith(f"{path}.") for path in paths)


def assign_field(scenario: dict[str, Any], text: str, option: str = "--set") -> str:
    """Set one field of a scenario, as `PATH=VALUE` of an option says, and return its path."""
    from destage.spec.documents import parse_document
    from destage.sweeps.space import parameters

    path, value = split_assignment(text, option, EXAMPLE)
    try:
        given = parse_document(value, f"{option} {path}")
    except ConfigError as error:
        raise UsageError("usage.bad-assignment", f"{text!r}: {error.message}", option) from error
    parent = path.rpartition(".")[0]
    if parent and parameters.explain_unknown(parent) is None and not parameters.list_keys(parent):
        raise UsageError("usage.bad-assignment", f"{path}: {parent} has no fields", option)
    try:
        parameters.assign(scenario, path, given)
    except ConfigError as error:
        raise UsageError("usage.bad-assignment", f"{path}: {error.message}", option) from error
    return path
