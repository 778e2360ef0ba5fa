"""The points that a study describes: the grid of its axes that `where` keeps, and the explicit points."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.errors import ConfigError, Issue
from destage.sweeps.points.configurations import Assignments, Configurations, complete
from destage.sweeps.points.grid import Grid
from destage.sweeps.points.point import Expansion
from destage.sweeps.points.point_blocks import UNASSIGNED, AssignedValues, Block
from destage.sweeps.space import parameters
from destage.sweeps.space.axes import find_type, in_base_units
from destage.sweeps.study.users import USERS, has_users
from destage.sweeps.study.valid_study import Study

MOST_RUNS = 5_000_000
"""Maximum points times replicates: the driver holds the runs of a round."""


class Expander:
    """Builds the points of a study from its grid and its explicit points."""

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
        """Return the points.

        Raises:
            ConfigError: A point is an invalid configuration, or no point is left; with every mistake.
        """
        study = self._study
        self._check_runs()
        blocks = [
            built for block in self._grid.list_blocks(self._block) if (built := self._build_grid(block))
        ]
        has_grid = bool(blocks) or bool(self._issues)
        if not has_grid and not study.points and not study.searched:
            raise study.error([Issue("study.no-points", "where", "no point meets it", study.where)])
        explicit = self._build_explicit()
        if self._issues:
            raise study.error(self._issues.values())
        if explicit is not None:
            blocks = self._add_explicit(blocks, explicit)
        fields = []
        for path in self._columns if has_grid or study.searched else self._explicit:
            kinds = set[type]().union(*[block.find_kinds(path) for block in blocks])
            if path in study.searched:
                kinds |= study.searched[path].kinds
            fields.append(pa.field(path, find_type(kinds)))
        # The runs of later rounds have replicates of their own.
        single = self._configurations if study.is_adaptive else Configurations(study, (), 1)
        expansion = Expansion(study, blocks, fields, single, self._build_one)
        _check_places(study, expansion)
        check_users(study, expansion)
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

    def _build_grid(self, block: AssignedValues) -> Block | None:
        """Return a block of the grid; None once there are mistakes."""

        def report(point: int, error: ConfigError) -> None:
            self._report(error, complete(self._study, block.assigned(point)), None)

        runs = self._configurations.build(block, report)
        if self._issues:
            return None
        made = self._make_block(self._grid.identify(block), runs, block)
        for path in self._study.when:
            made.clear(path, block.codes[path] == UNASSIGNED)
        return made

    def _make_block(self, ids: pa.Array, runs: pa.RecordBatch, points: AssignedValues) -> Block:
        """Return the block of points with these runs; a setting without effect keeps its written value."""
        made = self._configurations.make_block(ids, runs, points)
        written = points
        if points.listed is not None:
            written = AssignedValues.from_points([_in_base_units(assigned) for assigned in points.listed])
        for path, codes in written.codes.items():
            if path in self._configurations.axes:
                made.keep_written(path, written.values[path], codes)
        return made

    def _build_explicit(self) -> Block | None:
        """Return the explicit points, each once; None if there are none, or mistakes."""
        study = self._study
        if not study.points:
            return None
        given = AssignedValues.from_points([dict(assignments) for _, assignments in study.points])

        def report(index: int, error: ConfigError) -> None:
            self._report(error, complete(study, given.assigned(index)), index)

        runs = self._configurations.build(given, report)
        if self._issues:
            return None
        named = [_in_base_units(complete(study, assignments)) for _, assignments in study.points]
        plain = AssignedValues.from_points(named).identify().to_pylist()
        every_label = [{**point, "label": study.points[index][0]} for index, point in enumerate(named)]
        labelled = AssignedValues.from_points(every_label).identify().to_pylist()
        labels: dict[str, str | None] = {}
        positions: dict[str, int] = {}
        for position, (label, _) in enumerate(study.points):
            identity = plain[position]
            if identity in labels and label not in {None, labels[identity] or label}:
                # Points that differ in their labels only share their runs.
                identity = labelled[position]
            labels[identity] = labels.get(identity) or label
            positions.setdefault(identity, position)
        every = self._make_block(pa.nulls(given.count, pa.string()), runs, given)
        block = every.take(np.array(list(positions.values())))
        block.ids = pa.array(list(positions))
        block.labels = pa.array([labels[identity] for identity in positions], pa.string())
        return block

    def _build_one(self, assignments: Assignments) -> Block | None:
        mistakes: list[ConfigError] = []
        given = AssignedValues.from_points([assignments])
        runs = self._configurations.build(given, lambda _, error: mistakes.append(error))
        if mistakes:
            return None
        named = _in_base_units(complete(self._study, assignments))
        return self._make_block(AssignedValues.from_points([named]).identify(), runs, given)

    @staticmethod
    def _add_explicit(blocks: Sequence[Block], explicit: Block) -> list[Block]:
        """Label the points of the grid that are explicit too, and add the other explicit points."""
        is_left = np.ones(len(explicit), bool)
        for block in blocks:
            positions = pc.index_in(block.ids, explicit.ids)
            block.labels = explicit.labels.take(positions)
            is_left[positions.drop_null().to_numpy()] = False
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
        rest = ", ".join(f"{name}={value}" for name, value in assignments.items() if name != path)
        return replace(issue, place=place, message=f"{issue.message} (at {rest})" if rest else issue.message)


def _check_places(study: Study, expansion: Expansion) -> None:
    if not study.publication.figures and not study.publication.places:
        return
    from destage.sweeps.keys.published_checks import check_places  # noqa: PLC0415 - loads duckdb

    points = expansion.points
    try:
        check_places(
            study.publication,
            [{"point_id": point.id, "label": point.label, **point.axes} for point in points],
            expansion.fields,
            points[0].config,
            study.answer,
        )
    except ConfigError as error:
        raise study.error(error.issues) from None


def check_users(study: Study, expansion: Expansion) -> None:
    """Raise an error if the study seeks a number of users that a workload of it does not depend on."""
    if study.sought != USERS:
        return
    checked = set()
    for point in expansion.points:
        axes = {path: value for path, value in point.axes.items() if path.startswith("workload.")}
        key = repr(axes)
        if key in checked:
            continue
        checked.add(key)
        # With a single user, a trace has no copies.
        if not has_users(json.loads(point.configure(0, 2).text)["workload"]["streams"]):
            assigned = ", ".join(f"{path}={value}" for path, value in axes.items())
            message = "no stream of the workload is per user, so that the number of users changes nothing"
            place = f"seek.{study.found_seek.goal}"
            issue = Issue("study.no-effect", place, f"{message} (at {assigned})" if assigned else message)
            raise study.error([issue])


def _in_base_units(assignments: Mapping[str, object]) -> dict[str, object]:
    """Return an explicit point's assignments as the grid has them, so that equal points are one."""
    return {
        path: in_base_units(value, parameters.find_parameter(path).unit, path)
        for path, value in assignments.items()
    }
