"""`destage simulate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.parameters.completion import complete_configurations, complete_parameters
from destage.cli.parameters.shared_options import Catalog, Json, read_file, split_assignment, use_catalog
from destage.cli.terminal.output import print_data, print_json, print_pairs
from destage.errors import ConfigError, Issue, UsageError

if TYPE_CHECKING:
    from destage.spec.source import Source

_EXAMPLE = "controller.cache.capacity=64MiB"


def simulate(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A configuration or a study, in YAML or JSON.",
            autocompletion=complete_configurations,
        ),
    ],
    assign: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=VALUE",
            help=f"Set a field by its path, as in {_EXAMPLE}; repeatable.",
            autocompletion=complete_parameters,
        ),
    ] = None,
    catalog_files: Catalog = None,
    as_json: Json = False,
) -> None:
    """Simulate one configuration and print its result row."""
    use_catalog(catalog_files)
    from destage import engine

    scenario, source = _read_scenario(file)
    assigned = [_assign(scenario, text) for text in assign or []]
    try:
        _check_units(scenario, assigned, source)
        row = engine.simulate(scenario, folder=file.parent)
    except ConfigError as error:
        # What `--set` gave is not in the file.
        given = [issue for issue in error.issues if _is_below(issue.place, assigned)]
        written = [source.locate(issue) for issue in error.issues if issue not in given]
        raise ConfigError([*written, *given], source.name) from error
    from destage.engine.workload_description import describe_assumed_localities
    from destage.queries.findings.answer_basis import describe_run_error
    from destage.queries.findings.unsteady_caches import describe_run

    remarks = [
        *describe_run(scenario, row),
        *describe_run_error(engine.normalise(scenario), row),
        *describe_assumed_localities(scenario, assigned),
    ]
    if as_json:
        print_json(row | {"remarks": remarks})
        return
    from destage.queries.text.presentation import format_number

    def cell(value: object) -> str:
        return format_number(value) if isinstance(value, int | float) else str(value)

    meanings = {column.name: column.meaning for column in engine.columns()}
    print_pairs(
        {
            name: f"{cell(value):<14}  {meanings[name]}"
            for name, value in row.items()
            if value is not None and not name.startswith("timeline_")
        }
    )
    print_data("".join(f"\n{sentence}\n" for sentence in remarks))
    _print_timeline(row)


def _print_timeline(row: dict[str, Any]) -> None:
    """Print the events of a run, unless they are only the begin and end of the measurement window."""
    columns = [row[f"timeline_{name}"] for name in ("s", "event", "subject", "value")]
    lines = [
        f"{time_s:>14.6f} s  {event:<22}  {' '.join(filter(None, [subject, f'{value:g}' if value else '']))}"
        for time_s, event, subject, value in zip(*columns, strict=True)
    ]
    if any(not event.startswith("window_") for event in row["timeline_event"]):
        print_data("\ntimeline\n" + "".join(f"{line.rstrip()}\n" for line in lines))


def _read_scenario(file: Path) -> tuple[dict[str, Any], "Source"]:
    """Return the configuration in a file, and its text."""
    from destage.engine.scenario_schema import explain_wrong_table
    from destage.spec.documents import parse_document
    from destage.spec.source import Source

    text = read_file(file)
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


def _check_units(scenario: dict[str, Any], assigned: list[str], source: "Source") -> None:
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


def _is_below(place: str, paths: list[str]) -> bool:
    return any(f"{place}.".startswith(f"{path}.") for path in paths)


def _assign(scenario: dict[str, Any], text: str) -> str:
    """Set one field of a scenario, as `PATH=VALUE` says, and return its path."""
    from destage.spec.documents import parse_document
    from destage.sweeps.space import parameters

    path, value = split_assignment(text, "--set", _EXAMPLE)
    try:
        given = parse_document(value, f"--set {path}")
    except ConfigError as error:
        raise UsageError("usage.bad-assignment", f"{text!r}: {error.message}", "--set") from error
    parent = path.rpartition(".")[0]
    if parent and parameters.explain_unknown(parent) is None and not parameters.list_keys(parent):
        raise UsageError("usage.bad-assignment", f"{path}: {parent} has no fields", "--set")
    try:
        parameters.assign(scenario, path, given)
    except ConfigError as error:
        raise UsageError("usage.bad-assignment", f"{path}: {error.message}", "--set") from error
    return path
