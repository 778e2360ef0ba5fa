"""A load that grows with its number of users, to find the most of it that an array carries."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from destage.engine import catalog
from destage.spec import quantities
from destage.sweeps.sizing.request import SizingRequest
from destage.sweeps.sizing.stored_data import count_users, list_addresses
from destage.sweeps.study.users import has_users, list_streams

_FEWEST = 100
"""The users of a load of random requests alone: one per cent of it each."""
_RANDOM = "poisson"


def grow(request: SizingRequest) -> SizingRequest | None:
    """Return a request whose whole load grows with its users; None if that of a stream cannot."""
    resolved, _ = catalog.resolve_known({"workload": request.workload})
    workload = make_growing(resolved["workload"])
    return None if workload is None else replace(request, workload=workload)


def make_growing(workload: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the same load with streams that all grow with its users; None if one cannot.

    Requests at random times (Poisson) remain so when users share them. Others of one source, and the
    recorded ones of a trace, would not have their bursts any more.

    Args:
        workload: A workload without `use`.
    """
    streams = [copy.deepcopy(dict(stream)) for stream in list_streams(workload)]
    is_random = all(stream["arrival"]["kind"] == _RANDOM for stream in streams)
    has_own_data = any(address.get("per_user") for _, address in list_addresses(workload))
    before = count_users(workload)
    users = max(before, _FEWEST) if is_random and not has_own_data else before
    for stream in streams:
        arrival = stream["arrival"]
        is_per_user = has_users([stream])
        if not is_per_user and arrival["kind"] != _RANDOM:
            return None
        sources = before if is_per_user else 1
        if arrival["kind"] == _RANDOM and sources != users:
            rate = float(quantities.parse(arrival["rate"], "per_s")) * sources / users
            arrival |= {"rate": quantities.render(rate, "per_s"), "per_user": True}
    return {**workload, "users": users, "streams": streams}
