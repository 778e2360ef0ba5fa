"""Prices of configurations: a price per controller, per disk and, where given, per shelf of disks.

    price = controller + disks x disk + ceil(disks / disks of a shelf) x shelf

The disks are those of the array and its hot spares. The price rises with the number of disks, which the
search for the cheapest configurations relies on.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from destage.errors import Issue
from destage.spec.typed_tables import key, read_table, table
from destage.spec.validation import suggest
from destage.sweeps.space import parameters
from destage.sweeps.space.parameter_space import Space

CONTROLLER, DISK, SPARES = "controller.use", "array.disk.use", "array.hot_spares"
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
    date: str = key("The date of the prices, such as 2026-11-23.", minLength=1)
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
