"""A sweep opened for reading: its study, the files of its plan and rows, and its tables."""

import json
from functools import cached_property
from typing import Any

import pyarrow as pa
import yaml

from destage.errors import StoreError
from destage.objects import Location, locate
from destage.store.answers import answers_schema, certificates_schema
from destage.store.layout import SweepLayout
from destage.store.parquet import open_parquet, read_parquet
from destage.store.plan import list_rounds, plan_schema, read_axes, read_plan, read_seek
from destage.store.rows import list_complete, read_rows, rows_schema

_BATCH_ROWS = 64
"""Rows of the plan read at a time for one configuration."""


class Sweep:
    """One sweep of a store, opened for reading, possibly while it is written."""

    def __init__(self, path: Location) -> None:
        self.path = path
        self._layout = SweepLayout(path)

    @cached_property
    def _plan_schema(self) -> pa.Schema | None:
        """The schema of the first round; its metadata names the axes."""
        files = self.plan_files()
        if not files:
            return None
        with open_parquet(files[0]) as file:
            return file.schema_arrow

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

    def spec(self) -> dict[str, Any]:
        """Return the study as it was run."""
        spec: dict[str, Any] = yaml.safe_load(self._layout.spec.read_text())
        return spec

    def plan_files(self) -> list[Location]:
        """Return the Parquet files of the plan, one per round, in their order."""
        return list_rounds(self._layout)

    def row_files(self) -> list[Location]:
        """Return the fragments by name: checked and complete, without torn and foreign files."""
        return list_complete(self._layout)

    def configuration(self, row: int = 0) -> dict[str, Any]:
        """Return the canonical configuration of one planned run; empty if the plan has no such row."""
        for path in self.plan_files():
            with open_parquet(path) as file:
                if row >= file.metadata.num_rows:
                    row -= file.metadata.num_rows
                    continue
                for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=["config"]):
                    if row < batch.num_rows:
                        found: dict[str, Any] = json.loads(batch["config"][row].as_py())
                        return found
                    row -= batch.num_rows
        return {}

    def plan(self) -> pa.Table:
        """Return every planned run, all rounds together."""
        plan = read_plan(self._layout)
        return plan_schema([], None).empty_table() if plan is None else plan

    def rows(self) -> pa.Table:
        """Return one row per stored run: result columns and provenance columns."""
        return read_rows(self._layout)

    def runs(self) -> pa.Table:
        """Return the planned runs that are stored: plan columns without `config`, then those of `rows`.

        Points that share a run (five write fractions of a cache of size 0) have a row each.
        """
        plan = self.plan().drop_columns(["config"])
        rows = self.rows()
        at = {run_id: index for index, run_id in enumerate(rows["run_id"].to_pylist())}
        indices = [at.get(run_id) for run_id in plan["run_id"].to_pylist()]
        kept = pa.array([index is not None for index in indices], pa.bool_())
        found = rows.take(pa.array([index for index in indices if index is not None], pa.int64()))
        runs = plan.filter(kept)
        for field in rows_schema():
            if field.name != "run_id":
                runs = runs.append_column(field, found[field.name])
        return runs

    def answers(self) -> pa.Table:
        """Return the answers of the seek: one row per point, none until the sweep has finished."""
        path = self._layout.answers
        return read_parquet(path) if path.is_file() else answers_schema([]).empty_table()

    def certificates(self) -> pa.Table:
        """Return the runs that prove the answers: one row per point and replicate."""
        path = self._layout.certificates
        return read_parquet(path) if path.is_file() else certificates_schema().empty_table()


def open_sweep(path: str | Location) -> Sweep:
    """Open a sweep for reading."""
    root = locate(path)
    if not SweepLayout(root).spec.is_file():
        raise StoreError("store.not-a-sweep", "not a sweep: spec.yaml is missing", str(root))
    return Sweep(root)
