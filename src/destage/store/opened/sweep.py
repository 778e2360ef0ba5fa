"""A sweep opened for reading: its study, the files of its plan and rows, and its tables."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from destage.errors import Issue, StoreError
from destage.objects import Location, locate
from destage.store.files.digests import damaged, invalid, is_intact
from destage.store.files.layout import SweepLayout
from destage.store.files.parquet import check_types, check_values, read_parquet
from destage.store.fragment_files.index import list_fragments
from destage.store.fragment_files.stored_rows import (
    is_transient,
    list_complete_fragments,
    read_rows,
    rows_schema,
)
from destage.store.opened.counts import Counts
from destage.store.state.answers import answers_schema, certificates_schema
from destage.store.state.head import DAMAGE, Head, read_head
from destage.store.state.lookup import RESTORE, open_head
from destage.store.state.plan import (
    CONFIG_COLUMNS,
    plan_schema,
    read_answer,
    read_axes,
    read_config,
    read_plan,
    read_round,
    read_round_schema,
    read_seek,
    read_study,
)
from destage.store.state.study_files import parse_stored_study, read_study_text

_READS = 5
"""Maximum attempts to read the files of a head; a later writer deletes those that its own does not name."""
_PARTS: dict[str, type] = {"workload": dict, "controller": dict, "arrays": list, "run": dict}
"""The types of the parts of a configuration that readers look into."""
_Read = TypeVar("_Read")


class Sweep:
    """One sweep of a store, opened for reading, possibly while it is written.

    Study, plan and answers are those of one generation; open the sweep again to see a later one.
    """

    def __init__(self, path: Location) -> None:
        self.path = path
        self._layout = SweepLayout(path)
        opened = open_head(self._layout)
        if opened is None:
            raise _not_a_sweep(path)
        self._head: Head = opened.head
        self._warnings = list(opened.warnings)
        self._has_read = False

    @cached_property
    def _study(self) -> str:
        try:
            return self._read(lambda head: read_study_text(self._file(head.study)))
        except StoreError as error:
            if error.code not in (*DAMAGE, "store.lost-file"):
                raise
            text = None if self._plan_schema is None else read_study(self._plan_schema)
            if text is None:
                raise
            message = f"damaged or lost: the study is read from the plan; {RESTORE}"
            self._warnings.append(Issue("store.study-restored", str(self._file(self._head.study)), message))
            return text

    @cached_property
    def _plan_schema(self) -> pa.Schema | None:
        """The schema of the first round; its metadata names the axes."""
        return self._read(lambda head: read_round_schema(self._file(head.rounds[0])) if head.rounds else None)

    @property
    def name(self) -> str:
        """The study's name."""
        return self.path.name.rpartition("-")[0]

    @property
    def id(self) -> str:
        """The digest that distinguishes sweeps of the same name."""
        return self.path.name.rpartition("-")[2]

    @property
    def axes(self) -> list[str]:
        """The dotted paths of the axes, in the study's order."""
        return [] if self._plan_schema is None else read_axes(self._plan_schema)

    @property
    def seek(self) -> str | None:
        """The dotted path of the sought parameter, if the study seeks one."""
        return None if self._plan_schema is None else read_seek(self._plan_schema)

    @property
    def probed(self) -> tuple[str, ...]:
        """The sought parameter, whose values are a column of the plan; empty if nothing is sought."""
        return tuple(filter(None, [self.seek]))

    @property
    def answer(self) -> str | None:
        """The name of the answers, such as `users_supported`, if the study seeks something."""
        return None if self._plan_schema is None else read_answer(self._plan_schema)

    @property
    def contents(self) -> tuple[str | None, ...]:
        """The names of the files of study, plan and answers, which have the digests of their content."""
        head = self._head
        return (head.study, *head.rounds, head.answers, head.certificates)

    @property
    def warnings(self) -> tuple[Issue, ...]:
        """What is damaged and was read from elsewhere."""
        return tuple(self._warnings) if self._study else ()  # reading the study may add one

    @property
    def is_finished(self) -> bool:
        """Whether the last session planned to the end and executed everything."""
        return self._head.finished

    @property
    def study_text(self) -> str:
        """The study as it was run, as YAML."""
        return self._study

    def spec(self) -> dict[str, Any]:
        """Return the study as it was run."""
        return parse_stored_study(self._study, self._file(self._head.study))

    def plan(self) -> pa.Table:
        """Return every planned run, all rounds together."""
        plan = self._read(lambda head: read_plan(self._layout, head))
        return plan_schema([], None).empty_table() if plan is None else plan

    def plan_files(self) -> list[Location]:
        """Return the Parquet files of the plan, one per round, in their order.

        Local files are checked; whoever copies an object checks it (`read_checked`).

        Raises:
            StoreError: A file is damaged or lost.
        """
        return self._read(lambda head: [self._check(self._file(name)) for name in head.rounds])

    def row_files(self) -> list[Location]:
        """Return the complete fragments by name, checked as in `plan_files`; of unplanned runs, too."""
        return list_complete_fragments(self._layout)

    def list_row_files(self) -> dict[Location, int]:
        """Return the files among the fragments by name, with their sizes [bytes]; see `check_row_files`."""
        return {stamp.path: stamp.size for stamp in list_fragments(self._layout).values()}

    def check_row_files(self, listed: Sequence[Location]) -> list[Location]:
        """Return those of some files among the fragments that are complete ones; errors as in `row_files`."""
        return list_complete_fragments(self._layout, listed)

    def configuration(self, row: int = 0) -> dict[str, Any]:
        """Return the canonical configuration of one planned run; empty if the plan has no such row."""
        return self._read(lambda head: self._find_configuration(head, row))

    def rows(self) -> pa.Table:
        """Return one row per stored run: result columns and provenance columns."""
        return read_rows(self._layout)

    def runs(self) -> pa.Table:
        """Return the planned runs that are stored: plan columns but the configuration, then those of `rows`.

        Points that share a run (five write fractions of a cache of size 0) have a row each.
        """
        plan = self.plan().drop_columns(list(CONFIG_COLUMNS))
        rows = self.rows()
        index_by_run = {run_id: index for index, run_id in enumerate(rows["run_id"].to_pylist())}
        indices = [index_by_run.get(run_id) for run_id in plan["run_id"].to_pylist()]
        kept = pa.array([index is not None for index in indices], pa.bool_())
        stored = rows.take(pa.array([index for index in indices if index is not None], pa.int64()))
        runs = plan.filter(kept)
        for column in rows_schema():
            if column.name != "run_id":
                runs = runs.append_column(column, stored[column.name])
        return runs

    def answers(self) -> pa.Table:
        """Return the answers of the seek: one row per point, none until the sweep has finished."""
        table = self._read(lambda head: self._find_table(head.answers, answers_schema([]), is_partial=True))
        return answers_schema([]).empty_table() if table is None else table

    def certificates(self) -> pa.Table:
        """Return the runs that prove the answers: one row per point and replicate."""
        table = self._read(lambda head: self._find_table(head.certificates, certificates_schema()))
        return certificates_schema().empty_table() if table is None else table

    @property
    def has_analyses(self) -> bool:
        """Whether it has tables of the study's analyses."""
        return self._read(lambda head: bool(head.analyses))

    def analyses(
        self,
        schemas: Mapping[str, pa.Schema] | None = None,
        find_fault: Callable[[Mapping[str, pa.Table]], tuple[str, str] | None] = lambda _: None,
    ) -> dict[str, pa.Table]:
        """Return the tables of the study's analyses by name, none until the sweep has finished.

        Args:
            schemas: Columns by name that tables must have, beside others.
            find_fault: Returns the name of a table that does not fit the others, and what it must be.
        """
        wanted = schemas or {}

        def read(head: Head) -> dict[str, pa.Table]:
            tables = {name: self._read_table(file, wanted.get(name)) for name, file in head.analyses.items()}
            if (fault := find_fault(tables)) is not None:
                raise invalid(self._file(head.analyses[fault[0]]), fault[1])
            return tables

        return self._read(read)

    def count(self) -> Counts:
        """Count the planned runs, and those that are stored, by their rows."""
        parts = self._read(lambda head: [read_round(self._file(name), ["run_id"]) for name in head.rounds])
        planned = pc.unique(
            pa.chunked_array([chunk for part in parts for chunk in part["run_id"].chunks], pa.string())
        )
        rows = read_rows(self._layout, columns=[])
        rows = rows.filter(pc.and_(pc.is_in(rows["run_id"], planned), pc.invert(is_transient(rows))))
        failed = pc.sum(pc.equal(rows["status"], "failed")).as_py() or 0
        return Counts(len(planned), rows.num_rows, failed, len(parts))

    def _find_configuration(self, head: Head, row: int) -> dict[str, Any]:
        for name in head.rounds:
            place = self._file(name)
            text, count = read_config(place, row)
            if row < count:
                return _parse_config(text, place)
            row -= count
        return {}

    def _file(self, name: str) -> Location:
        return self._layout.generations / name

    @staticmethod
    def _check(place: Location) -> Location:
        if isinstance(place, Path) and not is_intact(place):
            raise damaged(place)
        return place

    def _find_table(
        self, name: str | None, schema: pa.Schema, *, is_partial: bool = False
    ) -> pa.Table | None:
        return None if name is None else self._read_table(name, schema, is_partial=is_partial)

    def _read_table(self, name: str, schema: pa.Schema | None, *, is_partial: bool = False) -> pa.Table:
        """Return a table of the head, which must have the columns of a schema unless it is partial."""
        place = self._file(name)
        table = read_parquet(place)
        if is_partial and schema is not None:
            check_types(table.schema, schema, place)
        elif schema is not None:
            check_values(table, schema, place)
        return table

    def _read(self, read: Callable[[Head], _Read]) -> _Read:
        """Read files of the head; if a later writer has deleted them, those of its head.

        Raises:
            StoreError: A file is damaged or lost, or a part of the sweep was read before it changed.
        """
        for _ in range(_READS):
            try:
                content = read(self._head)
            except FileNotFoundError as error:
                later = read_head(self._layout)
                if later is None or later == self._head:
                    message = f"a file of its plan is lost ({error}); run the study again"
                    raise StoreError("store.lost-file", message, str(self.path)) from error
                if self._has_read:
                    break
                self._head = later
            else:
                self._has_read = True
                return content
        message = "the sweep was planned again while it was read; try again"
        raise StoreError("store.changed-while-read", message, str(self.path))


def open_sweep(path: str | Location) -> Sweep:
    """Open a sweep for reading.

    Raises:
        StoreError: There is no sweep, its head is damaged, or another version of Destage wrote it.
    """
    return Sweep(locate(path))


def _parse_config(text: str | None, place: Location) -> dict[str, Any]:
    """Return the canonical configuration of a planned run."""
    try:
        config = json.loads(text or "")
    except (ValueError, RecursionError):
        config = None
    is_whole = isinstance(config, dict) and all(
        isinstance(config.get(part, kind()), kind) for part, kind in _PARTS.items()
    )
    if not is_whole:
        raise invalid(place, "a run without a configuration")
    parsed: dict[str, Any] = config
    return parsed


def _not_a_sweep(root: Location) -> StoreError:
    if (root / "spec.yaml").is_file():
        message = "written by an earlier version of Destage; run its study again"
        return StoreError("store.other-format", message, str(root), {"format": "destage-sweep-1"})
    return StoreError("store.not-a-sweep", "not a sweep: it has no generation of a plan", str(root))
