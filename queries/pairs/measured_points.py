"""The points of a sweep as `destage compare --measured` pairs them with measured lines.

A point has its load, its name and its results. Loads are in the terms in which load tests state theirs:
outstanding I/Os, sizes, shares.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from destage.queries.opening.session import Session
from destage.queries.pairs.point_choice import Choice, describe_point, list_values
from destage.queries.text.presentation import format_number, title_axis
from destage.sql import quote
from destage.store.schemas.figure_places import LABEL

_OPEN = {"poisson", "constant", "mmpp", "b_model"}


@dataclass(frozen=True, slots=True)
class PointLoad:
    """The load of a configuration; None where its streams differ, or where it depends on the array.

    Attributes:
        outstanding: I/Os outstanding at any time, of all users and streams.
        rate: Mean arrivals of an open load [1/s].
        users: The number of users.
        request_bytes: Mean size of a request.
        read_fraction: Share of reads among reads and writes.
        random_fraction: Share of requests at random addresses.
    """

    outstanding: float | None
    rate: float | None
    users: int
    request_bytes: float | None
    read_fraction: float | None
    random_fraction: float | None
    names: tuple[str, ...]


def describe_load(workload: Mapping[str, Any]) -> PointLoad:
    """Return the load of a canonical `workload`."""
    users, streams = workload["users"], workload["streams"]
    parts = [part for stream in streams for part in _list_parts(stream)]
    operations = [operation for operation, _ in parts]
    sizes = _find_common(map(_find_size, operations))
    return PointLoad(
        outstanding=_add(_count_outstanding(stream["arrival"], users) for stream in streams),
        rate=_add(_find_rate(stream["arrival"], users) for stream in streams),
        users=users,
        request_bytes=sizes,
        read_fraction=_find_common(
            None if operation is None else operation["read_fraction"] for operation in operations
        ),
        random_fraction=_find_common(_find_random_fraction(address, sizes) for _, address in parts),
        names=tuple(stream["name"] for stream in streams),
    )


def _list_parts(stream: Mapping[str, Any]) -> Sequence[tuple[Any, Any]]:
    """Return operations and addresses of a stream's requests; None for those of a trace."""
    listed = stream.get("mix") or [step for step in stream.get("steps") or () if step["kind"] != "flush"]
    if listed:
        return [(part["operations"], part["address"]) for part in listed]
    return [(stream.get("operations"), stream.get("address"))]


def _count_outstanding(arrival: Mapping[str, Any], users: int) -> float | None:
    """Return the outstanding I/Os that a stream keeps; None if it has pauses or is open."""
    match arrival["kind"]:
        case "fixed_outstanding":
            return float(arrival["depth"] * (users if arrival.get("per_user") else 1))
        case "closed" if _is_zero(arrival["think_time"]):
            together = arrival.get("order") == "parallel"
            # An interaction without a limit waits for its slowest request.
            per_user = (arrival.get("depth") or arrival.get("ios", 1)) if together else 1
            return float(per_user * users)
        case "trace" if arrival["mode"] == "asap":
            return float(arrival["depth"])
    return None


def _is_zero(time: Mapping[str, Any]) -> bool:
    return bool(time["kind"] == "constant" and time["value"] == 0)


def _find_rate(arrival: Mapping[str, Any], users: int) -> float | None:
    if arrival["kind"] not in _OPEN:
        return None
    return float(arrival["rate"] * (users if arrival.get("per_user") else 1))


def _find_size(operations: Mapping[str, Any] | None) -> float | None:
    """Return the mean size of the requests of a stream."""
    if operations is None:
        return None
    reads = float(operations["read_fraction"])
    size = _mean_size(operations["size"])
    other = operations.get("write_size")
    return size if other is None else reads * size + (1 - reads) * _mean_size(other)


def _mean_size(size: Mapping[str, Any]) -> float:
    if size["kind"] == "constant":
        return float(size["value"])
    if size["kind"] == "uniform":
        least, most = size["min"], size["max"]
        step = size.get("step") or least
        return float(least + (most - least) // step * step / 2)
    total = math.fsum(option["weight"] for option in size["options"])
    return math.fsum(option["weight"] * option["value"] for option in size["options"]) / total


def _find_random_fraction(address: Mapping[str, Any] | None, size: float | None) -> float | None:
    if address is None:
        return None
    if address["kind"] == "strided" or (address["kind"] == "strided_zones" and not address.get("sampling")):
        return 0.0
    if address["kind"] != "sequential":
        return 1.0
    if address.get("jump_fraction") is not None:
        return float(address["jump_fraction"])
    run = address.get("run")
    if run is None:
        return 0.0
    return None if size is None else min(1.0, size / run)


def _add(values: Iterable[float | None]) -> float | None:
    listed = list(values)
    return None if any(value is None for value in listed) else math.fsum(filter(None, listed))


def _find_common(values: Iterable[float | None]) -> float | None:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


_WORKLOAD = "config.workload"


@dataclass(frozen=True, slots=True)
class SimulatedPoint:
    """A point, or one probed value of a point that seeks.

    Attributes:
        name: It in words.
        load: Its load; shares and sizes that its configuration leaves open are those of its runs.
        values: The values of its label, its axes and its probe, by dotted path [base units].
        results: The mean and the ends of the interval of each result column, as `c`, `c_low`, `c_high`.
    """

    point_id: str
    name: str
    load: PointLoad
    values: Mapping[str, Any]
    workload: Mapping[str, Any]
    results: Mapping[str, Any]

    @property
    def has_result(self) -> bool:
        """Whether a run of the point is stored that became steady."""
        return self.results.get("throughput_iops") is not None


_MIX = ("throughput_iops", "read_iops", "throughput_bytes_per_s")
"""The results from which the mix of a point follows."""


def read_points(session: Session, choice: Choice, columns: Sequence[str]) -> list[SimulatedPoint]:
    """Return the chosen points in the order of the plan, with some result columns."""
    workloads = _read_workloads(session)
    listed = list(dict.fromkeys([*_MIX, *columns]))
    results = _read_results(session, choice, listed)
    axes = list_values(session)
    wanted = set(choice.points)
    simulated = []
    for (point_id, probe), text in workloads.items():
        if point_id not in wanted or (choice.probe is not None and probe != choice.probe):
            continue
        values = dict(axes[point_id])
        name = describe_point(session, values, [LABEL, *session.axes])
        for path in session.probed:
            values[path] = probe
            name = ", ".join(filter(None, [name, f"{title_axis(path)} {format_number(probe or 0)}"]))
        workload = json.loads("{" + text + "}")["workload"]
        result = results.get((point_id, probe), {})
        load = _complete(describe_load(workload), result)
        simulated.append(SimulatedPoint(point_id, name or "the only point", load, values, workload, result))
    return simulated


def _read_workloads(session: Session) -> dict[tuple[str, int | None], str]:
    """Return the workload of each point and probed value."""
    plan = session.sweep.plan()
    keys = plan["point_id"].to_pylist()
    probes = plan[session.seek].to_pylist() if session.seek else [None] * len(keys)
    texts = plan[_WORKLOAD].cast(pa.string()).to_pylist()
    workloads: dict[tuple[str, int | None], str] = {}
    for key, probe, text in zip(keys, probes, texts, strict=True):
        workloads.setdefault((key, probe), text)
    return workloads


def _read_results(
    session: Session, choice: Choice, columns: Sequence[str]
) -> dict[tuple[str, int | None], dict[str, Any]]:
    means = ", ".join(f"{quote(name)}, {quote(name + '_low')}, {quote(name + '_high')}" for name in columns)
    rows = session.sql_of_named_columns(
        f"SELECT point_id, {session.probe} AS probe, {means} FROM points "  # noqa: S608 - names of columns
        "WHERE point_id IN (SELECT unnest($ids))",
        {"ids": list(choice.points)},
    ).to_pylist()
    return {(row["point_id"], row["probe"]): row for row in rows}


def _complete(load: PointLoad, result: Mapping[str, Any]) -> PointLoad:
    """Return a load with the shares and sizes of its runs, where its configuration has none."""
    rate = result.get("throughput_iops")
    if not rate:
        return load
    read_fraction, request_bytes = load.read_fraction, load.request_bytes
    if read_fraction is None and result.get("read_iops") is not None:
        read_fraction = result["read_iops"] / rate
    if request_bytes is None and result.get("throughput_bytes_per_s") is not None:
        request_bytes = result["throughput_bytes_per_s"] / rate
    return replace(load, read_fraction=read_fraction, request_bytes=request_bytes)
