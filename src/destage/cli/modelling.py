"""The verbs of one configuration: simulate it, and look up what it can be made of."""

from pathlib import Path
from typing import Annotated, Any

import typer

from destage.cli.output import Json, print_data, print_json, print_pairs
from destage.errors import ConfigError


def simulate(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A configuration in YAML or JSON, or a study's.")
    ],
    assign: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Set one field, by its dotted path."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Simulate one configuration and print its row."""
    from destage import engine

    scenario = _read(file)
    for text in assign or []:
        _assign(scenario, text)
    try:
        row = engine.simulate(scenario, folder=file.parent)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error.message}", error.issues) from error
    if as_json:
        print_json(row)
        return
    from destage.queries.presentation import number

    meanings = {column.name: column.meaning for column in engine.columns()}
    print_pairs(
        {
            name: f"{number(value) if isinstance(value, int | float) else str(value):<14}  {meanings[name]}"
            for name, value in row.items()
            if value is not None and not name.startswith("timeline_")
        }
    )
    _print_timeline(row)


def _print_timeline(row: dict[str, Any]) -> None:
    """Draw what happened in a run, where more did than that its window began and ended."""
    columns = [row[f"timeline_{name}"] for name in ("s", "event", "subject", "value")]
    lines = [
        f"{at:>14.6f} s  {event:<22}  {' '.join(filter(None, [subject, f'{value:g}' if value else '']))}"
        for at, event, subject, value in zip(*columns, strict=True)
    ]
    if any(not event.startswith("window_") for event in row["timeline_event"]):
        print_data("\ntimeline\n" + "".join(f"{line.rstrip()}\n" for line in lines))


def catalog(
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="controllers, disks or workloads; without it, all.")
    ] = None,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One entry, in full.")] = None,
    as_json: Json = False,
) -> None:
    """Show the catalogue: controllers, disks and workloads, each with its source."""
    from destage.engine import catalog as catalogue

    kinds = [each for each in catalogue.KINDS if kind in {None, each}]
    if not kinds:
        raise ConfigError(f"no kind {kind!r} in the catalogue; there are: {', '.join(catalogue.KINDS)}")
    if name is None:
        found = {each: {entry.name: entry.title for entry in catalogue.entries(each)} for each in kinds}
        if as_json:
            print_json(found)
            return
        for each, titles in found.items():
            print_data(f"{each}\n")
            print_pairs({f"  {entry}": title for entry, title in titles.items()})
        return
    entry = catalogue.entry(kinds[0], name)
    facts = {
        "name": entry.name,
        "title": entry.title,
        "source": entry.source,
        "note": entry.note,
        "config": dict(entry.config),
        "typical": list(entry.unverified),
        "assumed": list(entry.assumed),
    }
    if as_json:
        print_json(facts)
        return
    import yaml

    shown = {key: value for key, value in facts.items() if value}
    print_data(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=100))


def _read(file: Path) -> dict[str, Any]:
    from destage.spec.documents import parse_document

    try:
        document = parse_document(file.read_bytes(), str(file))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error
    if isinstance(document, dict) and "scenario" in document:
        document = document["scenario"]
    if not isinstance(document, dict):
        raise ConfigError(f"{file}: a configuration is a mapping of fields, with at least workload and array")
    return document


def _assign(scenario: dict[str, Any], text: str) -> None:
    from destage.spec.documents import parse_document

    path, separator, value = text.partition("=")
    if not separator or not path:
        raise ConfigError(f"--set {text!r}: write it as PATH=VALUE, as in controller.cache.capacity=64MiB")
    written = parse_document(value, f"--set {path}")
    *parents, last = path.split(".")
    here: Any = scenario
    for segment in parents:
        here = _below(here, segment, path)
    if isinstance(here, list):
        here[_index(here, last, path)] = written
    else:
        here[last] = written


def _below(here: Any, segment: str, path: str) -> Any:
    if isinstance(here, list):
        return here[_index(here, segment, path)]
    below = here.setdefault(segment, {})
    if not isinstance(below, dict | list):
        raise ConfigError(f"--set {path}: {segment} is {below!r}, which has no fields")
    return below


def _index(items: list[Any], segment: str, path: str) -> int:
    if not segment.isdigit() or int(segment) >= len(items):
        raise ConfigError(
            f"--set {path}: {segment!r} is no position in a list of {len(items)}; the first is 0"
        )
    return int(segment)
