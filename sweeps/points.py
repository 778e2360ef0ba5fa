"""Points: the grid of a study's axes that `where` keeps, and the explicit points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from itertools import product
from math import prod
from typing import Any

import pyarrow as pa

from destage.errors import ConfigError, Issue, QueryError
from destage.sweeps import parameters
from destage.sweeps.axes import in_base_units
from destage.sweeps.canonical_parts import Canonical, CanonicalReader
from destage.sweeps.configurations import Configurations
from destage.sweeps.identity import canonical_text, point_id
from destage.sweeps.study import Study


@dataclass(slots=True)
class Point:
    """One configuration of a study, without replicate and sought value.

    Attributes:
        id: The digest of its assignments.
        label: Its name in reports, if it has one.
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
            probe: The sought parameter's value; None if the study seeks nothing.
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
        """Return a point's axis columns in the type of their fields."""
        return {field.name: _fit(point.axes[field.name], field) for field in self.fields}


MOST_COMBINATIONS = 1_000_000
"""Maximum combinations of a grid before `where`: the driver holds them all."""


_LONGEST_INT = 2**63 - 1
MOST_RUNS = 5_000_000
"""Maximum points times replicates: the driver holds the runs of a round."""


def expand(study: Study) -> Expansion:
    """Expand a study into its points.

    Raises:
        ConfigError: A point is an invalid configuration, or no point is left; with every mistake.
    """
    grid = _grid(study)
    explicit = [(label, dict(assignments)) for label, assignments in study.points]
    chosen: list[tuple[str | None, dict[str, object], int | None]]
    chosen = [(None, assignments, None) for assignments in grid]
    chosen += [(label, assignments, index) for index, (label, assignments) in enumerate(explicit)]
    if not chosen:
        raise ConfigError([Issue("study.no-points", "where", "no point meets it", study.where)], study.name)
    runs = len(chosen) * study.replicates.least
    if runs > MOST_RUNS:
        message = f"{len(chosen):,} points x {study.replicates.least:,} replicates are {runs:,} runs"
        message += f"; at most {MOST_RUNS:,} are allowed"
        raise ConfigError([Issue("study.too-many-runs", "replicates", message)], study.name)
    columns = list(dict.fromkeys(path for _, assignments, _ in chosen for path in assignments))
    configurations = Configurations(study, columns)
    sought = None if study.seek is None else study.seek.path
    points: dict[str, Point] = {}
    issues: dict[tuple[str, str], Issue] = {}
    for label, assignments, index in chosen:
        try:
            canonical, values = configurations.build(assignments)
        except ConfigError as error:
            for issue in (_with_place(issue, assignments, index) for issue in error.issues):
                issues.setdefault((issue.place, repr(issue.value)), issue)
            continue
        named = assignments if index is None else _in_base_units(assignments)
        identity = point_id(named)
        if identity in points and label not in {None, points[identity].label or label}:
            # Points that differ in their labels only share their runs.
            identity = point_id({**named, "label": label})
        point = points.setdefault(
            identity, Point(identity, label, values, canonical, sought, configurations.reader)
        )
        point.label = point.label or label  # an explicit point may be one of the grid's
    if issues:
        raise ConfigError(issues.values(), study.name)
    found_points = tuple(points.values())
    fields = tuple(_field(path, [point.axes[path] for point in found_points]) for path in columns)
    if study.document.get("published") or study.document.get("places"):
        from destage.sweeps.published_checks import check_places  # noqa: PLC0415 - loads duckdb

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
        message = f"{count:,} combinations; at most {MOST_COMBINATIONS:,} are allowed"
        raise ConfigError([Issue("study.too-many-values", "axes", message)], study.name)
    combinations = [dict(zip(study.axes, values, strict=True)) for values in product(*study.axes.values())]
    if study.where is None:
        return combinations
    from destage import sql  # noqa: PLC0415 - loads duckdb, which only a condition needs

    fields = [_field(path, values) for path, values in study.axes.items()]
    columns = [
        pa.array([_fit(row[field.name], field) for row in combinations], field.type) for field in fields
    ]
    table = pa.table([*columns, pa.array(range(len(combinations)))], names=[*study.axes, "position"])
    try:
        kept = sql.filter_rows(table, study.where)
    except QueryError as error:
        raise ConfigError(
            [Issue("study.bad-sql", "where", error.message, study.where)], study.name
        ) from error
    return [combinations[position] for position in kept["position"].to_pylist()]


def _in_base_units(assignments: Mapping[str, object]) -> dict[str, object]:
    """Return an explicit point's assignments as the grid has them, so that equal points are one."""
    return {
        path: in_base_units(value, parameters.find_parameter(path).unit, path)
        for path, value in assignments.items()
    }


def _fit(value: object, field: pa.Field) -> object:
    """Return an axis's value in the type of its column."""
    if value is None or isinstance(value, str) or not pa.types.is_string(field.type):
        return value
    return canonical_text(value) if isinstance(value, Mapping | list) else str(value)


def _field(path: str, values: Sequence[object]) -> pa.Field:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        kind = pa.bool_()
    elif kinds == {int}:
        # The engine rejects what is longer, with its place.
        is_long = any(isinstance(value, int) and abs(value) > _LONGEST_INT for value in values)
        kind = pa.string() if is_long else pa.int64()
    elif kinds and kinds <= {int, float} and all(map(_is_float, values)):
        kind = pa.float64()
    else:
        kind = pa.string()
    return pa.field(path, kind)


def _is_float(value: object) -> bool:
    return not isinstance(value, int) or abs(value) <= _LONGEST_INT


def _with_place(issue: Issue, assignments: Mapping[str, object], index: int | None) -> Issue:
    """Return a mistake in a point's configuration with its place in the study."""
    path = issue.place
    if path.startswith("arrays.0."):
        path = "array." + path.removeprefix("arrays.0.")
    home = "axes" if index is None else f"points.{index}"
    place = f"{home}.{path}" if path in assignments else f"scenario.{path}".removesuffix(".")
    at = ", ".join(f"{name}={value}" for name, value in assignments.items() if name != path)
    return replace(issue, place=place, message=f"{issue.message} (at {at})" if at else issue.message)
