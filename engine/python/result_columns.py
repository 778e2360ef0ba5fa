"""The columns of a result row, as the engine defines them: name, type, unit, meaning.

Some of them give the resource that limits a run, with one definition for a seek's answers and for queries: it
is the most used of the host's processors and the parts of the array; if none is used half of the time, it is
the host, whose think times limit the load.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from destage.engine import _engine

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Column:
    """One column of a result row.

    Attributes:
        type: int, float or text, or one of them with `_list`.
        unit: Its unit; empty for a number or text without one.
    """

    name: str
    type: str
    unit: str
    meaning: str


@cache
def columns() -> tuple[Column, ...]:
    """The columns of a result row, in order."""
    return tuple(Column(*fields) for fields in _engine.columns())


def is_share(name: str) -> bool:
    """Return whether a column is a fraction by its name, so that its values are from 0 to 1."""
    return name.endswith(("_ratio", "_fraction"))


@cache
def results_schema() -> "pa.Schema":
    """The Arrow schema of result rows; each field's metadata holds its unit and meaning."""
    import pyarrow as pa  # noqa: PLC0415 - one simulation needs only the names of columns

    scalars = {"int": pa.int64(), "float": pa.float64(), "text": pa.string()}
    types = scalars | {f"{name}_list": pa.list_(scalar) for name, scalar in scalars.items()}
    return pa.schema(
        [
            pa.field(
                column.name, types[column.type], metadata={"unit": column.unit, "meaning": column.meaning}
            )
            for column in columns()
        ]
    )


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
