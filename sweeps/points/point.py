"""Points: each one configuration of a study, and all of them as blocks."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from destage.sweeps.points.canonical_parts import Canonical, CanonicalReader
from destage.sweeps.points.config_template import Assignments
from destage.sweeps.points.point_blocks import Block
from destage.sweeps.space.axes import fit
from destage.sweeps.study.valid_study import Study


class _Shared:
    """What all points of a study share."""

    __slots__ = ("paths", "reader", "sought")

    def __init__(self, study: Study, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        self.reader = CanonicalReader()
        # Where nothing is sought, no run has a value of it.
        self.sought = study.sought or ""


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
        if probe is not None:
            self._sought = {} if self._sought is None else self._sought
            if probe not in self._sought:
                self._sought[probe] = shared.reader.with_value(canonical, shared.sought, probe)
            canonical = self._sought[probe]
        return canonical.replicate(replicate)

    def allows(self, value: int) -> bool:
        """Return whether the point's configuration is valid with a value of the sought parameter."""
        shared = self._shared
        return shared.reader.allows(shared.reader.join(self._members), shared.sought, value)


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
        named = zip(
            *(column.filter(pc.invert(is_plain)).to_pylist() for column in (runs, labels)), strict=True
        )
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
