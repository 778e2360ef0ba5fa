"""The data that a load addresses: their size, and the same load over data of another size.

All footprints and offsets are scaled alike, so that hot and cold parts keep their shares of the data.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from destage.engine import catalog
from destage.spec import quantities
from destage.sweeps.study.users import has_trace, list_streams

HELD = 0.9999
"""The share of a capacity that an array must hold: those of disks and of whole stripes are rounded."""
_STEPS = ((10**12, 10**9), (10**10, 8 * 10**6), (0, 512))
"""From this size on, sizes are multiples of this, which are whole sectors [bytes]."""
_RESERVED: Mapping[str, Any] = {
    "name": "capacity",
    "arrival": {"kind": "poisson", "rate": "1/s"},
    "lasts": "1ns",
    "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": "4KiB"}},
}
"""A stream that ends before its first request: it only needs room on the array."""


def measure_data(workload: Mapping[str, Any]) -> int | None:
    """Return the size of the data that a workload addresses [bytes]; None for the whole array or a trace."""
    streams = list_streams(workload)
    ends = [_find_end(address, count_users(workload)) for _, address in list_addresses(workload)]
    if has_trace(streams) or None in ends:
        return None
    return max((end for end in ends if end is not None), default=None)


def scale_data(workload: Mapping[str, Any], capacity: int) -> dict[str, Any]:
    """Return what a workload over data of another size assigns, by dotted path in a scenario.

    Addresses over the whole array become those over all the data. The addresses of a trace remain.
    """
    held, users = int(capacity * HELD), count_users(workload)
    streams = list_streams(workload)
    if has_trace(streams):
        reserved = {**_RESERVED, "address": {"kind": "uniform", "footprint": write_size(held)}}
        return {"workload.streams": [*streams, reserved]}
    addresses = list(list_addresses(workload))
    ends = [end for _, address in addresses if (end := _find_end(address, users)) is not None]
    factor = held / max(ends, default=held)
    assigned = {}
    for path, address in addresses:
        offset = int(read_offset(address) * factor)
        if offset:
            assigned[f"{path}.placement.offset"] = write_size(offset)
        if address.get("footprint") is None:
            size = held - offset
        else:
            size = int(quantities.parse(address["footprint"], "bytes") * factor)
        assigned[f"{path}.footprint"] = write_size(size)
    return assigned


def count_users(workload: Mapping[str, Any]) -> int:
    """Return the number of users of a workload."""
    resolved, _ = catalog.resolve_known({"workload": workload})
    return int(resolved["workload"].get("users", 1))


def _find_end(address: Mapping[str, Any], users: int) -> int | None:
    """Return where the footprint of an address process ends [bytes]; None if it is the whole array."""
    if address.get("footprint") is None:
        return None
    size = int(quantities.parse(address["footprint"], "bytes"))
    return read_offset(address) + size * (users if address.get("per_user") else 1)


def read_offset(address: Mapping[str, Any]) -> int:
    """Return where the footprint of an address process begins [bytes]."""
    return int(quantities.parse((address.get("placement") or {}).get("offset", 0), "bytes"))


def list_addresses(workload: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the address processes of a workload, each with its dotted path in a scenario."""
    for index, stream in enumerate(list_streams(workload)):
        parts = {"": stream}
        for key in ("mix", "steps"):
            parts |= {f".{key}.{position}": part for position, part in enumerate(stream.get(key) or ())}
        for place, part in parts.items():
            if part.get("address") is not None:
                yield f"workload.streams.{index}{place}.address", part["address"]


def write_size(size: int) -> str:
    """Return a size in whole sectors, rounded down."""
    step = next(step for least, step in _STEPS if size >= least)
    return quantities.render(max(size // step, 1) * step, "bytes")
