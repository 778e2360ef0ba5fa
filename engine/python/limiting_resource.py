"""The resource that limits a run: one definition for a seek's answers and for queries.

It is the most used of the host's processors and the parts of the array; if none is used half of the time, it
is the host, whose think times limit the load.
"""

from collections.abc import Mapping
from types import MappingProxyType

RESOURCES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "disk": ("disk_busy_max_fraction",),
        "channel": ("channel_busy_max_fraction",),
        "link": ("link_busy_fraction",),
        "firmware": ("firmware_busy_fraction",),
        "xor": ("xor_busy_fraction",),
        "cache": ("write_stalls", "writes"),
        "host": ("host_busy_fraction",),
    }
)
"""The result column that gives each resource's use as a fraction, or the two whose quotient does.

The cache's use is the fraction of writes that stalled. Of two resources used equally, the first one limits.
"""
IDLE = 0.5
"""Where every use is below this fraction, the host limits: it does not ask for more."""


def columns_needed() -> list[str]:
    """Return the result columns that `limiting_resource` reads."""
    return [column for columns in RESOURCES.values() for column in columns]


def limiting_resource(row: Mapping[str, float | None], idle: float = IDLE) -> str | None:
    """Return the limiting resource of a result row; None where the row gives no use of any resource."""
    uses = list_uses(row)
    if not uses:
        return None
    most = max(uses, key=lambda resource: uses[resource])
    return most if uses[most] >= idle else "host"


def list_uses(row: Mapping[str, float | None]) -> dict[str, float]:
    """Return the use of each resource of a result row [fraction], where the row gives it."""
    uses = {resource: _use(row, *columns) for resource, columns in RESOURCES.items()}
    return {resource: use for resource, use in uses.items() if use is not None}


def limiting_sql(row: str, idle: str) -> str:
    """Return `limiting_resource` as an SQL expression over a row and a threshold, both given by name."""
    uses = {
        resource: " / ".join(
            [f"{row}.{columns[0]}", *(f"nullif({row}.{column}, 0)" for column in columns[1:])]
        )
        for resource, columns in RESOURCES.items()
    }
    listed = ", ".join(uses.values())
    cases = " ".join(f"WHEN {use} THEN '{resource}'" for resource, use in uses.items())
    most = f"CASE greatest({listed}, {idle}) {cases} ELSE 'host' END"
    return f"CASE WHEN coalesce({listed}) IS NOT NULL THEN {most} END"


def _use(row: Mapping[str, float | None], column: str, of: str | None = None) -> float | None:
    use, whole = row.get(column), 1 if of is None else row.get(of)
    return use / whole if use is not None and whole else None
