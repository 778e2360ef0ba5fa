"""A sweep opened for reading: its study, plan, runs and answers as Arrow tables."""

from functools import cached_property
from typing import Any

import pyarrow as pa
import yaml

from destage.errors import StoreError
from destage.objects import Location, locate
from destage.store.answers import answers_schema, certificates_schema
from destage.store.layout import SweepLayout
from destage.store.parquet import read_parquet
from destage.store.plan import CONFIG_COLUMNS, plan_schema, read_axes, read_plan, read_seek
from destage.store.rows import read_rows, rows_schema


class Sweep:
    """One sweep of a store, opened for reading, possibly while it is written.

    The plan is read once; open the sweep again to see a later one.
    """

    def __init__(self, path: Location) -> None:
        self.path = path
        self._layout = SweepLayout(path)

    @cached_property
    def _plan(self) -> pa.Table | None:
        return read_plan(self._layout)

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
        return [] if self._plan is None else read_axes(self._plan)

    @property
    def seek(self) -> str | None:
        """The dotted path of the sought parameter, if the study seeks one."""
        return None if self._plan is None else read_seek(self._plan)

    def spec(self) -> dict[str, Any]:
        """Return the study as it was run."""
        spec: dict[str, Any] = yaml.safe_load(self._layout.spec.read_text())
        return spec

    def plan(self) -> pa.Table:
        """Return every planned run, all rounds together."""
        return plan_schema([], None).empty_table() if self._plan is None else self._plan

    def rows(self) -> pa.Table:
        """Return one row per stored run: result columns and provenance columns."""
        return read_rows(self._layout)

    def runs(self) -> pa.Table:
        """Return the planned runs that are stored: plan columns but the configuration, then those of `rows`.

        Points that share a run (five write fractions of a cache of size 0) have a row each.
        """
        plan = self.plan().drop_columns(list(CONFIG_COLUMNS))
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
