"""What an export says of a workload: parts that a tool cannot express, and parts that are only similar."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from destage.errors import ConfigError, Issue
from destage.tools.values import ALL

Part = Mapping[str, Any]
Sizes = dict[int, float]
"""Weights of request sizes [bytes]."""
SECOND_NS = 10**9
_IGNORED_VALUES: tuple[Any, ...] = (None, False, 0, 0.0)


@dataclass(frozen=True, slots=True)
class Target:
    """What the job runs against.

    Attributes:
        path: The file or device.
        size: Size of a workload that uses the whole array [bytes]; None if it is not given.
    """

    path: str
    size: int | None
    seconds: int

    @property
    def is_device(self) -> bool:
        """Whether it is a disk instead of a file."""
        return self.path.startswith(("/dev/", "\\\\.\\", "#"))


@dataclass
class Report:
    """Collects what an export says.

    Attributes:
        notes: What the job does differently, one line each.
        issues: What the tool cannot express.
    """

    tool: str
    target: Target
    users: int = 1
    notes: list[str] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)

    def reject(self, place: str, message: str, value: object = None) -> None:
        """Add a part that the tool cannot express."""
        text = f"{self.tool} cannot express it: {message}"
        self.issues.append(Issue("export.unsupported", place, text, value))

    def note(self, place: str, message: str) -> None:
        """Add a part that the job expresses differently."""
        text = f"{place}: {message}"
        if text not in self.notes:
            self.notes.append(text)

    def check_keys(self, place: str, table: Part, known: set[str]) -> None:
        """Reject the keys of a table that the export does not read, unless they have no effect."""
        for key, value in table.items():
            if key not in known and value not in _IGNORED_VALUES:
                self.reject(f"{place}.{key}", "it has no option for this", value)

    def round_share(self, place: str, share: float) -> int:
        """Return a share as whole per cent, with a note if it is rounded."""
        percent = round(share * 100)
        if abs(share * 100 - percent) > 1e-6:  # noqa: PLR2004 - rounding error
            self.note(
                place, f"{share * 100:g} % is rounded to {percent} %, as {self.tool} takes whole per cent"
            )
        return percent

    def round_shares(self, place: str, weights: list[float]) -> list[int]:
        """Return weights as whole per cent that add up to 100, with a note if they are rounded."""
        total = sum(weights)
        exact = [100 * weight / total for weight in weights]
        shares = [int(share + 1e-9) for share in exact]
        order = sorted(range(len(exact)), key=lambda index: shares[index] - exact[index])
        for index in order[: 100 - sum(shares)]:
            shares[index] += 1
        if any(abs(unrounded - rounded) > 1e-6 for unrounded, rounded in zip(exact, shares, strict=True)):  # noqa: PLR2004
            self.note(place, f"shares are rounded to {shares}, as {self.tool} takes whole per cent")
        return shares

    def finish(self, source: str) -> None:
        """Raise if the tool cannot express the workload."""
        if self.issues:
            raise ConfigError(self.issues, source)

    def find_footprint(self, place: str, address: Part) -> tuple[int, int]:
        """Return offset and size of the range of the addresses [bytes]."""
        placement, size = address.get("placement") or {}, self.target.size
        offset = int(placement.get("offset") or 0)
        if placement.get("kind", "contiguous") != "contiguous":
            self.note(f"{place}.placement", f"{placement['kind']}; the job uses one contiguous range")
        if address.get("footprint") is not None:
            return offset, int(address["footprint"])
        if size is not None and size > offset:
            return offset, size - offset
        name, message = "footprint", "the workload uses the whole array; --size gives the size of the target"
        if size is not None:
            name, message = "placement.offset", f"the workload begins at byte {offset}, beyond --size"
        self.issues.append(Issue("export.missing-size", f"{place}.{name}", message, size))
        return offset, 0

    def count_users(self, stream: Part) -> int:
        """Return how many users a stream has: those of the workload, or one that they share."""
        arrival = stream["arrival"]
        return self.users if arrival["kind"] == "closed" or arrival.get("per_user") else 1

    def find_think_time(self, place: str, arrival: Part) -> int:
        """Return the think time [ns], or its mean with a note if it is not constant."""
        think = arrival["think_time"]
        if think["kind"] == "constant":
            return int(think["value"])
        mean = think["mean"] if "mean" in think else (think["low"] + think["high"]) / 2
        if mean:
            self.note(f"{place}.think_time", f"{think['kind']}; the job pauses for its mean each time")
        return int(mean)

    def find_depth(self, arrival: Part, ios: int) -> int:
        """Return how many requests of a burst a closed user has outstanding."""
        return (arrival.get("depth") or ios) if arrival.get("order") == "parallel" else 1

    def find_sizes(self, place: str, operations: Part, known: str) -> tuple[int, tuple[Sizes, Sizes], Sizes]:
        """Return the share of reads [%], the sizes of reads and of writes, and all that are used.

        Args:
            known: The keys that the export reads beside these, separated by blanks.
        """
        self.check_keys(place, operations, {"read_fraction", "size", "write_size", *known.split()})
        reads = self.round_share(f"{place}.read_fraction", operations["read_fraction"])
        read, write = (
            list_sizes(operations.get(key) or operations["size"]) for key in ("size", "write_size")
        )
        return reads, (read, write), {**(read if reads else {}), **(write if reads < ALL else {})}

    def is_forced(self, place: str, operations: Part, reads: int) -> bool:
        """Return whether writes wait for stable storage, all of them."""
        forced = operations.get("fua_fraction") or 0
        if 0 < forced < 1 and reads < ALL:
            self.reject(f"{place}.fua_fraction", "all writes are forced or none", forced)
        return bool(forced) and reads < ALL

    def has_address(self, place: str, address: Part, kinds: Mapping[str, str]) -> bool:
        """Return whether the tool has such addresses, and reject the keys that it does not have.

        Args:
            kinds: The keys of each kind that the export reads, separated by blanks.
        """
        kind = address["kind"]
        if kind not in kinds:
            self.reject(f"{place}.kind", "it has no such addresses", kind)
            return False
        self.check_keys(place, address, {"kind", "footprint", "placement", *kinds[kind].split()})
        return True


def is_open(stream: Part) -> bool:
    """Return whether requests arrive at a rate."""
    return stream["arrival"]["kind"] in {"poisson", "constant"}


def list_sizes(size: Part) -> Sizes:
    """Return the weights of the request sizes [bytes]."""
    if size["kind"] == "constant":
        return {int(size["value"]): 100.0}
    if size["kind"] == "uniform":
        step = int(size.get("step") or size["min"])
        return dict.fromkeys(range(int(size["min"]), int(size["max"]) + 1, step), 1.0)
    weights: Sizes = {}
    for option in size["options"]:
        weights[int(option["value"])] = weights.get(int(option["value"]), 0.0) + float(option["weight"])
    return weights


def render_size(size: float) -> str:
    """Return a size in bytes, or with k if it is of whole KiB."""
    whole = int(size)
    return f"{whole // 1024}k" if whole % 1024 == 0 and whole else str(whole)


def list_zones(address: Part) -> list[tuple[float, float]]:
    """Return the shares of requests and of space of the zones of an address."""
    if address["kind"] == "hot_cold":
        hot, accesses = address["hot_fraction"], address["access_fraction"]
        return [(accesses, hot), (1 - accesses, 1 - hot)]
    return [(zone["accesses"], zone["size"]) for zone in address["zones"]]
