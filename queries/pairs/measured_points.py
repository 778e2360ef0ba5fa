"""The points of a sweep as `destage compare --measured` pairs them: loads, names and results."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from destage.queries.opening.session import Session
from destage.queries.pairs.point_choice import Choice, describe_point, list_values
from destage.queries.pairs.point_load import PointLoad, describe_load
from destage.queries.text.presentation import format_number, title_axis
from destage.sql import quote
from destage.store.schemas.figure_places import LABEL

_WORKLOAD = "config.workload"


@dataclass(frozen=True, slots=True)
class SimulatedPoint:
    """A point, or one probed value of a point that seeks.

    Attributes:
        point_id: The id of the point.
        name: It in words.
        load: Its load; shares and sizes that its configuration leaves open are those of its runs.
        values: The values of its label, its axes and its probe, by dotted path [base units].
        workload: Its canonical workload.
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
    found = []
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
        found.append(SimulatedPoint(point_id, name or "the only point", load, values, workload, result))
    return found


def _read_workloads(session: Session) -> dict[tuple[str, int | None], str]:
    """Return the workload of each point and probed value."""
    plan = session.sweep.plan()
    keys = plan["point_id"].to_pylist()
    probes = plan[session.seek].to_pylist() if session.seek else [None] * len(keys)
    texts = plan[_WORKLOAD].cast(pa.string()).to_pylist()
    found: dict[tuple[str, int | None], str] = {}
    for key, probe, text in zip(keys, probes, texts, strict=True):
        found.setdefault((key, probe), text)
    return found


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
