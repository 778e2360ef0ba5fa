"""Points: each one configuration of a study, and all of them as blocks."""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import pyarrow as pa

from destage import engine
from destage.spec.axis_names import list_distinct
from destage.store.state.plan import CONFIG_COLUMNS
from destage.sweeps.points.configurations import REPLICATE, Assignments, Configurations
from destage.sweeps.points.point_blocks import AssignedValues, Block
from destage.sweeps.space import parameters
from destage.sweeps.space.axes import fit
from destage.sweeps.study.valid_study import Study

_CAPACITY, _USABLE = "controller.cache.capacity", "controller.cache.usable"
"""A parameter from which the engine derives the default of another one."""


class _Shared:
    """What all points of a study share."""

    __slots__ = ("configurations", "paths", "sought")

    def __init__(self, study: Study, paths: Sequence[str], configurations: Configurations) -> None:
        self.paths = tuple(paths)
        self.configurations = configurations
        # Where nothing is sought, no run has a value of it.
        self.sought = study.sought or ""


class Configuration(NamedTuple):
    """The canonical configuration of a run."""

    run_id: str
    text: str


_BuildOne = Callable[[Assignments], Block | None]
"""Returns the block of one point; None if its configuration is invalid."""


class Point:
    """One configuration of a study, without replicate and sought value.

    Attributes:
        id: The digest of its assignments.
        label: Its name in reports, if it has one.
        parts: The texts of the parts of its configuration, with the sought parameter at the seek's start.
    """

    __slots__ = ("_assigned", "_shared", "_values", "id", "label", "parts")

    def __init__(
        self,
        identity: str,
        label: str | None,
        values: tuple[object, ...],
        parts: tuple[str | None, ...],
        assigned: tuple[AssignedValues, int],
        shared: _Shared,
    ) -> None:
        self.id = identity
        self.label = label
        self._values = values
        self.parts = parts
        self._assigned = assigned
        self._shared = shared

    @property
    def axes(self) -> dict[str, object]:
        """The value of every axis column as written, else as resolved; None where its `when` is false."""
        return dict(zip(self._shared.paths, self._values, strict=True))

    @property
    def config(self) -> dict[str, Any]:
        """The canonical configuration, replicate 0, the sought parameter at the seek's start."""
        document: dict[str, Any] = json.loads(_join(self.parts))
        return document

    def configure(self, replicate: int, probe: int | None) -> Configuration:
        """Return the configuration of one run of this point.

        Args:
            probe: The sought parameter's value; None if the study seeks nothing.
        """
        run_id, *parts = (column[0].as_py() for column in configure([(self, replicate, probe)]).columns)
        return Configuration(run_id, _join(parts))

    def list_allowed(self, values: Sequence[int]) -> list[int]:
        """Return the values of the sought parameter with which the point's configuration is valid."""
        forbidden = set(self.compose([(self, 0, value) for value in values])[1])
        return [value for position, value in enumerate(values) if position not in forbidden]

    def compose(self, runs: "Sequence[Run]") -> tuple[pa.RecordBatch, list[int]]:
        """Return the rows of runs of the study, and the positions of the invalid ones, which have none."""
        return self._shared.configurations.compose(
            [point.assign(replicate, probe) for point, replicate, probe in runs]
        )

    def assign(self, replicate: int, probe: int | None) -> Assignments:
        """Return what one run of this point assigns."""
        assigned, position = self._assigned
        sought = {} if probe is None else {self._shared.sought: probe}
        return {**assigned.assigned(position), **sought, REPLICATE: replicate}

    def force(self, replicate: int, probe: int | None) -> list[str | None]:
        """Return the row of a run although rules between fields forbid its value."""
        config, sought = self.config, self._shared.sought
        if sought == _CAPACITY:
            derived = self.config
            parameters.assign(derived, _USABLE, None)
            config = derived if engine.normalise(derived) == config else config
        parameters.assign(config, sought, probe)
        parameters.assign(config, REPLICATE, replicate)
        texts = {name: engine.canonical_text({name: value})[1:-1] for name, value in config.items()}
        parts = [texts.get(part) for part in engine.PARTS]
        return [engine.run_id(_join(parts)), *parts]


Run = tuple[Point, int, int | None]
"""A point, a replicate and the sought parameter's value, None if the study seeks nothing."""


def configure(runs: Sequence[Run]) -> pa.RecordBatch:
    """Return the columns of a plan that say what runs of a study are.

    If a rule between fields forbids a sought value, the configuration keeps it, so that its run fails with
    the reason.
    """
    names = ["run_id", *CONFIG_COLUMNS]
    built, invalid = runs[0][0].compose(runs)
    if not invalid:
        return built.select(names)
    columns = [built[name].to_pylist() for name in names]
    for position in invalid:
        point, replicate, probe = runs[position]
        for column, value in zip(columns, point.force(replicate, probe), strict=True):
            column.insert(position, value)
    ids, *parts = (pa.array(column, pa.string()) for column in columns)
    return pa.record_batch([ids, *[part.dictionary_encode() for part in parts]], names)


def _join(parts: Iterable[str | None]) -> str:
    return f"{{{','.join(part for part in parts if part is not None)}}}"


class Expansion:
    """All points of a study, grid first.

    Attributes:
        blocks: The points as Arrow columns.
        fields: The Arrow field of each axis column.
        configurations: What builds the configurations of runs.
    """

    def __init__(
        self,
        study: Study,
        blocks: Sequence[Block],
        fields: Sequence[pa.Field],
        configurations: Configurations,
        build_one: _BuildOne | None = None,
    ) -> None:
        self.blocks = list(blocks)
        self.fields = tuple(fields)
        self.configurations = configurations
        self._shared = _Shared(study, [field.name for field in fields], configurations)
        self._build_one = build_one
        self._distinct = list_distinct([field.name for field in fields], has_prices=study.prices is not None)

    @property
    def count(self) -> int:
        """The number of points; those with one label and one configuration are one (`list_distinct`)."""
        columns = {
            "run": [block.first_runs() for block in self.blocks],
            "label": [block.labels for block in self.blocks],
            **{path: [block.axes[path] for block in self.blocks] for path in self._distinct},
        }
        table = pa.table({name: pa.chunked_array(parts) for name, parts in columns.items()})
        table = table.unify_dictionaries()
        return int(table.group_by(table.column_names).aggregate([]).num_rows)

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
        kept = self._by_id.setdefault(point.id, point)
        if kept is point:
            self.blocks.append(block)
            self.points.append(point)
        return kept

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
            zip(repeat(block.assigned), range(len(block)), strict=False),
            strict=True,
        )
        return [Point(*fields, self._shared) for fields in described]

    def axis_values(self, point: Point) -> dict[str, object]:
        """Return a point's axis columns in the type of their fields."""
        return {
            field.name: fit(value, field.type)
            for field, value in zip(self.fields, point.axes.values(), strict=True)
        }

    def tabulate(self) -> Iterable[pa.RecordBatch]:
        """Yield the columns of a plan that describe the first runs of all points, point by point."""
        return (block.tabulate(self.fields) for block in self.blocks)
