"""What an export says of a workload: parts that a tool cannot express, and parts that are only similar."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from destage.errors import ConfigError, Issue

SECOND_NS = 10**9
_IGNORED_VALUES: tuple[Any, ...] = (None, False, 0, 0.0)


@dataclass(frozen=True, slots=True)
class Target:
    """What the job runs against.

    Attributes:
        path: The file or device.
        size: Size of a workload that uses the whole array [bytes]; None if it is not given.
        seconds: Length of the test.
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
        tool: The tool's name.
        notes: What the job does differently, one line each.
        issues: What the tool cannot express.
    """

    tool: str
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

    def check_keys(self, place: str, table: Mapping[str, Any], known: set[str]) -> None:
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
        if any(abs(one - other) > 1e-6 for one, other in zip(exact, shares, strict=True)):  # noqa: PLR2004
            self.note(place, f"shares are rounded to {shares}, as {self.tool} takes whole per cent")
        return shares

    def finish(self, source: str) -> None:
        """Raise if the tool cannot express the workload."""
        if self.issues:
            raise ConfigError(self.issues, source)


def find_footprint(report: Report, place: str, address: Mapping[str, Any], target: Target) -> tuple[int, int]:
    """Return offset and size of the range of the addresses [bytes]."""
    placement = address.get("placement") or {}
    offset = int(placement.get("offset") or 0)
    if placement.get("kind", "contiguous") != "contiguous":
        report.note(f"{place}.placement", f"{placement['kind']}; the job uses one contiguous range")
    footprint = address.get("footprint")
    if footprint is None and target.size is None:
        message = "the workload uses the whole array; --size gives the size of the target"
        report.issues.append(Issue("export.missing-size", f"{place}.footprint", message))
        return offset, 0
    if footprint is None and int(target.size or 0) <= offset:
        message = f"the workload begins at byte {offset}, beyond --size"
        report.issues.append(Issue("export.missing-size", f"{place}.placement.offset", message, target.size))
        return offset, 0
    return offset, int(footprint) if footprint is not None else int(target.size or 0) - offset


def list_sizes(size: Mapping[str, Any]) -> dict[int, float]:
    """Return the weights of the request sizes [bytes]."""
    if size["kind"] == "constant":
        return {int(size["value"]): 100.0}
    if size["kind"] == "uniform":
        step = int(size.get("step") or size["min"])
        return dict.fromkeys(range(int(size["min"]), int(size["max"]) + 1, step), 1.0)
    weights: dict[int, float] = {}
    for option in size["options"]:
        weights[int(option["value"])] = weights.get(int(option["value"]), 0.0) + float(option["weight"])
    return weights


def count_users(stream: Mapping[str, Any], users: int) -> int:
    """Return how many users a stream has: those of the workload, or one that they share."""
    arrival = stream["arrival"]
    return users if arrival["kind"] == "closed" or arrival.get("per_user") else 1


def think_time_ns(report: Report, place: str, arrival: Mapping[str, Any]) -> int:
    """Return the think time, or its mean with a note if it is not constant."""
    think = arrival["think_time"]
    if think["kind"] == "constant":
        return int(think["value"])
    mean = think["mean"] if "mean" in think else (think["low"] + think["high"]) / 2
    if mean:
        report.note(f"{place}.think_time", f"{think['kind']}; the job pauses for its mean each time")
    return int(mean)
