"""Whether the number of users of a workload changes its load."""

from collections.abc import Iterable, Mapping
from typing import Any

from destage.engine import catalog

USERS = "workload.users"
"""The dotted path of the number of users."""


def list_streams(workload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the streams of a workload as written, with those of the catalogue's workload that it uses."""
    resolved, _ = catalog.resolve_known({"workload": workload})
    return list(resolved["workload"].get("streams", ()))


def has_trace(streams: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether one of the streams of a workload replays a trace."""
    return any(stream["arrival"].get("kind") == "trace" for stream in streams)


def has_users(streams: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether one of the streams of a workload has a source for each user."""
    arrivals = [stream["arrival"] for stream in streams]
    return any(
        arrival.get("kind") == "closed" or arrival.get("per_user") or arrival.get("copies") is not None
        for arrival in arrivals
    )
