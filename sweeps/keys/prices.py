"""Prices of configurations: a price per controller, per disk and, where given, per shelf of disks.

    price = controller + disks x disk + ceil(disks / disks of a shelf) x shelf

The disks are those of the array and its hot spares. The price rises with the number of disks, which the
search for the cheapest configurations relies on. The price table of `destage size` is a file of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from typing import Annotated, Any

from destage.engine import catalog
from destage.errors import ConfigError, Issue
from destage.spec.axis_names import SPARES
from destage.spec.documents import parse_document
from destage.spec.near_names import suggest
from destage.spec.source import Source
from destage.spec.typed_tables import key, read_table, table, table_schema
from destage.spec.validation import validate_document
from destage.sweeps.space import parameters
from destage.sweeps.space.parameter_space import Space

CONTROLLER, DISK = "controller.use", "array.disk.use"
_KINDS = {CONTROLLER: "controllers", DISK: "disks"}
_Price = Annotated[float, {"description": "A price [currency].", "minimum": 0}]


@table
class Shelf:
    """Shelves that hold the disks (default: they cost nothing)."""

    disks: int = key("The most disks of a shelf.", minimum=1)
    price: float = key("The price of a shelf [currency].", minimum=0)


@table
class Prices:
    """Prices of parts, for `seek.cheapest` and the prices of answers.

    Attributes:
        scenario: The controller, the disk and the hot spares of points without such an axis, by dotted path.
    """

    currency: str = key("The currency of all prices, such as EUR.", minLength=1)
    date: str = key("The date of the prices, such as 2026-11-23.", format="date")
    source: str | None = key("Where the prices are from.", default=None)
    controllers: Mapping[str, _Price] = key(
        "The price of each controller, with its cache and battery, by its name in the catalogue."
    )
    disks: Mapping[str, _Price] = key("The price of one disk, by its name in the catalogue.")
    shelf: Shelf = key(default=Shelf(disks=1, price=0.0))
    scenario: Mapping[str, Any]

    def price(self, axes: Mapping[str, object], disks: int) -> float:
        """Return the price of a configuration [currency].

        Args:
            axes: The values of its axes, by dotted path.
            disks: Its number of disks, without hot spares.
        """
        controller = str(axes.get(CONTROLLER) or self.scenario[CONTROLLER])
        disk = str(axes.get(DISK) or self.scenario[DISK])
        disks += int(str(axes.get(SPARES, self.scenario[SPARES]) or 0))
        shelves = -(-disks // self.shelf.disks)
        return self.controllers[controller] + disks * self.disks[disk] + shelves * self.shelf.price


def read_prices(
    written: Mapping[str, Any],
    scenario: Mapping[str, Any],
    space: Space,
    points: Sequence[tuple[str | None, Mapping[str, object]]],
) -> tuple[Prices | None, list[Issue]]:
    """Return the prices of a document that fits the schema, and the parts of the study without a price.

    Args:
        points: The explicit points, label and assignments of each.
    """
    issues: list[Issue] = []
    named: dict[str, object] = {SPARES: parameters.read(scenario, SPARES)}
    for path, kind in _KINDS.items():
        used = list(space.listed.get(path, ()))
        is_everywhere = path in space.listed and path not in space.when
        has_others = not is_everywhere and (bool(space.varied) or not points)
        if path in space.derived:
            message = "prices need the names of the catalogue in the study; list them in `axes` or `zip`"
            issues.append(Issue("study.no-price", f"derived.{path}", message))
        for _, assignments in points:
            used += [assignments[path]] if path in assignments else []
            has_others = has_others or path not in assignments
        if has_others:
            part = parameters.read(scenario, path)
            if isinstance(part, str):
                named[path] = part
                used.append(part)
            else:
                message = f"prices need the name of an entry of the catalogue: set {path}, or make it an axis"
                issues.append(Issue("study.no-price", f"scenario.{path}", message))
        for name in dict.fromkeys(used):
            if name not in written[kind]:
                message = f"no price for {name}{suggest(str(name), list(written[kind]))}"
                issues.append(Issue("study.no-price", f"prices.{kind}", message, name))
    if issues:
        return None, issues
    return read_table(Prices, written, scenario=named), []


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
    for kind in ("controllers", "disks"):
        parts = document.get(kind)
        if parts == {}:
            # A study names its parts; a search takes those that have a price.
            issues.append(Issue("study.too-few", kind, "has no part; a search needs one with a price", parts))
        for part in parts if isinstance(parts, dict) else ():
            issues += [replace(issue, place=f"{kind}.{part}") for issue in catalog.check_name(kind, part)]
    if issues:
        raise Source(name, text).error(issues)
    return document


def example_prices() -> str:
    """Return the dated example of a price table, as YAML."""
    return (resources.files("destage.sweeps.keys") / "example_prices.yaml").read_text(encoding="utf-8")
