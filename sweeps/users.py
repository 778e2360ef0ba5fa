"""Whether the number of users of a workload changes its load."""

from collections.abc import Iterable, Mapping
from typing import Any

USERS = "workload.users"
"""The dotted path of the number of users."""


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
