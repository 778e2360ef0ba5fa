"""What a measured line and a simulated point are paired by: how much load, and of which kind."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from destage.errors import QueryError
from destage.measured.line import MeasuredLine, list_meanings
from destage.queries.opening.session import Session
from destage.queries.pairs.measured_points import SimulatedPoint
from destage.queries.pairs.point_choice import find_path
from destage.queries.text.presentation import format_number, format_quantity
from destage.spec.near_names import suggest

_COUNTED = 0.01
"""The relative tolerance of numbers of outstanding I/Os and of sizes."""
_RATED = 0.05
"""The relative tolerance of the rate of an open load, which a measurement misses at random."""
_SHARED = 0.02
"""The tolerance of shares."""
_DEVIATIONS = 4.0
"""Standard deviations of a share in few requests that are tolerated as well."""
_EXACT = 1e-9
IsEqual = Callable[[Any, Any, int | None], bool]
"""Returns whether two values are the same load, given the number of requests."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a line and a point are compared by.

    Attributes:
        title: It in words.
        of_line: Returns it of a line.
        of_point: Returns it of a point.
        is_load: Whether it says how much load there is, rather than of which kind.
    """

    title: str
    of_line: Callable[[MeasuredLine], Any]
    of_point: Callable[[SimulatedPoint], Any]
    is_equal: IsEqual
    unit: str | None = None
    is_load: bool = False

    def fits(self, line: MeasuredLine, point: SimulatedPoint) -> bool | None:
        """Return whether a line and a point have the same value; None if one of them is unknown."""
        value, other = self.of_line(line), self.of_point(point)
        return None if value is None or other is None else self.is_equal(value, other, line.requests)

    def name(self, value: object) -> str:
        """Return a value in words."""
        return f"{self.title} {format_quantity(value, self.unit)}"


def _is_close(tolerance: float) -> IsEqual:
    return lambda one, other, _: math.isclose(one, other, rel_tol=tolerance)


def _is_share(one: float, other: float, requests: int | None) -> bool:
    by_chance = _DEVIATIONS * math.sqrt(other * (1 - other) / requests) if requests else 0.0
    return abs(one - other) <= max(_SHARED, by_chance)


def _describe(title: str, measured: str, simulated: str, is_equal: IsEqual, **facts: Any) -> Descriptor:
    return Descriptor(title, attrgetter(measured), attrgetter(f"load.{simulated}"), is_equal, **facts)


RATE = "requests per second"
DESCRIPTORS = (
    _describe("outstanding I/Os", "outstanding", "outstanding", _is_close(_COUNTED), is_load=True),
    _describe(RATE, "throughput_iops", "rate", _is_close(_RATED), is_load=True),
    _describe("request size", "request_bytes", "request_bytes", _is_close(_COUNTED), unit="bytes"),
    _describe("read fraction", "read_fraction", "read_fraction", _is_share),
    _describe("random fraction", "random_fraction", "random_fraction", _is_share),
)


MIX = tuple(descriptor for descriptor in DESCRIPTORS if not descriptor.is_load)
"""Those of them that say which kind of load there is."""


def read_pairing(session: Session, text: str) -> Descriptor:
    """Return the descriptor that `COLUMN=PARAMETER` states."""
    column, separator, parameter = (part.strip() for part in text.partition("="))
    if not separator or not column or not parameter:
        message = f"{text!r}: must have the form COLUMN=PARAMETER, as in threads=users"
        raise QueryError("query.bad-condition", message, "--on")
    if column not in list_meanings():
        message = f"no measured column is named {column!r}{suggest(column, list(list_meanings()))}"
        raise QueryError("query.unknown-column", message, "--on")
    return Descriptor(
        title=column,
        of_line=attrgetter(column),
        of_point=_find_parameter(session, parameter),
        is_equal=_is_same,
        is_load=True,
    )


def _find_parameter(session: Session, name: str) -> Callable[[SimulatedPoint], Any]:
    """Return the function that reads a parameter of a point: of its load, of the workload, or an axis."""
    if name in _LOADS:
        return attrgetter(f"load.{name}")
    path = name.split(".")
    if path[0] == "workload" and name not in session.names:
        return lambda point: _descend(point.workload, path[1:])
    axis_path = find_path(session, name, "--on")
    return lambda point: point.values.get(axis_path)


_LOADS = ("outstanding", "rate", "users", "request_bytes", "read_fraction", "random_fraction")


def _descend(value: Any, path: Sequence[str]) -> Any:
    for segment in path:
        if isinstance(value, Mapping):
            value = value.get(segment)
        elif isinstance(value, list) and segment.isdigit() and int(segment) < len(value):
            value = value[int(segment)]
        else:
            return None
    return value


def _is_same(one: Any, other: Any, _: int | None) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_EXACT)
    return str(one) == str(other)


def name_mix(request_bytes: float | None, read_fraction: float | None, random_fraction: float | None) -> str:
    """Return a mix in words, as in `70 % reads, random, 8 KiB`."""
    parts = []
    if read_fraction is not None:
        parts.append(
            _NAMED_READS.get(read_fraction) or f"{format_number(round(100 * read_fraction, 1))} % reads"
        )
    if random_fraction is not None:
        parts.append(
            _NAMED_RANDOM.get(random_fraction) or f"{format_number(round(100 * random_fraction))} % random"
        )
    if request_bytes is not None:
        parts.append(format_quantity(round(request_bytes), "bytes"))
    return ", ".join(parts)


_NAMED_READS = {0.0: "writes", 1.0: "reads"}
_NAMED_RANDOM = {0.0: "sequential", 1.0: "random"}
