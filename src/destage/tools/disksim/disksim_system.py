"""The system of a DiskSim parameter file (`.parv`): its first disk, and the bus that leads to it.

Blocks define components, `instantiate [ names ] as BLOCK` makes instances of them, and `topology` nests these
from the driver to the disks. DiskSim sends a sector in the longest of the times of disk, bus and controller.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from destage.tools.disksim.disksim_file import Block, Value, parse_items, refusal

_BUS_TIMES = ("Read block transfer time", "Write block transfer time")
_TOPOLOGY = "topology "


@dataclass(frozen=True)
class Bus:
    """Times of a sector on the way to a disk, without the disk's own.

    Attributes:
        read_ms: Of a read [ms].
        write_ms: Of a write [ms].
    """

    read_ms: float
    write_ms: float


def read_system(path: Path) -> tuple[Block, Bus]:
    """Read the first disk of a system and its bus.

    Raises:
        ConfigError: The file cannot be read, breaks the syntax or has no disk.
    """
    items = list(_with_sources(path))
    blocks = {item.name: item for item in items if isinstance(item, Block)}
    kinds = _instances(items)

    def block_of(component: str) -> Block:
        name = component.rsplit(maxsplit=1)[-1]
        kind = next((kind for names, kind in kinds if _names(names, name)), None)
        if kind is None or kind not in blocks:
            raise refusal(path, None, f"topology: no block for {component!r}")
        return blocks[kind]

    for root, below in itertools.pairwise(items):
        if isinstance(root, str) and root.startswith(_TOPOLOGY) and isinstance(below, tuple):
            way = _way_to_disk((root.removeprefix(_TOPOLOGY), below))
            if way:
                return block_of(way[-1]), _bus([block_of(component) for component in way[:-1]])
    raise refusal(path, None, "no disk in the topology")


def _with_sources(path: Path) -> Iterator[Value]:
    for item in parse_items(path):
        if isinstance(item, str) and item.startswith("source "):
            yield from _with_sources(path.parent / item.removeprefix("source ").strip())
        else:
            yield item


def _instances(items: Sequence[Value]) -> list[tuple[Sequence[Value], str]]:
    """Return lists of instances, each with the name of its block."""
    return [
        (names, kind.removeprefix("as ").strip())
        for word, names, kind in zip(items, items[1:], items[2:], strict=False)
        if word == "instantiate" and isinstance(names, tuple) and isinstance(kind, str)
    ]


def _names(names: Sequence[Value], name: str) -> bool:
    """Whether a list, such as `disk0 .. disk3`, has an instance."""
    prefix, number = _split(name)
    for entry in names:
        if not isinstance(entry, str):
            continue
        first, _, last = (part.strip() for part in entry.partition(".."))
        if name == first:
            return True
        (prefix_of_range, low), (_, high) = _split(first), _split(last)
        if last and prefix == prefix_of_range and low <= number <= high:
            return True
    return False


def _split(name: str) -> tuple[str, int]:
    prefix = name.rstrip("0123456789")
    return prefix, int(name[len(prefix) :] or -1)


def _way_to_disk(components: Sequence[Value]) -> list[str]:
    """Return the components down to the first disk; empty if there is none."""
    for component, below in zip(components, [*components[1:], ()], strict=False):
        if not isinstance(component, str):
            continue
        if component.startswith("disksim_disk "):
            return [component]
        if isinstance(below, tuple) and (way := _way_to_disk(below)):
            return [component, *way]
    return []


def _bus(way: Sequence[Block]) -> Bus:
    """Return the times of the last bus and the last controller on the way."""
    last: Mapping[str, Block] = {block.kind: block for block in way}
    controller = last["disksim_ctlr"].find("Bulk sector transfer time") if "disksim_ctlr" in last else None
    bus = last.get("disksim_bus")
    read, write = (max((bus.find(key) if bus else None) or 0.0, controller or 0.0) for key in _BUS_TIMES)
    return Bus(read, write)
