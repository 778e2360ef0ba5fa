"""The Parquet files of a sweep as relations: its plan and rows, of which a statement reads what it needs.

The objects of a bucket are copied to a temporary directory, piece by piece. Opening a file costs DuckDB a
millisecond in each statement, so that many small fragments are first copied to one file.

A run that several fragments hold counts once: a row with a result is kept over a failed one, then the row of
the lowest fragment name. Only a sweep with such runs pays for their selection.
"""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from destage.errors import QueryError, StoreError
from destage.objects import Location, ObjectPath
from destage.queries.tables.facts import (
    SHARED,
    Facts,
    FactsRecord,
    collapse_plan,
    examine_plan,
    find_shared_points,
    order_rows,
)
from destage.queries.tables.kept_copies import KeptCopies, list_copied
from destage.spec.axis_names import list_distinct
from destage.sql import FileConnection, merge_files, quote, quote_text, quote_texts
from destage.store import Sweep
from destage.store.files.digests import damaged, find_damage, invalid, is_intact
from destage.store.files.layout import map_places
from destage.store.files.regular_files import MOST_TABLE
from destage.store.fragment_files.fragments import TRANSIENT_KINDS
from destage.store.fragment_files.stored_rows import rows_schema
from destage.store.state.plan import check_round, plan_schema

FRAGMENT = "fragment"
"""Column of a copy of fragments: the name of the one that a row was in."""
POSITION = "position"
"""The place of a row in its file."""
_MOST_FILES = 16
"""Fragments of which none is copied."""
_FEWEST_KEPT = 256
"""Small fragments of which a copy is kept."""
_SMALL = 4 << 20
"""Files below this size are copied [bytes]."""
_FEW = 1_000
"""Stored rows up to which they are copied into memory: more take longer to copy than to bind."""


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files that one `read_parquet` reads.

    Attributes:
        paths: Their absolute paths.
        columns: The columns that at least one of them has.
        is_copy: Whether it is a copy of small fragments, which has the column `FRAGMENT`.
    """

    paths: tuple[str, ...]
    columns: frozenset[str]
    is_copy: bool = False

    def source(self) -> str:
        """Return the SQL of the rows, with `FRAGMENT` and `POSITION`."""
        name, extra = f"parse_filename(_file) AS {FRAGMENT}", ", filename = '_file'"
        if self.is_copy:
            name, extra = FRAGMENT, ""
        columns = f"* EXCLUDE (file_row_number), {name}, file_row_number AS {POSITION}"
        options = f"union_by_name = true, file_row_number = true{extra}"
        return f"(SELECT {columns} FROM read_parquet({quote_texts(self.paths)}, {options}))"  # noqa: S608


@dataclass(frozen=True, slots=True)
class FragmentFiles:
    """The complete fragments of a sweep on this machine.

    Attributes:
        names: Their names, in order.
        large: Those that are read as they are.
        small: Those of which a copy is to be written.
        kept: The copies that the sweep's folder keeps; None if it keeps none of so few.
        copy: A kept copy, of which the fragments are not in `small`.
    """

    names: tuple[str, ...]
    large: tuple[Path, ...]
    small: tuple[Path, ...] = ()
    kept: KeptCopies | None = None
    copy: Path | None = None

    def group(self, connection: FileConnection, folder: Path) -> list[FileGroup]:
        """Return files with their rows in at most two groups; a copy that is not kept is in the folder."""
        copy = self.copy
        if self.small:
            copy = folder / "small-fragments.parquet"
            merge_files(self.small, FRAGMENT, copy)
            copy = copy if self.kept is None else self.kept.keep(copy)
        groups = [_describe(connection, [str(path) for path in self.large])] if self.large else []
        return groups if copy is None else [*groups, _describe(connection, [str(copy)], is_copy=True)]


def copy_objects(files: Sequence[Location], folder: Path) -> list[Path]:
    """Return the files on this machine; objects are copied to a folder under their names.

    Raises:
        StoreError: An object is damaged.
    """

    def copy(place: Location) -> Path:
        if not isinstance(place, ObjectPath):
            return place.absolute()
        version = place.read_version()
        if version.size > MOST_TABLE:
            raise damaged(place)
        local = folder / place.name
        with local.open("wb") as sink:
            for piece in place.read_pieces(version):
                sink.write(piece)
        if not is_intact(local):
            raise damaged(place)
        return local

    return list(map_places(copy, files))


def find_fragments(sweep: Sweep, folder: Path) -> FragmentFiles:
    """Return the fragments of a sweep, which are checked; those of a kept copy are not read.

    Args:
        folder: A temporary directory, for objects.

    Raises:
        StoreError: A fragment is damaged.
        FileNotFoundError: One disappeared after it was listed.
    """
    sizes = sweep.list_row_files()
    small: set[Location] = set()
    if len(sizes) > _MOST_FILES:
        small = {place for place, size in sizes.items() if size < _SMALL}
    kept = None if len(small) < _FEWEST_KEPT else KeptCopies(sweep, [place.name for place in small])
    copy = None if kept is None else kept.find()
    copied = [] if copy is None else list_copied(copy, FRAGMENT)
    complete = sweep.check_row_files([place for place in sizes if copy is None or place not in small])
    local = copy_objects(complete, folder)
    names = tuple(sorted([*copied, *(place.name for place in complete)]))
    if copy is not None:
        return FragmentFiles(names, tuple(local), copy=copy)
    large, copied_now = (
        tuple(path for place, path in zip(complete, local, strict=True) if (place in small) == is_small)
        for is_small in (False, True)
    )
    return FragmentFiles(names, large, copied_now, kept)


def _describe(connection: FileConnection, paths: Sequence[str], *, is_copy: bool = False) -> FileGroup:
    read = f"SELECT * FROM read_parquet({quote_texts(paths)}, union_by_name = true)"  # noqa: S608
    columns = connection.list_columns(read)
    return FileGroup(tuple(paths), frozenset(columns), is_copy)


CHOSEN = "chosen_rows"
"""The table of the rows that count, of runs that several fragments hold."""
_MOST_ROUNDS = 8
"""Rounds above which a small plan is copied to one file."""
_CONFIGURATION = "config"


@dataclass(frozen=True, slots=True)
class Relations:
    """The relations of a sweep.

    Attributes:
        plan: The statement of the planned runs: the columns of the plan except the configuration, `plan_row`;
            see `collapse_plan`.
        rows: The statement of the stored rows, one per run.
        files: The paths that the statements read.
        fragments: The names of the fragments with the stored rows.
        facts: What decides which statements answer the sweep.
        tables: Tables that the statements read besides.
        order: The file of the plan row of each stored row, which `read_order` reads, if it is recorded. Then
            every stored row has exactly one, and the hashes of planned runs differ.
        is_small: Whether a copy of plan and rows may be kept in memory.
    """

    plan: str
    rows: str
    files: tuple[str, ...]
    fragments: tuple[str, ...]
    facts: Facts
    tables: dict[str, pa.Table] = field(default_factory=dict)
    order: Path | None = None
    is_small: bool = False

    @property
    def has_steady_order(self) -> bool:
        """Whether the rows are in one order in all statements, as without the join with `CHOSEN`."""
        return CHOSEN not in self.tables


def open_relations(sweep: Sweep, folder: Path, connection: FileConnection) -> Relations:
    """Return the relations of a sweep as it is now.

    Args:
        connection: What reads the files.
        folder: A temporary directory, for copies that the relations read.

    Raises:
        StoreError: A file is damaged, or a writer replaced one meanwhile.
    """
    rounds: list[Path] = []
    fragments = FragmentFiles((), ())
    try:
        rounds = copy_objects(sweep.plan_files(), folder)
        fragments = find_fragments(sweep, folder)
        plan, plan_files = _read_plan(connection, rounds, folder)
        groups = fragments.group(connection, folder)
        # Which files are read before the copy of others decides the order of the rows.
        read = [path.name for path in (*rounds, *fragments.large)]
        record = FactsRecord(sweep, [*read, *fragments.names])
        facts = record.find()
        rows, tables, stored = _select_rows(connection, groups, facts)
        if facts is None:
            facts = examine_plan(connection, plan, sweep.probed, stored)
            is_kept = CHOSEN not in tables and record.keep(facts)
            if is_kept and record.is_final:
                order = order_rows(connection, plan, rows, facts)
                if order is not None:
                    record.keep_order(order)
        if facts.shares_runs:
            distinct = list_distinct(sweep.axes, has_prices="prices" in sweep.spec())
            tables[SHARED] = find_shared_points(connection, plan, sweep.axes, distinct)
            plan = collapse_plan(plan, sweep.axes)
        files = (*plan_files, *(path for group in groups for path in group.paths))
        size = sum(Path(file).stat().st_size for file in files)
    except (QueryError, OSError, pa.ArrowException) as error:
        explained = explain_failure(error, (*rounds, *fragments.large, *fragments.small), sweep)
        if explained is error:
            raise
        raise explained from error
    return Relations(
        plan,
        rows,
        files,
        fragments.names,
        facts,
        tables,
        record.find_order(facts.stored),
        is_small=facts.stored <= _FEW and size <= _SMALL,
    )


def explain_failure(error: Exception, files: Iterable[Path], sweep: Sweep) -> Exception:
    """Return the error of reading files of a sweep: that of a damaged or replaced file, or what was raised.

    DuckDB and Arrow have errors of their own for both.
    """
    listed = list(files)
    if (damage := find_damage(listed)) is not None:
        return damage
    if all(file.exists() for file in listed) and not isinstance(error, FileNotFoundError):
        return error
    message = "a writer replaced files of the sweep while it was read; try again"
    return StoreError("store.changed-while-read", message, str(sweep.path))


def restrict_relations(whole: Relations, plan: pa.Table, probed: Sequence[str]) -> Relations:
    """Return the relations of some points of the plan, which are kept in memory.

    Args:
        plan: All rows of these points, with the columns of `whole.plan`.
    """
    with closing(FileConnection()) as connection:
        connection.add_table("kept", plan)
        facts = examine_plan(connection, "SELECT * FROM kept", probed, whole.facts.stored)
    facts = replace(facts, shares_runs=whole.facts.shares_runs, rows_per_point=whole.facts.rows_per_point)
    tables = whole.tables | {"kept": plan}
    return replace(whole, plan="SELECT * FROM kept", facts=facts, tables=tables, order=None)


def _read_plan(
    connection: FileConnection, files: Sequence[Path], folder: Path
) -> tuple[str, tuple[str, ...]]:
    """Return the statement of the plan of some rounds, and the files that it reads."""
    if not files:
        return _empty(plan_schema([], None), 0), ()
    rounds = [pq.read_metadata(path) for path in files]
    schemas = [metadata.schema.to_arrow_schema() for metadata in rounds]
    for round_schema, path in zip(schemas, files, strict=True):
        check_round(round_schema, path)
    try:
        schema = pa.unify_schemas(
            [pa.schema(map(_decoded, round_schema)) for round_schema in schemas], promote_options="default"
        )
    except pa.ArrowException as error:
        raise invalid(files[-1], "its columns are not those of the earlier rounds") from error
    starts = list(accumulate((metadata.num_rows for metadata in rounds[:-1]), initial=0))
    columns = f"{_select(_find_types(connection, schema), frozenset(schema.names))}, "
    columns += f"file_row_number + ({starts}::BIGINT[])[file_index::BIGINT + 1] AS plan_row"
    paths = tuple(map(str, files))
    plan = f"SELECT {columns} FROM read_parquet({quote_texts(paths)}, union_by_name = true)"  # noqa: S608
    if len(files) <= _MOST_ROUNDS or sum(path.stat().st_size for path in files) >= _SMALL:
        return plan, paths
    merged = folder / "rounds.parquet"
    connection.write(plan, merged)
    return f"SELECT * FROM read_parquet({quote_text(str(merged))})", (str(merged),)  # noqa: S608


def _decoded(column: pa.Field) -> pa.Field:
    is_dictionary = pa.types.is_dictionary(column.type)
    return pa.field(column.name, column.type.value_type if is_dictionary else column.type)


def _select_rows(
    connection: FileConnection, groups: Sequence[FileGroup], facts: Facts | None
) -> tuple[str, dict[str, pa.Table], int]:
    """Return the statement of the rows, the tables that it needs, and the number of stored rows.

    Args:
        facts: Facts that are known because no run has several rows.
    """
    schema = rows_schema()
    types = _find_types(connection, schema)
    if not groups:
        return _empty(schema, None), {}, 0
    # The cast of a column to its own type costs nothing.
    parts = [
        f"SELECT {_select(types, group.columns)}, {FRAGMENT}, {POSITION} FROM {group.source()}"  # noqa: S608
        for group in groups
    ]
    every = "\nUNION ALL\n".join(parts)
    plain = f"SELECT * EXCLUDE ({FRAGMENT}, {POSITION}) FROM ({every})"  # noqa: S608
    if facts is not None:
        return plain, {}, facts.stored
    # Equal hashes may, but need not, come from equal runs.
    digests = connection.fetch(f"SELECT hash(run_id) AS digest FROM ({every})")["digest"]  # noqa: S608
    hashes = np.sort(digests.to_numpy())
    repeated = hashes[1:][hashes[1:] == hashes[:-1]]
    if not repeated.size:
        return plain, {}, len(hashes)
    connection.add_table("repeated", pa.table({"digest": np.unique(repeated)}))
    transient = ", ".join(map(quote_text, TRANSIENT_KINDS))
    chosen = connection.fetch(
        f"SELECT run_id, {FRAGMENT}, {POSITION}, count(*) OVER (PARTITION BY run_id) AS copies "  # noqa: S608
        f"FROM ({every}) SEMI JOIN repeated ON hash(run_id) = digest "
        "QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY "
        "coalesce(status = 'failed', false)::INTEGER "
        f"+ coalesce(error_kind IN ({transient}), false)::INTEGER, {FRAGMENT}, {POSITION}) = 1"
    )
    spare = sum(chosen["copies"].to_pylist()) - chosen.num_rows
    same_row = " AND ".join(f"found.{name} = {CHOSEN}.{name}" for name in (FRAGMENT, POSITION))
    once = (
        f"SELECT found.* EXCLUDE ({FRAGMENT}, {POSITION}) FROM ({every}) AS found "  # noqa: S608
        f"LEFT JOIN {CHOSEN} ON found.run_id = {CHOSEN}.run_id WHERE {CHOSEN}.run_id IS NULL OR ({same_row})"
    )
    return once, {CHOSEN: chosen.drop_columns(["copies"])}, len(hashes) - spare


def _find_types(connection: FileConnection, schema: pa.Schema) -> dict[str, str]:
    """Return the SQL type of each column except the configuration's."""
    types = connection.find_types(schema)
    return {name: kind for name, kind in types.items() if name.partition(".")[0] != _CONFIGURATION}


def _select(types: dict[str, str], there: "set[str] | frozenset[str]") -> str:
    """Return the select list of typed columns; a column that the files lack is null."""
    return ", ".join(
        f"{quote(name) if name in there else 'NULL'}::{kind} AS {quote(name)}" for name, kind in types.items()
    )


def _empty(schema: pa.Schema, plan_row: int | None) -> str:
    """Return the statement of no rows with the columns of a schema."""
    with closing(FileConnection()) as connection:
        types = _find_types(connection, schema)
    if plan_row is not None:
        types["plan_row"] = "BIGINT"
    return f"SELECT {_select(types, frozenset())} WHERE false"
