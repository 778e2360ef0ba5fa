"""The views with a mean and an interval for each result column, also of only those that a statement names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from destage.engine import limiting_resource
from destage.queries.tables import views
from destage.sql import quote

MEANS = ("points", "certified")
"""The names of the views."""
_HEADER = re.compile(r"\A(?:\s|--[^\n]*\n)+")
"""The comments above a statement."""


@dataclass(frozen=True, slots=True)
class MeanViews:
    """The views `points` and `certified` of one sweep.

    Attributes:
        axes: The dotted paths of the axes.
        probed: The dotted path of the sought parameter; empty if nothing is sought.
        repeats_replicates: Whether a point has several runs of one replicate (and probed value).
        rows_per_point: The number of plan rows per point, if it is the same for all points.
    """

    axes: Sequence[str]
    probed: Sequence[str]
    repeats_replicates: bool
    rows_per_point: int | None

    def define(self, statement: str) -> str:
        """Return a SELECT with those of the views that it names, of the result columns that it names.

        To bind all result columns takes longer than to read the rows of a small sweep.
        """
        statement = _HEADER.sub("", statement, count=1)
        text = statement.lower()
        columns = [name for name in views.list_measured_columns() if name in text]
        if "limiting_resource" in text:
            columns = list(dict.fromkeys([*columns, *limiting_resource.columns_needed()]))
        means = ", ".join(f"{name} AS ({self._build(name, columns)})" for name in MEANS if name in text)
        if not means:
            return statement
        is_with = text.startswith("with")
        return f"WITH {means}, {statement[4:]}" if is_with else f"WITH {means} {statement}"

    def build(self, name: str) -> str:
        """Return the statement of a view with all result columns, in the order of the plan."""
        probed = map(quote, self.probed) if name == "points" else ()
        statement = self._build(name, views.list_measured_columns())
        return f"{statement} ORDER BY {', '.join(['plan_row', *probed])}"

    def _build(self, name: str, columns: Sequence[str]) -> str:
        """Return the statement of a view with some result columns, in any order."""
        if name == "certified":
            return views.build_certified_view(self.axes, columns)
        return views.build_points_view(
            self.axes,
            self.probed,
            columns,
            repeats_replicates=self.repeats_replicates,
            rows_per_point=self.rows_per_point,
        )
