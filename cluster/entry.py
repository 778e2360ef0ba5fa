"""What stands beside a setting: its prose and the values that it may take."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

QUANTITY: Mapping[str, Any] = {
    "type": ["string", "integer"],
    "pattern": r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$",
    "examples": ["500m", "4Gi"],
}
"""A quantity as Kubernetes writes it: `500m`, `2`, `4Gi`."""
NAME: Mapping[str, Any] = {"pattern": r"^$|^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", "examples": ["my-name"]}
"""The name of an object that is there already, or nothing."""
LABEL = "^[a-z]([-a-z0-9]*[a-z0-9])?$"
"""What names a service, as KubeRay makes one of a cluster's name: a DNS label of RFC 1035."""


def entry(default: Any, prose: str, **schema: Any) -> Any:
    """Return a dataclass field that describes itself.

    Args:
        default: What holds where nothing is given; `...` where something must be given.
        prose: What it is for, in one line.
        schema: What JSON Schema says of it beyond its type: `minimum`, `pattern`, `enum`.
    """
    metadata = {"prose": prose, "schema": schema}
    if default is ...:
        return field(metadata=metadata)
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)
