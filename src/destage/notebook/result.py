"""The result of one simulation."""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from destage import engine
from destage.notebook.html import render_cells
from destage.queries.text.presentation import format_number
from destage.spec.documents import MOST_BYTES, read_beginning
from destage.sweeps.reading.scenario_text import check_units, locate_mistakes, parse_scenario


class Result(Mapping[str, Any]):
    """A result row: the value of each column by its name [the unit in its name].

    `result["response_p95_us"]` and `result.response_p95_us` are the same value.
    """

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = dict(row)

    def __getitem__(self, column: str) -> Any:
        return self._row[column]

    def __getattr__(self, column: str) -> Any:
        try:
            return self.__dict__["_row"][column]
        except KeyError:
            raise AttributeError(
                f"no result column {column!r}; destage catalog list columns lists them"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._row)

    def __len__(self) -> int:
        return len(self._row)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._row]

    def __repr__(self) -> str:
        shown = (
            "status",
            "requests",
            "throughput_iops",
            "response_p95_us",
            "hit_ratio",
            "disk_busy_max_fraction",
        )
        return f"Result({', '.join(f'{name}={self._row[name]!r}' for name in shown if name in self._row)})"

    def _repr_html_(self) -> str:
        meanings = {column.name: column.meaning for column in engine.columns()}
        rows = [
            (name, _show(value), meanings[name])
            for name, value in self._row.items()
            if value is not None and not isinstance(value, list)
        ]
        return (
            f"<p>{escape(str(self._row['status']))}</p>{render_cells(('column', 'value', 'meaning'), rows)}"
        )


def run_once(scenario: engine.Scenario | Path, *, folder: str | Path = ".") -> Result:
    """Run one configuration."""
    if isinstance(scenario, Mapping) or (isinstance(scenario, str) and scenario.lstrip().startswith("{")):
        return Result(engine.simulate(scenario, folder=folder))
    file = Path(scenario)
    fields, source = parse_scenario(read_beginning(file, MOST_BYTES), str(file), file.parent)
    with locate_mistakes(source, []):
        check_units(fields, [], source)
        return Result(engine.simulate(fields, folder=file.parent / folder))


def _show(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return format_number(value) if is_number else str(value)  # type: ignore[arg-type]
