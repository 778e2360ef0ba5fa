"""Expanding a study into points: its axes' grid, less what `where` leaves out, and the explicit points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from itertools import product
from math import prod
from typing import Any

import pyarrow as pa

from destage.errors import ConfigError, Issue, QueryError
from destage.sweeps import axes as axis_values
from destage.sweeps import parameters
from destage.sweeps.canonical_parts import Canonical, CanonicalReader
from destage.sweeps.configurations import Configurations
from destage.sweeps.identity import canonical_text, point_id
from destage.sweeps.study import Study


@dataclass(slots=True)
class Point:
    """One configuration of a study, all but its replicate and its sought value.

    Attributes:
        id: The digest of its assignments.
        label: What reports call it, if the study says.
        axes: The value of every axis column, read back from the resolved configuration.
        canonical: The canonical configuration; replicate 0, the sought parameter at the seek's start.
    """

    id: str
    label: str | None
    axes: dict[str, object]
    canonical: Canonical
    _seek: str | None
    _reader: CanonicalReader
    _sought: dict[int, Canonical] = attribute(default_factory=dict)

    @property
    def config(self) -> dict[str, Any]:
        """The canonical configuration as a fresh document."""
        return self.canonical.config

    def run(self, replicate: int, probe: int | None) -> tuple[str, str]:
        """Return one run of this point: its id and its canonical configuration as JSON.

        Args:
            replicate: Which random streams.
            probe: The sought parameter's value; None where the study seeks nothing.
        """
        if probe is None or self._seek is None:
            return self.canonical.run(replicate)
        if probe not in self._sought:
            self._sought[probe] = self._reader.with_value(self.canonical, self._seek, probe)
        return self._sought[probe].run(replicate)


@dataclass(frozen=True, slots=True)
class Expansion:
    """All points of a study.

    Attributes:
        points: The points, grid first.
        fields: The Arrow field of each axis column.
    """

    points: tuple[Point, ...]
    fields: tuple[pa.Field, ...]

    def axis_values(self, point: Point) -> dict[str, object]:
        """Return a point's axis columns in the type of their fields.

        Args:
            point: One of the points.
        """
        values = {}
        for field in self.fields:
            values[field.name] = _fitting(point.axes[field.name], field)
        return values


MOST_COMBINATIONS = 1_000_000
"""Combinations that a grid may have before `where`: the driver holds them all."""


def expand(study: Study) -> Expansion:
    """Expand a study into its points.

    Args:
        study: The study.

    Raises:
        ConfigError: Some point is no possible configuration, or nothing is left; all mistakes are in its
            issues.
    """
    grid = _grid(study)
    explicit = [(label, dict(assignments)) for label, assignments in study.points]
    chosen: list[tuple[str | None, dict[str, object], int | None]]
    chosen = [(None, assignments, None) for assignments in grid]
    chosen += [(label, assignments, index) for index, (label, assignments) in enumerate(explicit)]
    if not chosen:
        raise ConfigError(
            f"{study.name}: no point is left", (Issue("where", study.where, "leaves no point of the grid"),)
        )
    columns = list(dict.fromkeys(path for _, assignments, _ in chosen for path in assignments))
    configurations = Configurations(study, columns)
    sought = None if study.seek is None else study.seek.path
    points: dict[str, Point] = {}
    issues: dict[tuple[str, str], Issue] = {}
    for label, assignments, index in chosen:
        try:
            canonical, values = configurations.at(assignments)
        except ConfigError as error:
            found = error.issues or (Issue("", None, error.message),)
            for issue in (_placed(issue, assignments, index) for issue in found):
                issues.setdefault((issue.path, repr(issue.value)), issue)
            continue
        named = assignments if index is None else _in_base_units(assignments)
        identity = point_id(named)
        if identity in points and label not in {None, points[identity].label or label}:
            # Things that a study tells apart only by their labels; they come to the same runs.
            identity = point_id({**named, "label": label})
        point = points.setdefault(
            identity, Point(identity, label, values, canonical, sought, configurations.reader)
        )
        point.label = point.label or label  # an explicit point may be one of the grid's
    if issues:
        raise ConfigError(
            f"{study.name}: {_count(len(issues))} in the configurations", tuple(issues.values())
        )
    found_points = tuple(points.values())
    fields = tuple(_field(path, [point.axes[path] for point in found_points]) for path in columns)
    if study.document.get("published") or study.document.get("places"):
        from destage.sweeps.places import check_places  # noqa: PLC0415 - loads duckdb

        check_places(
            study.document,
            [{"point_id": point.id, "label": point.label, **point.axes} for point in found_points],
            fields,
            found_points[0].config,
            None if study.seek is None else study.seek.metric,
        )
    return Expansion(found_points, fields)


def _grid(study: Study) -> list[dict[str, object]]:
    if not study.axes:
        return [] if study.points else [{}]
    count = prod(len(values) for values in study.axes.values())
    if count > MOST_COMBINATIONS:
        message = f"make {count:,} combinations; at most {MOST_COMBINATIONS:,} are allowed"
        raise ConfigError(f"{study.name}: too large a grid", (Issue("axes", None, message),))
    combinations = [dict(zip(study.axes, values, strict=True)) for values in product(*study.axes.values())]
    if study.where is None:
        return combinations
    from destage import sql  # noqa: PLC0415 - loads duckdb, which a study without a condition can do without

    fields = [_field(path, values) for path, values in study.axes.items()]
    columns = [
        pa.array([_fitting(row[field.name], field) for row in combinations], field.type) for field in fields
    ]
    table = pa.table([*columns, pa.array(range(len(combinations)))], names=[*study.axes, "position"])
    try:
        kept = sql.filter_rows(table, study.where)
    except QueryError as error:
        raise ConfigError(
            f"{study.name}: one mistake in the study", (Issue("where", study.where, str(error)),)
        ) from error
    return [combinations[position] for position in kept["position"].to_pylist()]


def _in_base_units(assignments: Mapping[str, object]) -> dict[str, object]:
    """Return what an explicit point assigns as the grid would, so that equal points are one."""
    return {
        path: axis_values.in_base_units(value, parameters.leaf(path)) for path, value in assignments.items()
    }


def _fitting(value: object, field: pa.Field) -> object:
    """Return an axis's value as its column holds it: in a column of texts, as text."""
    if value is None or isinstance(value, str) or not pa.types.is_string(field.type):
        return value
    return canonical_text(value) if isinstance(value, Mapping | list) else str(value)


def _field(path: str, values: Sequence[object]) -> pa.Field:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        kind = pa.bool_()
    elif kinds == {int}:
        kind = pa.int64()
    elif kinds and kinds <= {int, float}:
        kind = pa.float64()
    else:
        kind = pa.string()
    return pa.field(path, kind)


def _placed(issue: Issue, assignments: Mapping[str, object], index: int | None) -> Issue:
    """Say where in the study the mistake stands that a point's configuration has."""
    path = issue.path.removeprefix("/").replace("/", ".")
    if path.startswith("arrays.0."):
        path = "array." + path.removeprefix("arrays.0.")
    home = "axes" if index is None else f"points.{index}"
    place = f"{home}.{path}" if path in assignments else f"scenario.{path}".removesuffix(".")
    at = ", ".join(f"{name}={value}" for name, value in assignments.items() if name != path)
    return Issue(place, issue.value, f"{issue.message} (at {at})" if at else issue.message)


def _count(number: int) -> str:
    return "one mistake" if number == 1 else f"{number} mistakes"
