"""Fields of a configuration that `--set` assigns."""

from typing import Any

from destage.cli.parameters.shared_options import split_assignment
from destage.errors import ConfigError, UsageError

EXAMPLE = "controller.cache.capacity=64MiB"


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
