"""The catalogue of controllers, disks and workloads with their sources, which configurations `use` by name.

An entry is a part of a configuration with its source. Figures that the source does not give are marked:
*typical* if quoted from memory, *assumed* if unpublished.

Users have parts of their own: those of a configuration are in its `catalog`, and `add` adds some to all
configurations of this process.
"""

import copy
import importlib.resources
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, get_args

from destage.errors import ConfigError, Issue
from destage.spec.near_names import find_near_names, suggest
from destage.spec.schema_tree import join

Kind = Literal["controllers", "disks", "workloads"]
"""The kinds of entries."""

KINDS: tuple[Kind, ...] = get_args(Kind)

_FILES: Mapping[Kind, tuple[str, ...]] = MappingProxyType(
    {"controllers": ("controllers",), "disks": ("disks", "ssds"), "workloads": ("workloads",)}
)
"""The files with the entries of each kind, in order."""


OWN = "catalog"
"""The field of a configuration with parts of its own: tables by kind and name."""

Own = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Parts of users by kind and name; a table has the fields of an `Entry`."""

_added: dict[str, dict[str, Mapping[str, Any]]] = {}

_HEAD = re.compile(r"^(\[\[?(\w+))", re.MULTILINE)
"""The beginning of a table of an entry, with the name of the entry."""
_SIZE = re.compile(r" with (?:the )?(?:battery-backed )?(\d+ [MG]B).*")
"""The size of a cache in the title of an entry, with the rest of the title."""
_DETAIL = re.compile(r": | \(|,? with |, as | (?:battery|flash)-backed")
"""The end of the product name in a title; the details that follow rarely distinguish products."""


@dataclass(frozen=True)
class Reference:
    """What a workload is compared with.

    Attributes:
        figures: Figures that its sources state; `destage.engine.reference_figures` explains the fields.
        seconds: The length of the comparison [s]; None for that of its profile.
    """

    figures: tuple[Mapping[str, Any], ...] = ()
    seconds: float | None = None


@dataclass(frozen=True)
class Entry:
    """An entry of the catalogue.

    Attributes:
        config: The part of a configuration, with units.
        unverified: Dotted paths in `config` of figures quoted from memory: typical, not looked up.
        assumed: Dotted paths in `config` of figures that are assumed.
        sheet: Statements of a disk's data sheet that its configuration does not hold, by name.
        claim: What a workload is like, and what not.
        reference: What a workload is compared with.
        nvme: Whether a drive is connected by NVMe, or a controller takes such drives; None if not stated.
    """

    kind: Kind
    name: str
    title: str
    source: str
    config: Mapping[str, Any]
    unverified: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    note: str | None = None
    sheet: Mapping[str, float] = field(default_factory=dict)
    claim: str | None = None
    reference: Reference = field(default_factory=Reference)
    nvme: bool | None = None

    def mark(self, path: str) -> Literal["typical", "assumed"] | None:
        """Return the mark of the figure at a dotted path of `config`; None if the source states it."""
        for paths, word in ((self.unverified, "typical"), (self.assumed, "assumed")):
            if any(path == marked or path.startswith(f"{marked}.") for marked in paths):
                return "typical" if word == "typical" else "assumed"
        return None


def entries(kind: Kind) -> tuple[Entry, ...]:
    """Return the entries of one kind, in the catalogue's order, those that were added last."""
    added = _added.get(kind, {})
    return (
        *(_read_entry(kind, name) for name in _list_texts(kind)),
        *(make_entry(kind, name, fields) for name, fields in added.items()),
    )


def add(parts: Own) -> None:
    """Add parts of users to the catalogue of this process; one of the same name replaces an added one."""
    for kind, named in parts.items():
        _added.setdefault(kind, {}).update(named)
    _products.cache_clear()


def list_added() -> Own:
    """Return the parts that were added."""
    return {kind: dict(named) for kind, named in _added.items()}


def is_shipped(kind: Kind, name: str) -> bool:
    """Return whether an entry comes with Destage."""
    return name in _list_texts(kind)


def entry(kind: Kind, name: str, place: str = "use") -> Entry:
    """Return the entry with a name.

    Raises:
        ConfigError: There is none; its place is the one given.
    """
    catalog_entry = find(kind, name)
    if catalog_entry is None:
        raise ConfigError([_unknown(kind, name, place)])
    return catalog_entry


def check_name(kind: Kind, name: object) -> list[Issue]:
    """Return the mistake of a name that is not in the catalogue, as a list; empty if it is."""
    return [] if find(kind, name) is not None else [_unknown(kind, name, "use")]


def find(kind: Kind, name: object, own: object = None) -> Entry | None:
    """Return the entry with a name, if there is one.

    Args:
        own: The parts of the configuration itself, its `catalog`.
    """
    if not isinstance(name, str):
        return None
    # A stored configuration keeps its meaning when Destage has got a part of this name.
    fields = _own_of(own, kind).get(name)
    if fields is None and is_shipped(kind, name):
        return _read_entry(kind, name)
    fields = fields or _added.get(kind, {}).get(name)
    return None if fields is None else make_entry(kind, name, fields)


def may_connect(controller: str, disk: str) -> bool:
    """Return whether drives may be connected to a controller, as far as the entries of both say.

    A controller of the catalogue takes NVMe drives only if its entry says so, one of a user unless its entry
    denies it.
    """
    drive, taker = find("disks", disk), find("controllers", controller)
    if drive is None or taker is None or not drive.nvme:
        return True
    return not is_shipped("controllers", controller) if taker.nvme is None else taker.nvme


def find_product(name: str) -> str | None:
    """Return the product name of a controller or a disk, short enough for a table; None if there is none."""
    return _products().get(name)


@cache
def _products() -> Mapping[str, str]:
    """Return the product names by identifier: titles shortened as far as names stay distinct."""
    titles = {entry.name: entry.title for kind in ("controllers", "disks") for entry in entries(kind)}
    short = {name: _DETAIL.split(_SIZE.sub(r", \1", title), maxsplit=1)[0] for name, title in titles.items()}
    counts = Counter(short.values())
    return MappingProxyType(
        {name: short[name] if counts[short[name]] == 1 else title for name, title in titles.items()}
    )


def resolve(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Replace each `use` of a configuration by its catalogue entry; fields given beside it win.

    Tables are merged field by field; a tagged union of another `kind` and a list replace those of the entry,
    except that a list item with the `name` of an item of the entry is merged with it. A cache `capacity`
    given beside a controller's name drops the entry's `usable` size, which is that of the shipped cache.

    Args:
        scenario: A configuration, which may `use` catalogue names in `workload`, `controller` and each
            array's `disk`, and may have further parts in `catalog`.

    Raises:
        ConfigError: A name is not in the catalogue; one issue for each.
    """
    resolved, issues = resolve_known(scenario)
    if issues:
        raise ConfigError(issues)
    return resolved


def resolve_known(scenario: Mapping[str, Any]) -> tuple[dict[str, Any], list[Issue]]:
    """Resolve like `resolve`, but return the unknown names instead of raising.

    Returns:
        The configuration without any `use` and without `catalog`, and one issue for each unknown name.
    """
    resolved: dict[str, Any] = copy.deepcopy(dict(scenario))
    issues: list[Issue] = []
    own = resolved.pop(OWN, None)
    for holder, key, kind, path in _places(resolved):
        given = holder[key]
        if isinstance(given, str):
            issues.append(_name_alone(kind, given, path, own))
            # An empty table would have mistakes of its own.
            del holder[key]
            continue
        if not isinstance(given, dict) or "use" not in given:
            continue
        name = given.pop("use")
        catalog_entry = find(kind, name, own)
        if catalog_entry is None:
            issues.append(_unknown(kind, name, join(path, "use"), own))
        else:
            base = copy.deepcopy(dict(catalog_entry.config))
            if "capacity" in _cache_of(given):
                # The usable size is that of the shipped cache; another cache has the default share.
                _cache_of(base).pop("usable", None)
            holder[key] = merge(base, given)
    return resolved, issues


def merge(base: Any, given: Any) -> Any:
    """Return a part of an entry with the fields given beside its name, as `resolve` merges them."""
    if isinstance(base, dict) and isinstance(given, dict):
        if "kind" in base and given.get("kind", base["kind"]) != base["kind"]:
            return given
        return {
            **base,
            **{key: merge(base[key], item) if key in base else item for key, item in given.items()},
        }
    if isinstance(base, list) and isinstance(given, list):
        named = {item["name"]: item for item in base if _is_named(item)}
        return [merge(named.get(item["name"], {}), item) if _is_named(item) else item for item in given]
    return given


def _cache_of(part: dict[str, Any]) -> dict[str, Any]:
    cache = part.get("cache")
    return cache if isinstance(cache, dict) else {}


def _places(scenario: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, Kind, str]]:
    """Yield the parts that may have a `use`: its holder, key, kind and path."""
    single: Sequence[tuple[str, Kind]] = (("workload", "workloads"), ("controller", "controllers"))
    for key, kind in single:
        if key in scenario:
            yield scenario, key, kind, key
    array = scenario.get("array")
    if isinstance(array, dict) and "disk" in array:
        yield array, "disk", "disks", "array.disk"
    arrays = scenario.get("arrays")
    for index, array_table in enumerate(arrays if isinstance(arrays, list) else []):
        if isinstance(array_table, dict) and "disk" in array_table:
            yield array_table, "disk", "disks", f"arrays.{index}.disk"


def _is_named(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("name"), str)


def _own_of(own: object, kind: Kind) -> Mapping[str, Any]:
    """Return the parts of one kind of a `catalog`, which may have any form."""
    parts = own.get(kind) if isinstance(own, Mapping) else None
    return parts if isinstance(parts, Mapping) else {}


def _list_names(kind: Kind, own: object = None) -> list[str]:
    return [*_list_texts(kind), *_added.get(kind, {}), *_own_of(own, kind)]


def _name_alone(kind: Kind, name: str, path: str, own: object) -> Issue:
    """Return the mistake of a name where a table is expected: `disk: exos_x18`."""
    names = _list_names(kind, own)
    if name in names:
        message = f"write {{use: {name}}}"
    else:
        near = find_near_names(name, names)
        message = f"must be a table, such as {{use: {(near or names)[0]}}}"
        message += f"; `destage catalog list {kind}` lists all"
    return Issue("catalog.name-alone", path, message, name, {"kind": kind, "known": names})


def _unknown(kind: Kind, name: object, path: str, own: object = None) -> Issue:
    names = _list_names(kind, own)
    meant = suggest(name, names)
    message = f"not in the catalogue of {kind}{meant}; `destage catalog list {kind}` lists all"
    if kind != "workloads":
        message += ", and `destage catalog new` describes a part of your own, which --catalog adds"
    return Issue("catalog.unknown-entry", path, message, name, {"kind": kind, "known": names})


@cache
def _read_entry(kind: Kind, name: str) -> Entry:
    """Return an entry that exists; a configuration needs few, and parsing all takes longer than it does."""
    return make_entry(kind, name, tomllib.loads(_list_texts(kind)[name])[name])


def make_entry(kind: Kind, name: str, fields: Mapping[str, Any]) -> Entry:
    """Return the entry of a table of the catalogue, or of a part of a user."""
    return Entry(
        kind=kind,
        name=name,
        title=fields.get("title", name),
        source=fields.get("source", ""),
        config=fields["config"],
        unverified=tuple(fields.get("unverified", ())),
        assumed=tuple(fields.get("assumed", ())),
        note=fields.get("note"),
        sheet=MappingProxyType(fields.get("sheet", {})),
        claim=fields.get("claim"),
        reference=Reference(
            tuple(fields.get("reference", {}).get("figures", ())),
            fields.get("reference", {}).get("seconds"),
        ),
        nvme=fields.get("nvme"),
    )


@cache
def _list_texts(kind: Kind) -> Mapping[str, str]:
    """Return the TOML of each entry by its name: the tables that its name begins, in a row."""
    folder = importlib.resources.files("destage.engine").joinpath("catalog_data")
    texts: dict[str, str] = {}
    for file in _FILES[kind]:
        _, *parts = _HEAD.split(folder.joinpath(f"{file}.toml").read_text("utf-8"))
        for head, name, rest in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            texts[name] = f"{texts.get(name, '')}{head}{rest}"
    return texts
