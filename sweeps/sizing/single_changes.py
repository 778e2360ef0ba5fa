"""The single changes of an array that may make it carry more: another cache, controller, level or disk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from destage import engine
from destage.engine import catalog
from destage.errors import ConfigError
from destage.spec.axis_names import SPARES
from destage.sweeps.keys.prices import DISK
from destage.sweeps.sizing.request import DISKS, RAID
from destage.sweeps.space import parameters

Kind = Literal["disks", "cache", "controller", "raid", "disk"]
"""What a change replaces or adds; in the order of how little it changes."""
ORDER: tuple[Kind, ...] = ("disks", "cache", "controller", "raid", "disk")


@dataclass(frozen=True, slots=True)
class Change:
    """A change of an array.

    Attributes:
        value: The new part or level; the same disk for further ones.
        assignments: What it assigns, by dotted path; nothing for further disks.
    """

    kind: Kind
    value: str
    assignments: Mapping[str, Any]

    @property
    def label(self) -> str:
        """The name of the change in the store."""
        return f"{self.kind} {self.value}"


@dataclass(frozen=True, slots=True)
class Considered:
    """The parts and levels that may replace those of an array, by their names."""

    controllers: Sequence[str]
    disks: Sequence[str]
    raid: Sequence[str]


def list_changes(scenario: Mapping[str, Any], considered: Considered) -> list[Change]:
    """Return the changes of a configuration with the same number of disks.

    A larger cache is that of a controller of the catalogue that differs from the present one in nothing but
    cache and battery.
    """
    present = scenario.get("controller", {})
    caches = _list_larger_caches(scenario)
    disk, level = parameters.read(scenario, DISK), str(parameters.read(scenario, RAID))
    controller = str(present.get("use"))
    others = [
        name
        for name in considered.controllers
        if name not in {*caches, controller} and catalog.may_connect(name, str(disk))
    ]
    return [
        *(Change("cache", name, _replace(scenario, "controller", name)) for name in caches),
        *(Change("controller", name, _replace(scenario, "controller", name)) for name in others),
        *(Change("raid", name, {RAID: name}) for name in considered.raid if name != level),
        *(
            Change("disk", name, _replace(scenario, "array.disk", name))
            for name in considered.disks
            if name != disk and catalog.may_connect(controller, name)
        ),
    ]


def find_price(
    change: Change, disks: int, scenario: Mapping[str, Any], prices: Mapping[str, Any]
) -> float | None:
    """Return what has to be bought for a change [currency]; None if a part has no price.

    Args:
        disks: The number of disks after the change.
        prices: The price table.
    """
    before = int(str(parameters.read(scenario, DISKS)))
    spares = int(str(parameters.read(scenario, SPARES) or 0))
    if change.kind == "raid":
        return 0.0
    if change.kind in {"cache", "controller"}:
        price: float | None = prices["controllers"].get(change.value)
        return price
    each: float | None = prices["disks"].get(change.value)
    if each is None:
        return None
    if change.kind == "disk":
        return each * (disks + spares)
    shelf = prices.get("shelf", {"disks": 1, "price": 0})
    shelves: list[int] = [-(-(count + spares) // shelf["disks"]) for count in (before, disks)]
    return each * (disks - before) + float(shelf["price"]) * (shelves[1] - shelves[0])


def _replace(scenario: Mapping[str, Any], path: str, name: str) -> dict[str, Any]:
    """Return the assignment of another part in place of the present one.

    Fields beside the name of the present part remain, such as its policies, unless the new part states them.
    """
    written = parameters.read(scenario, path)
    written = written if isinstance(written, Mapping) else {}
    if not written.keys() - {"use"}:
        return {f"{path}.use": name}
    kind: catalog.Kind = "controllers" if path == "controller" else "disks"
    return {path: {**_drop_stated(written, catalog.entry(kind, name).config), "use": name}}


def _drop_stated(written: Mapping[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    kept = {}
    for key, value in written.items():
        if key not in stated:
            kept[key] = value
        elif isinstance(value, Mapping) and isinstance(stated[key], Mapping):
            is_other = value.get("kind", stated[key].get("kind")) != stated[key].get("kind")
            if not is_other and (rest := _drop_stated(value, stated[key])):
                kept[key] = rest
    return kept


def _list_larger_caches(scenario: Mapping[str, Any]) -> list[str]:
    """Return the controllers that are the present one with a larger cache, the smallest first."""
    own = scenario.get(catalog.OWN)
    present = _describe(scenario.get("controller"), own)
    found = []
    for entry in catalog.entries("controllers"):
        other = _describe({"use": entry.name}, own)
        if present is None or other is None or other[1] != present[1]:
            continue
        if other[0] > present[0]:
            found.append((other[0], entry.name))
    return [name for _, name in sorted(found)]


def _describe(controller: object, own: object) -> tuple[tuple[int, float], dict[str, Any]] | None:
    """Return the capacity and write fraction of a controller's cache, and all its other hardware."""
    fields = {"controller": controller} | ({catalog.OWN: own} if own else {})
    scenario = {**_ANY_ARRAY, **fields} if controller else _ANY_ARRAY
    try:
        described = engine.normalise(scenario)["controller"]
    except ConfigError:
        return None
    cache = described.pop("cache")
    described.pop("battery")
    return (int(cache["capacity"]), float(cache["write_fraction"])), described


_ANY_ARRAY: Mapping[str, Any] = {
    "workload": {
        "streams": [
            {
                "name": "any",
                "arrival": {"kind": "poisson", "rate": "1/s"},
                "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": "4KiB"}},
                "address": {"kind": "uniform"},
            }
        ]
    },
    "array": {"raid": "0", "disks": 1, "disk": {"use": "exos_x18"}},
}
"""A configuration whose controller is described."""
