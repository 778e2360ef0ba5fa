"""Points: the grid of a study's axes that `where` keeps, and the explicit points."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.errors import ConfigError, Issue
from destage.sweeps import parameters
from destage.sweeps.axes import in_base_units
from destage.sweeps.axis_columns import find_type, fit
from destage.sweeps.blocks import Block
from destage.sweeps.canonical_parts import Canonical, CanonicalReader
from destage.sweeps.configurations import Built, Configurations, assigned_values
from destage.sweeps.fragments import Assignments
from destage.sweeps.grid import BLOCK, Grid
from destage.sweeps.grid_blocks import UNASSIGNED, GridBlock
from destage.sweeps.identity import point_id
from destage.sweeps.study import Study
from destage.sweeps.users import USERS, has_users


class _Shared:
    """What all points of a study share."""

    __slots__ = ("paths", "reader", "seek")

    def __init__(self, study: Study, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        self.reader = CanonicalReader()
        self.seek = None if study.seek is None else study.seek.path


_BuildOne = Callable[[Assignments], Block | None]
"""Returns the block of one point; None if its configuration is invalid."""


class Point:
    """One configuration of a study, without replicate and sought value.

    Attributes:
        id: The digest of its assignments.
        label: Its name in reports, if it has one.
    """

    __slots__ = ("_members", "_shared", "_sought", "_values", "id", "label")

    def __init__(
        self,
        identity: str,
        label: str | None,
        values: tuple[object, ...],
        members: tuple[str | None, ...],
        shared: _Shared,
    ) -> None:
        self.id = identity
        self.label = label
        self._values = values
        self._members = members
        self._shared = shared
        self._sought: dict[int, Canonical] | None = None

    @property
    def axes(self) -> dict[str, object]:
        """The value of every axis column as written, else as resolved; None where its `when` is false."""
        return dict(zip(self._shared.paths, self._values, strict=True))

    @property
    def config(self) -> dict[str, Any]:
        """The canonical configuration, replicate 0, the sought parameter at the seek's start."""
        return self._shared.reader.join(self._members).config

    def configure(self, replicate: int, probe: int | None) -> Canonical:
        """Return the configuration of one run of this point.

        Args:
            probe: The sought parameter's value; None if the study seeks nothing.
        """
        shared = self._shared
        canonical = shared.reader.join(self._members)
        if probe is not None and shared.seek is not None:
            self._sought = {} if self._sought is None else self._sought
            if probe not in self._sought:
                self._sought[probe] = shared.reader.with_value(canonical, shared.seek, probe)
            canonical = self._sought[probe]
        return canonical.replicate(replicate)

    def allows(self, value: int) -> bool:
        """Return whether the point's configuration is valid with a value of the sought parameter."""
        shared = self._shared
        return shared.seek is None or shared.reader.allows(
            shared.reader.join(self._members), shared.seek, value
        )


class Expansion:
    """All points of a study, grid first.

    Attributes:
        blocks: The points as Arrow columns.
        fields: The Arrow field of each axis column.
    """

    def __init__(
        self,
        study: Study,
        blocks: Sequence[Block],
        fields: Sequence[pa.Field],
        build_one: _BuildOne | None = None,
    ) -> None:
        self.blocks = list(blocks)
        self.fields = tuple(fields)
        self._shared = _Shared(study, [field.name for field in fields])
        self._build_one = build_one

    @property
    def count(self) -> int:
        """The number of points; those with one label and one configuration are one."""
        runs = pa.chunked_array([block.first_runs() for block in self.blocks], pa.binary(16))
        labels = pa.chunked_array([block.labels for block in self.blocks], pa.string())
        is_plain = pc.is_null(labels)
        named = zip(*(one.filter(pc.invert(is_plain)).to_pylist() for one in (runs, labels)), strict=True)
        return len(pc.unique(runs.filter(is_plain))) + len(set(named))

    @cached_property
    def points(self) -> list[Point]:
        """Each point by itself, for studies that plan from results."""
        return [point for block in self.blocks for point in self.list_points(block)]

    def add(self, assignments: Assignments) -> Point | None:
        """Return the point of some assignments, added if it is new; None if its configuration is invalid."""
        if self._build_one is None:
            raise AssertionError("the points of a calibration are built by its waves")
        block = self._build_one(assignments)
        if block is None:
            return None
        (point,) = self.list_points(block)
        known = self._by_id.setdefault(point.id, point)
        if known is point:
            self.blocks.append(block)
            self.points.append(point)
        return known

    @cached_property
    def _by_id(self) -> dict[str, Point]:
        return {point.id: point for point in self.points}

    def extend(self, blocks: Iterable[Block]) -> None:
        """Add points that are new."""
        for block in blocks:
            self.points.extend(self.list_points(block))
            self.blocks.append(block)

    def list_points(self, block: Block) -> list[Point]:
        """Return the points of a block, each by itself."""
        paths = self._shared.paths
        values = zip(*[block.list_values(path) for path in paths], strict=True)
        described = zip(
            block.ids.to_pylist(),
            block.labels.to_pylist(),
            values if paths else [()] * len(block),
            block.list_parts(),
            strict=True,
        )
        return [Point(*one, self._shared) for one in described]

    def axis_values(self, point: Point) -> dict[str, object]:
        """Return a point's axis columns in the type of their fields."""
        return {
            field.name: fit(value, field.type)
            for field, value in zip(self.fields, point.axes.values(), strict=True)
        }

    def tabulate(self) -> Iterable[pa.RecordBatch]:
        """Yield the columns of a plan that describe the first runs of all points, point by point."""
        return (block.tabulate(self.fields) for block in self.blocks)


MOST_RUNS = 5_000_000
"""Maximum points times replicates: the driver holds the runs of a round."""


def expand(study: Study, *, block: int = BLOCK) -> Expansion:
    """Expand a study into its points.

    Args:
        block: The maximum number of points built at a time.

    Raises:
        ConfigError: A point is an invalid configuration, or no point is left; with every mistake.
    """
    if study.calibration is not None:
        from destage.sweeps.calibration.points import expand_draws  # noqa: PLC0415 - it imports this module

        expansion = expand_draws(study, study.calibration)
        _check_users(study, expansion)
        return expansion
    try:
        return _Expander(study, block).expand()
    except ConfigError as error:
        if not {issue.place.partition(".")[0] for issue in error.issues} <= {"where", "when", "derived"}:
            raise
        # Without valid conditions and expressions the points are still checked.
        from destage.sweeps.point_mistakes import add_point_mistakes  # noqa: PLC0415 - it imports this module

        raise study.error(add_point_mistakes(error.issues, study)) from error


class _Expander:
    def __init__(self, study: Study, block: int) -> None:
        self._study = study
        self._block = block
        self._issues: dict[tuple[str, str], Issue] = {}
        self._grid = Grid(study)
        explicit = [path for _, assignments in study.points for path in assignments]
        self._columns = list(dict.fromkeys([*self._grid.paths, *explicit]))
        self._explicit = list(dict.fromkeys(explicit))
        # Later replicates of other studies depend on the results.
        replicates = 1 if study.is_adaptive else study.replicates.least
        self._configurations = Configurations(study, self._columns, replicates)

    def expand(self) -> Expansion:
        study = self._study
        self._check_runs()
        blocks = [
            found for block in self._grid.list_blocks(self._block) if (found := self._build_grid(block))
        ]
        has_grid = bool(blocks) or bool(self._issues)
        if not has_grid and not study.points and study.search is None:
            raise study.error([Issue("study.no-points", "where", "no point meets it", study.where)])
        explicit = self._build_explicit()
        if self._issues:
            raise study.error(self._issues.values())
        if explicit is not None:
            blocks = self._add_explicit(blocks, explicit)
        fields = []
        for path in self._columns if has_grid or study.search is not None else self._explicit:
            kinds = set[type]().union(*[block.find_kinds(path) for block in blocks])
            if study.search is not None and path in study.search.axes:
                kinds |= study.search.axes[path].kinds
            fields.append(pa.field(path, find_type(kinds)))
        expansion = Expansion(study, blocks, fields, self._build_one)
        _check_places(study, expansion)
        _check_users(study, expansion)
        return expansion

    def _check_runs(self) -> None:
        """Raise an error if there are too many runs; points that the condition leaves out do not count."""
        replicates = self._study.replicates.least
        points = self._grid.count + len(self._study.points)
        if points * replicates > MOST_RUNS and self._grid.is_conditional:
            points = sum(block.count for block in self._grid.list_blocks()) + len(self._study.points)
        if points * replicates > MOST_RUNS:
            message = f"{points:,} points x {replicates:,} replicates are {points * replicates:,} runs"
            message += f"; at most {MOST_RUNS:,} are allowed"
            raise self._study.error([Issue("study.too-many-runs", "replicates", message)])

    def _build_grid(self, block: GridBlock) -> Block | None:
        """Return a block of the grid; None once there are mistakes."""

        def report(point: int, error: ConfigError) -> None:
            self._report(error, self._grid.assigned(block, point), None)

        built = self._configurations.build_grid(block, report)
        if self._issues:
            return None
        made = self._make_block(self._grid.identify(block), built.runs, built.names)
        for path, codes in block.codes.items():
            made.keep_written(path, block.values[path], codes)
        for path in self._study.when:
            made.clear(path, block.codes[path] == UNASSIGNED)
        return made

    def _make_block(self, ids: pa.Array, runs: pa.RecordBatch, names: Mapping[str, pa.Array]) -> Block:
        return Block.make(ids, runs, self._configurations.axes, names, len(runs) // len(ids))

    def _build_explicit(self) -> Block | None:
        """Return the explicit points, each once; None if there are none, or mistakes."""
        study = self._study
        if not study.points:
            return None
        given = [dict(assignments) for _, assignments in study.points]

        def report(index: int, error: ConfigError) -> None:
            self._report(error, assigned_values(study, given[index]), index)

        built = self._configurations.build_each(given, report)
        if self._issues:
            return None
        labels: dict[str, str | None] = {}
        positions: dict[str, int] = {}
        for position, (label, assignments) in enumerate(study.points):
            named = _in_base_units(assigned_values(study, assignments))
            identity = point_id(named)
            if identity in labels and label not in {None, labels[identity] or label}:
                # Points that differ in their labels only share their runs.
                identity = point_id({**named, "label": label})
            labels[identity] = labels.get(identity) or label
            positions.setdefault(identity, position)
        every = self._make_listed(pa.nulls(len(given), pa.string()), built, given)
        block = every.take(np.array(list(positions.values())))
        block.ids = pa.array(list(positions))
        block.labels = pa.array([labels[identity] for identity in positions], pa.string())
        return block

    def _build_one(self, assignments: Assignments) -> Block | None:
        mistakes: list[ConfigError] = []
        built = self._configurations.build_each([assignments], lambda _, error: mistakes.append(error))
        if mistakes:
            return None
        identity = point_id(_in_base_units(assigned_values(self._study, assignments)))
        return self._make_listed(pa.array([identity]), built, [assignments])

    def _make_listed(self, ids: pa.Array, built: Built, given: Sequence[Assignments]) -> Block:
        """Return the block of points that each assign parameters of their own."""
        made = self._make_block(ids, built.runs, built.names)
        written = [_in_base_units(assignments) for assignments in given]
        for path in self._columns:
            codes = np.array([at if path in one else UNASSIGNED for at, one in enumerate(written)])
            made.keep_written(path, [one.get(path) for one in written], codes)
        return made

    @staticmethod
    def _add_explicit(blocks: Sequence[Block], explicit: Block) -> list[Block]:
        """Label the points of the grid that are explicit too, and add the other explicit points."""
        is_left = np.ones(len(explicit), bool)
        for block in blocks:
            found = pc.index_in(block.ids, explicit.ids)
            block.labels = explicit.labels.take(found)
            is_left[found.drop_null().to_numpy()] = False
        left = explicit.take(np.flatnonzero(is_left))
        return [*blocks, left] if len(left) else list(blocks)

    def _report(self, error: ConfigError, assignments: Assignments, index: int | None) -> None:
        for issue in (self._with_place(issue, assignments, index) for issue in error.issues):
            self._issues.setdefault((issue.place, repr(issue.value)), issue)

    def _with_place(self, issue: Issue, assignments: Assignments, index: int | None) -> Issue:
        """Return a mistake in a point's configuration with its place in the study."""
        path = issue.place
        if path.startswith("arrays.0."):
            path = "array." + path.removeprefix("arrays.0.")
        place = f"scenario.{path}".removesuffix(".")
        if path in assignments:
            place = self._study.space.locate(path) if index is None else f"points.{index}.{path}"
        at = ", ".join(f"{name}={value}" for name, value in assignments.items() if name != path)
        return replace(issue, place=place, message=f"{issue.message} (at {at})" if at else issue.message)


def _check_places(study: Study, expansion: Expansion) -> None:
    if not study.document.get("published") and not study.document.get("places"):
        return
    from destage.sweeps.published_checks import check_places  # noqa: PLC0415 - loads duckdb

    points = expansion.points
    try:
        check_places(
            study.document,
            [{"point_id": point.id, "label": point.label, **point.axes} for point in points],
            expansion.fields,
            points[0].config,
            None if study.seek is None else study.seek.metric,
        )
    except ConfigError as error:
        raise study.error(error.issues) from None


def _check_users(study: Study, expansion: Expansion) -> None:
    """Raise an error if the study seeks a number of users that a workload of it does not depend on."""
    if study.seek is None or study.seek.path != USERS:
        return
    checked = set()
    for point in expansion.points:
        axes = {path: value for path, value in point.axes.items() if path.startswith("workload.")}
        key = repr(axes)
        if key in checked:
            continue
        checked.add(key)
        # With a single user, a trace has no copies.
        if not has_users(point.configure(0, 2).config["workload"]["streams"]):
            at = ", ".join(f"{path}={value}" for path, value in axes.items())
            message = "no stream of the workload is per user, so that the number of users changes nothing"
            place = f"seek.{study.seek.goal}"
            issue = Issue("study.no-effect", place, f"{message} (at {at})" if at else message)
            raise study.error([issue])


def _in_base_units(assignments: Mapping[str, object]) -> dict[str, object]:
    """Return an explicit point's assignments as the grid has them, so that equal points are one."""
    return {
        path: in_base_units(value, parameters.find_parameter(path).unit, path)
        for path, value in assignments.items()
    }
