"""A sweep in Python: its answer, its rows, SQL, figures and the report."""

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import pyarrow as pa

from destage import sweeps
from destage.errors import QueryError
from destage.notebook.frames import make_frame, open_view
from destage.notebook.html import Figure, render_sentences, render_table
from destage.notebook.measured import Measured
from destage.queries import Session, open_session
from destage.queries.named.column_meanings import MEASURED
from destage.queries.report.figures import build_figures
from destage.queries.report.page import draw_figure, write_report
from destage.queries.report.reported_kinds import compose_answer
from destage.store import Location, find_sweep, locate

if TYPE_CHECKING:
    import polars as pl

    from destage.sweeps import Outcome, Study


class Sweep:
    """A sweep, which a notebook shows with its answer and its points.

    Attributes:
        outcome: What the session that ran it has done; None if it was opened.
    """

    def __init__(self, path: Location, outcome: "Outcome | None" = None) -> None:
        self.path = path
        self.outcome = outcome
        self._session: Session | None = None

    @property
    def session(self) -> Session:
        """The open sweep: results as Arrow tables; what is damaged or missing is a Python warning."""
        if self._session is None:
            self._session = open_session(self.path)
            for issue in self._session.warnings:
                warnings.warn(str(issue), UserWarning, stacklevel=4)
        return self._session

    @property
    def name(self) -> str:
        """Its name: that of the study with a digest."""
        return self.path.name

    @property
    def question(self) -> str:
        """The question of its study; empty if it has none."""
        return str(self.session.spec.get("question", ""))

    @property
    def answer(self) -> list[str]:
        """The sentences that answer the question, the main result first."""
        return compose_answer(self.session)

    def runs(self) -> "pl.LazyFrame":
        """Return one row per finished run and point."""
        return self._view("runs")

    def points(self) -> "pl.LazyFrame":
        """Return one row per point (and probed value): means over replicates with their intervals."""
        return self._view("points")

    def answers(self) -> "pl.LazyFrame":
        """Return one row per point: the result of the study's seek."""
        return self._view("answers")

    def timeline(self) -> "pl.LazyFrame":
        """Return one row per transition of each run: time, event, subject and value."""
        return self._view("timeline")

    def query(self, name: str, **parameters: object) -> "pl.DataFrame":
        """Return the rows of a named query, such as `design_space`."""
        texts = {key: str(value) for key, value in parameters.items()}
        return make_frame(self.session.query(name, texts))

    def sql(self, statement: str) -> "pl.DataFrame":
        """Return the rows of one read-only statement, with the names that `destage query` has.

        Raises:
            QueryError: The statement is not read-only, or there are several.
        """
        return make_frame(self.arrow(statement))

    def arrow(self, statement: str) -> pa.Table:
        """Return the rows of one read-only statement as an Arrow table; otherwise as `sql`."""
        statements = self.session.split(statement)
        if len(statements) != 1:
            message = f"{len(statements)} statements; write exactly one"
            raise QueryError("query.not-one-statement", message, data={"statements": len(statements)})
        return self.session.run(statements[0])

    @property
    def plots(self) -> list[str]:
        """The names of its figures."""
        return [figure.name for figure in build_figures(self.session)]

    def measured(self, name: str) -> Measured:
        """Return a measured set of the sweep's store.

        Raises:
            StoreError: There is no such set.
        """
        return Measured(name, self.session.read_measured_table(name))

    def plot(self, name: str | None = None, *, measured: str | None = None) -> Figure:
        """Draw a figure, by default the first of its report; `measured` beside a measured set.

        Raises:
            QueryError: It has no figure of that name, or no rows for it.
        """
        figures = None if measured is None else self.session.read_measured(measured)
        if name is None:
            names = [MEASURED] if measured is not None else self.plots
            if not names:
                raise QueryError("query.no-rows", "no finished run that a figure can show", self.name)
            name = names[0]
        return Figure(draw_figure(self.session, name, figures))

    def report(self, file: str | Path | None = None, *, measured: str | None = None) -> Location:
        """Write the report, with a measured set if one is named, and return its path."""
        figures = None if measured is None else self.session.read_measured(measured)
        return write_report(self.session, None if file is None else Path(file), figures)

    def close(self) -> None:
        """Close the files; the next use opens them again."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Sweep({self.name!r}, {self.session.point_count} points)"

    def _repr_html_(self) -> str:
        rows = self.session.name_columns(self.session.query("design_space"))
        warnings = [f"Warning: {issue}" for issue in self.session.warnings]
        return render_sentences([*warnings, self.question, *self.answer]) + render_table(
            rows, self.session.units
        )

    def _view(self, name: str) -> "pl.LazyFrame":
        return open_view(lambda: self.session, name)


def open_sweep(sweep: str | Location, store: str | Location | None = None) -> Sweep:
    """Open a sweep by its path, URL or name."""
    return Sweep(find_sweep(sweep, None if store is None else locate(store)))


def run_study(
    study: "str | Path | Mapping[str, Any] | Study",
    *,
    store: str | Location | None = None,
    executor: Literal["auto", "ray", "inline"] = "auto",
    workers: int | None = None,
) -> Sweep:
    """Run a study to its end and return its sweep."""
    if isinstance(study, Mapping):
        loaded = sweeps.parse_study(json.dumps(dict(study)))
    else:
        loaded = sweeps.load_study(study) if isinstance(study, str | Path) else study
    place = None if store is None else locate(store)
    outcome = sweeps.run(loaded, place, executor=executor, workers=workers)
    return Sweep(outcome.path, outcome)
