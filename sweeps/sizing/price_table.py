"""The price table of `destage size`, as a file of its own."""

from dataclasses import replace
from importlib import resources
from typing import Any

from destage.engine import catalog
from destage.errors import ConfigError, Issue
from destage.spec.documents import parse_document
from destage.spec.source import Source
from destage.spec.typed_tables import table_schema
from destage.spec.validation import validate_document
from destage.sweeps.keys.prices import Prices


def read_prices_file(text: str | bytes, name: str) -> dict[str, Any]:
    """Return a price table from YAML; raises as `check_prices` does, with the line of each mistake."""
    return check_prices(parse_document(text, name, "study"), name, text)


def check_prices(document: object, name: str, text: str | bytes = "") -> dict[str, Any]:
    """Return a document that is a price table.

    Args:
        text: What it was read from, in which each mistake has its line.

    Raises:
        ConfigError: It is not, with every mistake.
    """
    if not isinstance(document, dict):
        message = "not a price table in YAML; `destage size --example-prices` prints one"
        raise ConfigError([Issue("study.wrong-type", "", message)], name)
    issues = validate_document(document, table_schema(Prices), "study")
    if not issues:
        issues = [
            replace(issue, place=f"{kind}.{part}")
            for kind in ("controllers", "disks")
            for part in document[kind]
            for issue in catalog.check_name(kind, part)
        ]
    if issues:
        raise Source(name, text).error(issues)
    return document


def example_prices() -> str:
    """Return the dated example of a price table, as YAML."""
    return (resources.files("destage.sweeps.sizing") / "example_prices.yaml").read_text(encoding="utf-8")
