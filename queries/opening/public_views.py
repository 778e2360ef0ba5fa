"""The relations that a user's statements read: those of the sweep, with columns named like table headings.

`"array.disk.use"` of the plan is `disk` here, as in the heading of a table. A named query is a relation too,
with its parameters at their defaults. A relation is made when a statement first names it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa

from destage.errors import DestageError, QueryError, StoreError
from destage.measured.sets import describe_columns
from destage.queries.named.column_meanings import (
    MEASURED,
    MEASURED_UNITS,
    RELATIONS,
    Meaning,
    explain_columns,
    find_meaning,
    find_units,
)
from destage.queries.opening.studied_sweep import WIDE, StudiedSweep, list_asked, order_columns
from destage.queries.tables.views import OPTIONAL_PLAN
from destage.queries.text.plain_values import mark_computed
from destage.spec.near_names import suggest
from destage.sql import Database, ReadStatement, alias_names, quote, replace_quantities

_LISTING = re.compile(r"(?:SHOW(?:\s+ALL)?\s+TABLES|SHOW|DESCRIBE)", re.IGNORECASE)
_COUNT = re.compile(r"count\(\s*\*\s*\)")
_DESCRIBED = ["column_name", "column_type", "null", "key", "default", "extra"]
"""The columns of what DuckDB returns for DESCRIBE and SHOW."""


class PublicViews:
    """The relations of one database.

    Attributes:
        aliases: Other names of the columns of axes.
    """

    def __init__(
        self,
        study: StudiedSweep,
        database: Database,
        meanings: Mapping[str, Meaning],
        define: Callable[[str], str],
        prepare: Callable[[str], None],
    ) -> None:
        """Take a study, and a database with the relations of its sweep.

        Args:
            meanings: The unit and meaning of each column.
            define: Returns a statement with the views of means that it names.
            prepare: Creates the relations that a text names and that are created only on demand.
        """
        self._study = study
        self._database = database
        self._meanings = dict(meanings)
        self._queries = study.queries
        self._define = define
        self._prepare = prepare
        self._first: dict[str, int] = {}
        self.aliases = alias_names(study.names)
        self._made: dict[str, list[str]] = {}
        self._explained: dict[str, dict[str, Meaning]] = {}
        self._units = dict(study.units)
        self._plan_words = self._list_plan_words() if database.list_columns(OPTIONAL_PLAN) else None

    @property
    def units(self) -> dict[str, str]:
        """The base units of axes, and of the columns in named queries that have that of an axis."""
        return self._units

    def list_relations(self) -> dict[str, str]:
        """Return what a row of each relation is, by name; named queries with their purpose."""
        return dict(RELATIONS) | {name: query.purpose for name, query in self._queries.items()}

    def list_columns(self, name: str) -> list[str]:
        """Return the columns of a relation; none if the study lacks an axis that a named query needs."""
        try:
            self._make(name)
        except QueryError:
            return []
        return self._made.get(name, [])

    def narrow(self, rows: pa.Table) -> tuple[pa.Table, str]:
        """Return the columns that the study asks for of rows that have all those of a wide relation.

        The second value is a sentence on the columns that are left out; empty if all are there.
        """
        for name, first in self._first.items():
            left_out = self._made[name][first:]
            if set(self._made[name]) <= set(rows.column_names):
                sentence = (
                    f"{name}: the columns that the study asks for, of {rows.num_columns} in all; DESCRIBE "
                    f"{name} explains all, and destage query with --format csv prints them"
                )
                return rows.drop_columns(left_out), sentence
        return rows, ""

    def read_quantities(self, text: str) -> str:
        """Return a statement with quantities, as in `cache_capacity = '64MiB'`, in the units of columns."""

        def find_unit(name: str) -> str | None:
            columns = self.aliases.get(name, [name])
            return find_meaning(columns[0], self._meanings)[0] if len(columns) == 1 else None

        return replace_quantities(text, find_unit)

    def run(self, statement: ReadStatement, seconds: float | None = None) -> pa.Table:
        """Run a statement; the rows of DESCRIBE explain the columns, and SHOW TABLES the relations.

        Args:
            seconds: Its time limit, if it is not that of the session [s].
        """
        if not statement.explain and _LISTING.fullmatch(statement.select.strip()):
            listed = self.list_relations()
            return pa.table({"name": list(listed), "meaning": list(listed.values())})
        words = _list_words(statement.select)
        named = [name for name in (*RELATIONS, *self._queries) if name in words]
        failures: dict[str, DestageError] = {}
        for name in named:
            try:
                self._make(name)
            except (QueryError, StoreError) as error:
                # The word may be something else, such as a column; otherwise, the statement fails below.
                failures[name] = error
        if "runs" in self._made and self._plan_words is not None:
            is_plan_read = self._may_read_plan(statement.select, self._plan_words)
            self._publish("runs", "runs" if is_plan_read else OPTIONAL_PLAN)
        try:
            statement = replace(statement, select=self.read_quantities(statement.select))
            rows, unchanged = self._database.run(statement, self.aliases, self._made, seconds)
        except QueryError as error:
            explained = self._explain_unknown(error, failures)
            if explained is None:
                raise
            raise explained from error
        if rows.column_names != _DESCRIBED:
            return mark_computed(rows, unchanged)
        meanings = self._meanings.copy()
        for name in named:
            meanings |= self._explained.get(name, {})
        return explain_columns(rows, meanings)

    def _explain_unknown(
        self, error: QueryError, failures: Mapping[str, DestageError]
    ) -> DestageError | None:
        """Return why a relation does not exist, or with which name one does; None for other errors."""
        name = error.data.get("name")
        if error.code != "query.unknown-name":
            return None
        if name in failures or error.data["type"] != "Table":
            return failures.get(str(name))
        advice = suggest(name, self.list_relations()) or "; SHOW TABLES lists all"
        return QueryError(error.code, f"{error.message}{advice}", data=error.data)

    def _make(self, name: str) -> None:
        """Create the view of a relation, unless it exists."""
        if name in self._made:
            return
        self._prepare(name)
        if name in self._queries:
            text = self._study.write_query(name)
            query = self._study.parse(name, text)
            # Names in a view mean the relations of its own schema.
            self._database.add_view(name, self._define(text))
            self._units |= find_units(query, self._units)
            self._explained[name] = {column.name: (column.unit, column.meaning) for column in query.columns}
        elif name == MEASURED:
            # An axis may have the name of one of these columns, but another meaning.
            self._explained[name] = describe_columns()
            self._units |= MEASURED_UNITS
        columns = self._database.list_columns(name)
        if not columns:
            return  # the statement defines it itself
        if name in WIDE:
            columns, self._first[name] = order_columns(columns, list_asked(self._study))
        self._made[name] = [self._study.names.get(column, column) for column in columns]
        self._publish(name, name)

    def _publish(self, name: str, source: str) -> None:
        """Let a relation have the rows of a view."""
        paths = {column: path for path, column in self._study.names.items()}
        listed = (
            f"{quote(paths[column])} AS {quote(column)}" if column in paths else quote(column)
            for column in self._made[name]
        )
        statement = f"SELECT {', '.join(listed)} FROM main.{quote(source)}"  # noqa: S608 - names of the sweep, quoted
        self._database.publish_view(name, statement)

    def _list_plan_words(self) -> set[str]:
        """Return the words of the names of columns that only the plan has."""
        columns = set(self._database.list_columns("plan")) - {"run_id"}
        return _list_words(" ".join([*columns, *self._study.names.values(), *self.aliases]))

    def _may_read_plan(self, select: str, plan_words: set[str]) -> bool:
        """Return whether a statement may read columns of the plan; to be wrong costs time only.

        DuckDB keeps the outer join where a condition leaves few rows, for which the other view is faster.
        """
        text = _COUNT.sub("", select.lower())
        words = _list_words(text)
        return "*" in text or "select" not in words or not words.isdisjoint({"columns", "where", *plan_words})


def _list_words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
