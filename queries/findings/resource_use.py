"""What bounds a point or a run: how busy each resource is, and waiting against service at the disks."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from destage.engine import result_columns
from destage.queries.text.presentation import format_rounded

COLUMNS = (*result_columns.columns_needed(), "disk_queue_mean", "disk_busy_mean_fraction")
"""The result columns that a description needs."""
RESOURCE_WORDS = {
    "disk": "the disks",
    "channel": "the channel to the disks",
    "link": "the host link",
    "firmware": "the controller's firmware",
    "xor": "the XOR engine",
    "cache": "the write cache",
    "host": "the host's processors",
}
_SERIAL = "disk"
"""The kind of disks that serve one I/O at a time."""
_LEAST_USE = 0.005


def find_means(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the mean over rows of each column of `COLUMNS`."""
    means: dict[str, float | None] = {}
    for column in COLUMNS:
        values = [row[column] for row in rows if row.get(column) is not None]
        means[column] = math.fsum(values) / len(values) if values else None
    return means


def list_uses(row: Mapping[str, float | None]) -> list[tuple[str, float]]:
    """Return the resources in use, the busiest first [fraction]."""
    uses = result_columns.list_uses(row)
    return sorted(((name, use) for name, use in uses.items() if use >= _LEAST_USE), key=lambda item: -item[1])


def describe_use(row: Mapping[str, float | None], config: Mapping[str, Any]) -> list[str]:
    """Return what bounds a point or a run, in sentences.

    Args:
        row: Its results, or their means.
        config: A canonical configuration, for the kind of the disks.
    """
    uses = list_uses(row)
    if not uses:
        return []
    limit = result_columns.limiting_resource(row)
    listed = ", ".join(_describe_one(name, use) for name, use in uses)
    if limit == "host" and uses[0][0] != "host":
        first = "No resource is busy for half of the time, so none limits this load."
    else:
        first = f"Limited by {RESOURCE_WORDS[limit or uses[0][0]]}."
    return [f"{first} In use: {listed}.", *_describe_waiting(row, config)]


def _describe_one(name: str, use: float) -> str:
    if name == "cache":
        # In a queue that grows, more writes begin to wait than are completed.
        return f"{_percent(min(use, 1))} of the writes waited for room in the write cache"
    return f"{RESOURCE_WORDS[name]} {_percent(use)}"


def _describe_waiting(row: Mapping[str, float | None], config: Mapping[str, Any]) -> list[str]:
    """Return the share of waiting in the time at a disk: by Little's law that of the I/Os at it."""
    queue, busy = row.get("disk_queue_mean"), row.get("disk_busy_mean_fraction")
    kinds = {array.get("disk", {}).get("kind") for array in config.get("arrays", [])}
    if not queue or busy is None:
        return []
    text = f"On average {format_rounded(queue)} I/Os are at a disk"
    if kinds == {_SERIAL} and queue >= busy:
        waiting, service = _percent(1 - busy / queue), _percent(busy / queue)
        text += f": {waiting} of their time there is waiting, {service} service"
    return [f"{text}."]


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")
