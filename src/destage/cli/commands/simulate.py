"""`destage simulate`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from destage.cli.options import Json, read_file, split_assignment
from destage.cli.output import print_data, print_json, print_pairs
from destage.errors import ConfigError, Issue, UsageError

_EXAMPLE = "controller.cache.capacity=64MiB"


def simulate(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A configuration or a study, in YAML or JSON.")
    ],
    assign: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="PATH=VALUE", help=f"Set a field by its path, as in {_EXAMPLE}; repeatable."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Simulate one configuration and print its result row."""
    from destage import engine

    scenario = _read_scenario(file)
    for text in assign or []:
        _assign(scenario, text)
    try:
        row = engine.simulate(scenario, folder=file.parent)
    except ConfigError as error:
        raise ConfigError(error.issues, str(file)) from error
    if as_json:
        print_json(row)
        return
    from destage.queries.presentation import format_number

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
    _print_timeline(row)


def _print_timeline(row: dict[str, Any]) -> None:
    """Print the events of a run, unless they are only the begin and end of the measurement window."""
    columns = [row[f"timeline_{name}"] for name in ("s", "event", "subject", "value")]
    lines = [
        f"{at:>14.6f} s  {event:<22}  {' '.join(filter(None, [subject, f'{value:g}' if value else '']))}"
        for at, event, subject, value in zip(*columns, strict=True)
    ]
    if any(not event.startswith("window_") for event in row["timeline_event"]):
        print_data("\ntimeline\n" + "".join(f"{line.rstrip()}\n" for line in lines))


def _read_scenario(file: Path) -> dict[str, Any]:
    from destage.spec.documents import parse_document

    document = parse_document(read_file(file), str(file))
    if isinstance(document, dict) and "scenario" in document:
        document = document["scenario"]
    if not isinstance(document, dict):
        message = "must be a table of fields, at least `workload` and `array`"
        raise ConfigError([Issue("scenario.wrong-type", "", message)], str(file))
    return document


def _assign(scenario: dict[str, Any], text: str) -> None:
    """Set one field of a scenario, as `PATH=VALUE` says."""
    from destage.spec.documents import parse_document

    path, value = split_assignment(text, "--set", _EXAMPLE)
    try:
        given = parse_document(value, f"--set {path}")
    except ConfigError as error:
        raise UsageError("usage.bad-assignment", f"{text!r}: {error.message}", "--set") from error
    *parents, last = path.split(".")
    here: Any = scenario
    for segment in parents:
        here = _field(here, segment, path)
    if isinstance(here, list):
        here[_index(here, last, path)] = given
    else:
        here[last] = given


def _field(here: Any, segment: str, path: str) -> Any:
    if isinstance(here, list):
        return here[_index(here, segment, path)]
    field = here.setdefault(segment, {})
    if not isinstance(field, dict | list):
        message = f"{path}: {segment} is {field!r}, which has no fields"
        raise UsageError("usage.bad-assignment", message, "--set")
    return field


def _index(items: list[Any], segment: str, path: str) -> int:
    if not segment.isdigit() or int(segment) >= len(items):
        message = f"{path}: invalid index {segment!r}; must be at least 0 and less than {len(items)}"
        raise UsageError("usage.bad-assignment", message, "--set")
    return int(segment)
