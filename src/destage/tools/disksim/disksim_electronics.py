"""The electronics of a disk in DiskSim's files: the bus that leads to it, its buffer and its overheads.

A parameter file (`.parv`) describes a system. Blocks define components, `instantiate [ names ] as BLOCK`
makes instances of them, and `topology` nests these from the driver to the disks. Its first disk is read, and
the bus of that disk: DiskSim sends a sector in the longest of the times of disk, bus and controller.

A `.diskspecs` file has the disk's buffer, interface and overheads:

```text
  read   | command | move, wait | media ...                                      |
         |         | disconnect |   share of the mark | reselect, prepare | bus | complete |
  write  | command | prepare, bus, disconnect beside move, wait, media | reselect | complete |
```

One command follows another, so an overhead at the end of one takes as long as one at the beginning of the
next: what DiskSim charges before, between and after the transfers of a request is the time of its command
here. Overheads beside the arm or the media cost nothing. Hits of a read-ahead follow its read, so their
overhead is that after a read; other commands have the mean of that after a read and that after a write.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from destage.errors import Issue
from destage.tools.disksim.disksim_file import Block, Value, parse_items, refusal
from destage.tools.values import SECTOR

_BUS_TIMES = ("Read block transfer time", "Write block transfer time")
_TOPOLOGY = "topology "


Bus = tuple[float, float]
"""Times of a sector of a read and of a write on the way to a disk, without the disk's own [ms]."""


def read_system(path: Path) -> tuple[Block, Bus]:
    """Read the first disk of a system and its bus.

    Raises:
        ConfigError: The file cannot be read, breaks the syntax or has no disk.
    """
    items = list(_with_sources(path))
    blocks = {item.name: item for item in items if isinstance(item, Block)}
    kinds = [
        (names, kind.removeprefix("as ").strip())
        for word, names, kind in zip(items, items[1:], items[2:], strict=False)
        if word == "instantiate" and isinstance(names, tuple) and isinstance(kind, str)
    ]

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
    last = {block.kind: block for block in way}
    controller, bus = last.get("disksim_ctlr"), last.get("disksim_bus")
    least = (controller.find("Bulk sector transfer time") if controller else None) or 0.0
    read, write = (max((bus.find(key) if bus else None) or 0.0, least) for key in _BUS_TIMES)
    return read, write


_TRACK_AHEAD = 4

READ_AHEAD = {0: "off", 1: "track_end", 2: "cylinder_end", 3: "segment", _TRACK_AHEAD: "track_end"}
"""Read-ahead by 'Buffer continuous read'."""

ON_ARRIVAL = {"track_end": "track", "segment": "segment_on_arrival"}
"""The same with 'Read any free blocks'."""

_BESIDE_THE_ARM = (
    "Read disconnect afterread",
    "Read disconnect afterwrite",
    "Write disconnect overhead",
    "Extradisc disconnect overhead",
    "Extradisc inter-disconnect delay",
    "Extradisc 2nd disconnect overhead",
)


@dataclass(frozen=True)
class Description:
    """A disk as DiskSim's files describe it.

    Attributes:
        facts: Fields of a disk in a configuration.
        unmodelled: Warnings of parameters that no field expresses.
    """

    facts: Mapping[str, Any]
    unmodelled: Sequence[Issue]


def as_ms(milliseconds: float) -> str:
    """Return a time as a configuration has it."""
    return f"{milliseconds:.6f}ms"


class Electronics:
    """All of a disk but layout and mechanics.

    Args:
        bus: The way to it; None if it is unknown.
        tracks: The sectors of its tracks.
        revolution_ms: Time of a revolution [ms].
    """

    def __init__(self, disk: Block, bus: Bus | None, tracks: Sequence[int], revolution_ms: float) -> None:
        self._disk = disk
        self._is_bus_known = bus is not None
        self._tracks = tracks
        self._media_ms = revolution_ms / max(tracks)
        scale = disk.find("Time scale for overheads")
        self._scale = 1.0 if scale is None else scale
        self._disconnects = not disk.find("Never disconnect")
        own = disk.find("Bulk sector transfer time") or 0.0
        self._read_sector_ms, self._write_sector_ms = (max(own, time) for time in bus or (own, own))
        self._unmodelled: list[Issue] = []

    def describe(self) -> Description:
        """Return the facts, and warnings of what they do not express."""
        sends_after = self._sends_after()
        is_sent_last = sends_after > 0 or self._read_sector_ms > self._media_ms
        before_sending = ["Data preparation overhead"]
        if self._disconnects:
            before_sending.append("First reselect overhead")
        command_ms = self._mean("Read miss") + self._time("Read completion overhead")
        if is_sent_last:
            command_ms += sum(map(self._time, before_sending))
        else:
            self._leave_out(before_sending, "the transfer from the media takes longer")
        facts: dict[str, Any] = {"command_time": as_ms(command_ms)}
        if self._read_sector_ms > 0:
            facts["bus_rate"] = f"{SECTOR / self._read_sector_ms * 1e3:.0f}B/s"
        elif self._is_bus_known:
            facts["bus_rate"] = None
        if sends_after > 0:
            facts["send_after"] = sends_after
        caches_writes = bool(
            self._disk.find("Enable caching in buffer") and self._disk.find("Fast write level")
        )
        if not caches_writes:
            facts |= self._write_to_media(command_ms)
        facts["buffer"] = self._buffer(caches_writes=caches_writes)
        self._note_rest(facts["buffer"]["read_ahead"] if facts["buffer"] else "off")
        return Description(facts, tuple(self._unmodelled))

    def _time(self, key: str) -> float:
        return (self._disk.find(key) or 0.0) * self._scale

    def _command(self, key: str) -> float:
        return (self._disk.need(key) + (self._disk.find("Per-request overhead time") or 0.0)) * self._scale

    def _mean(self, key: str) -> float:
        return sum(self._command(f"{key} over. after {before}") for before in ("read", "write")) / 2

    def _leave_out(self, keys: Sequence[str], reason: str) -> None:
        """Warn of times that are not 0."""
        for key in keys:
            if time := self._time(key):
                self._note(key, f"{time:g} ms is not in the model: {reason}", time)

    def _note(self, key: str, message: str, value: float) -> None:
        self._unmodelled.append(Issue("disk.not-modelled", key, message, value))

    def _sends_after(self) -> float:
        key = "High (read) water mark"
        mark = self._disk.find(key) or 0.0
        if mark > 0 and not self._disk.find("Set watermark by reqsize"):
            self._note(key, f"{mark:g} of a segment is not in the model, only shares of a request", mark)
            return 0.0
        return mark

    def _write_to_media(self, read_ms: float) -> dict[str, Any]:
        """Return the facts of writes that complete on the media."""
        is_split = bool(self._disk.find("Extra write disconnect"))
        if is_split:
            common = self._time("Per-request overhead time")
            write_ms = common + sum(map(self._time, ("Extradisc command overhead", "Extradisc seek delta")))
        else:
            write_ms = self._mean("Write miss")
        write_ms += self._time("Write completion overhead")
        if self._disconnects:
            write_ms += self._time(f"{'Other' if is_split else 'First'} reselect overhead")
        facts: dict[str, Any] = {"early_write_data": True}
        if write_ms >= read_ms:
            facts["write_overhead"] = as_ms(write_ms - read_ms)
        else:
            shorter = read_ms - write_ms
            message = (
                f"commands of writes take {shorter:g} ms less than those of reads, which is not in the model"
            )
            self._note("Write miss over. after write", message, shorter)
        return facts

    def _buffer(self, *, caches_writes: bool) -> dict[str, Any] | None:
        disk = self._disk
        if not disk.find("Enable caching in buffer"):
            return None
        hit_ms = self._command("Read hit over. after read")
        hit_ms += sum(map(self._time, ("Data preparation overhead", "Read completion overhead")))
        segment = int(disk.need("Segment size (in blks)"))
        buffer: dict[str, Any] = {
            "segments": int(disk.need("Number of buffer segments")),
            "segment": f"{segment * SECTOR}B",
            "read_ahead": self._read_ahead(segment),
            "hit_time": as_ms(hit_ms),
            "write_cache": caches_writes,
        }
        if caches_writes:
            write_ms = self._mean("Write hit")
            write_ms += sum(map(self._time, ("Data preparation overhead", "Write completion overhead")))
            buffer["write_time"] = as_ms(write_ms)
        return buffer

    def _read_ahead(self, segment: int) -> str:
        disk = self._disk
        key = "Buffer continuous read"
        given = disk.find(key)
        kind = 3 if given is None else int(given)
        if kind not in READ_AHEAD:
            disk.refuse(f"{key} {kind} is not supported; supported: 0 to 4", disk.line_of(key))
        if kind == _TRACK_AHEAD and segment < min(self._tracks):
            # When the head reaches the end of the track, such a segment has lost what follows a single read.
            return "stream"
        if disk.find("Read any free blocks"):
            return ON_ARRIVAL.get(READ_AHEAD[kind], READ_AHEAD[kind])
        return READ_AHEAD[kind]

    def _note_rest(self, read_ahead: str) -> None:
        disk = self._disk
        if self._disconnects:
            self._leave_out(_BESIDE_THE_ARM, "it runs beside the movement of the arm")
        self._leave_out(("Minimum seek delay",), "seeks have no minimum")
        if self._write_sector_ms not in (0.0, self._read_sector_ms):
            message = (
                f"{self._write_sector_ms:g} ms per sector is not in the model: writes have the rate of reads"
            )
            self._note("Write block transfer time", message, self._write_sector_ms)
        key = "Maximum read-ahead (blks)"
        most = disk.find(key) or 0.0
        follows_segment = read_ahead in {"segment", "segment_on_arrival", "stream"}
        if follows_segment and 0 < most < disk.need("Segment size (in blks)"):
            self._note(key, f"{most:g} sectors is not in the model: a read-ahead fills a segment", most)
