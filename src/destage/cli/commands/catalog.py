"""`destage catalog`."""

from typing import Annotated

import typer

from destage.cli.completion import complete_catalog_entries, complete_catalog_kinds
from destage.cli.options import Json
from destage.cli.output import print_data, print_json, print_pairs
from destage.errors import UsageError


def catalog(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND",
            help="controllers, disks or workloads (default: all).",
            autocompletion=complete_catalog_kinds,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Entry to show in full (default: list all).",
            autocompletion=complete_catalog_entries,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List controllers, disks and workloads, or show one of them.

    An entry is shown with the source of its figures.
    """
    from destage.engine import catalog as catalogue

    kinds = [each for each in catalogue.KINDS if kind in {None, each}]
    if not kinds:
        message = f"unknown kind {kind!r}; allowed: {', '.join(catalogue.KINDS)}"
        raise UsageError("usage.unknown-name", message, "KIND")
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
        "claim": entry.claim,
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
