"""A study: which configurations to run, and the question they answer; parsed with all mistakes at once."""

import copy
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from destage import engine
from destage.engine.traces.places import resolve_place
from destage.errors import ConfigError, Issue
from destage.spec.axis_names import MAXIMIZE, MINIMIZE, name_answer
from destage.spec.documents import parse_document
from destage.spec.validation import suggest
from destage.sweeps.axes import axis_values, in_base_units
from destage.sweeps.objectives import metric_columns
from destage.sweeps.parameters import explain_unknown, find_parameter
from destage.sweeps.prices import Prices, read_prices
from destage.sweeps.seek import Seek, read_seek
from destage.sweeps.study_charts import find_chart_mistakes
from destage.sweeps.study_schema import find_study_mistakes, read_default

_LONGEST_S = 10_000 * 86_400
"""Longest budget and time limit [s]."""
TRACE_FILE = ".arrival.file"
"""The end of the dotted path of a trace's file."""


@dataclass(frozen=True, slots=True)
class Replicates:
    """The number of runs per point, with independent random streams.

    Attributes:
        least: The number for every point.
        most: The maximum for a point.
        metric: The quantity whose interval ends the replication; None if `least` is all.
        relative: The target half-width of its 95 % interval, as a fraction of the mean.
    """

    least: int
    most: int
    metric: str | None
    relative: float


@dataclass(frozen=True, slots=True)
class Study:
    """A valid study.

    Attributes:
        document: The study as written, with trace files absolute and bound to their content.
        scenario: The configuration that every point starts from.
        axes: The values of each axis in base units, by dotted path.
        points: Explicit points beside the grid: label and assignments.
        where: An SQL condition over the axes; None keeps the whole grid.
        wall_s: The budget of a session [s].
        timeout_s: The time limit of one run [s].
        prices: The prices of controllers and disks, where the study has them.
    """

    document: Mapping[str, Any]
    name: str
    scenario: Mapping[str, Any]
    axes: Mapping[str, tuple[object, ...]]
    points: tuple[tuple[str | None, Mapping[str, object]], ...]
    where: str | None
    seek: Seek | None
    replicates: Replicates
    wall_s: float | None
    timeout_s: float | None = None
    prices: Prices | None = None

    @property
    def is_adaptive(self) -> bool:
        """Whether later runs depend on the results of earlier ones."""
        return self.seek is not None or self.replicates.metric is not None

    @property
    def id(self) -> str:
        """A digest of name, scenario and seek.

        Axes, points and replicates are not part of it, so that a study with added axis values continues the
        same sweep. A trace counts by its content, not its location.
        """
        scenario = copy.deepcopy(dict(self.scenario))
        for arrival in engine.traces.find_replays(scenario):
            del arrival["file"]
        common = {"name": self.name, "scenario": scenario, "seek": self.document.get("seek")}
        if self.prices is not None:
            common["prices"] = self.document["prices"]
        text = json.dumps(common, sort_keys=True, default=str)
        return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def parse_study(text: str | bytes, *, name: str = "study", folder: Path | None = None) -> Study:
    """Parse a study.

    Args:
        name: Its name in messages.
        folder: The folder of relative trace files (default: the working directory).

    Raises:
        ConfigError: With every mistake.
    """
    document = _bind_traces(parse_fields(text, name), (folder or Path()).absolute())
    reader = _Reader(document)
    if reader.issues:
        raise ConfigError(reader.issues, name)
    return reader.study()


def parse_fields(text: str | bytes, name: str) -> dict[str, Any]:
    """Parse the fields of a study as written, without reading its traces."""
    document = parse_document(text, name, "study")
    if not isinstance(document, dict):
        message = "a study must be a table with at least name and scenario"
        raise ConfigError([Issue("study.wrong-type", "", message)], name)
    issues = find_study_mistakes(document)
    if issues:
        raise ConfigError(issues, name)
    return document


class _Reader:
    """Turns a document that fits the schema into a study, and collects mistakes beyond the schema."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self.issues: list[Issue] = []
        self._axes: dict[str, tuple[object, ...]] = {}
        self._points: list[tuple[str | None, Mapping[str, object]]] = []
        self._check_figures()
        self._read_axes()
        self._read_points()
        self._seek, issues = read_seek(document, self._axes, self._points)
        self.issues += issues
        self._prices = self._read_prices()
        self._replicates = self._read_replicates()
        self._wall_s = self._read_duration("budget", "wall")
        self._timeout_s = self._read_duration("run", "timeout")
        self._check_charts()

    def study(self) -> Study:
        """Return the study, if there are no issues."""
        return Study(
            document=self._document,
            name=self._document["name"],
            scenario=self._document["scenario"],
            axes=self._axes,
            points=tuple(self._points),
            where=self._document.get("where"),
            seek=self._seek,
            replicates=self._replicates,
            wall_s=self._wall_s,
            timeout_s=self._timeout_s,
            prices=self._prices,
        )

    def _add(self, code: str, place: str, message: str, value: object = None) -> None:
        self.issues.append(Issue(code, place, message, value))

    def _check_figures(self) -> None:
        if "published" in self._document or "fitted" in self._document:
            from destage.sweeps.published_checks import find_figure_mistakes  # noqa: PLC0415 - loads duckdb

            self.issues += find_figure_mistakes(self._document)

    def _is_parameter(self, path: str, place: str) -> bool:
        """Whether a dotted path can be assigned; if not, add the mistake."""
        unknown = explain_unknown(path)
        if path == "run.replicate":
            self._add("study.replicate-axis", place, "not an axis: set `replicates` of the study")
        elif unknown is not None:
            self._add("study.unknown-key", place, unknown)
        return path != "run.replicate" and unknown is None

    def _read_axes(self) -> None:
        for path, written in self._document.get("axes", {}).items():
            place = f"axes.{path}"
            if self._is_parameter(path, place):
                try:
                    self._axes[path] = axis_values(written, find_parameter(path), place)
                except ConfigError as error:
                    self.issues += error.issues

    def _read_points(self) -> None:
        for index, written in enumerate(self._document.get("points", [])):
            assignments = {key: value for key, value in written.items() if key != "label"}
            for path in assignments:
                self._is_parameter(path, f"points.{index}.{path}")
            self._points.append((written.get("label"), assignments))

    def _read_replicates(self) -> Replicates:
        written = self._document.get("replicates", read_default("replicates"))
        if not isinstance(written, Mapping):
            return Replicates(int(written), int(written), None, 0.0)
        least, most = int(written["min"]), int(written.get("max", written["min"]))
        if least > most:
            message = f"must not be above replicates.max, {most}"
            self._add("study.bounds-reversed", "replicates.min", message, least)
        until = written.get("until")
        if until is None:
            return Replicates(least, most, None, 0.0)
        metric = until["interval_of"]
        sought = self._document.get("seek")
        allowed = [self._seek.metric] if self._seek is not None else sorted(metric_columns())
        # A seek with mistakes has issues of its own.
        if metric not in allowed and (sought is None or self._seek is not None):
            message = f"not a result of this study{suggest(metric, allowed)}"
            self._add("study.unknown-name", "replicates.until.interval_of", message, metric)
        return Replicates(least, most, metric, float(until["relative"]))

    def _read_duration(self, table: str, key: str) -> float | None:
        """Return a duration of the study itself [s]."""
        written, place = self._document.get(table, {}).get(key), f"{table}.{key}"
        if written is None:
            return None
        try:
            duration_s = float(in_base_units(written, "s", place))  # type: ignore[arg-type]
        except ConfigError as error:
            self.issues += error.issues
            return None
        if not 0 < duration_s <= _LONGEST_S:
            message = f"must be above 0s and at most {_LONGEST_S // 86_400} d"
            self._add("study.out-of-range", place, message, written)
        return duration_s

    def _check_charts(self) -> None:
        # An axis with a mistake has an issue of its own; charts may still name it.
        values = {path: list(self._axes.get(path, ())) for path in self._document.get("axes", {})}
        for _, assignments in self._points:
            for path, value in assignments.items():
                values.setdefault(path, []).append(value)
        labels = [label for label, _ in self._points if label is not None]
        sought = self._document.get("seek", {})
        answers = {
            sought[goal]: name_answer(sought[goal], goal) for goal in (MAXIMIZE, MINIMIZE) if goal in sought
        }
        self.issues += find_chart_mistakes(self._document.get("charts", []), values, labels, answers)

    def _read_prices(self) -> Prices | None:
        """Return the prices; each controller and disk of the study must have one."""
        written = self._document.get("prices")
        if written is None:
            if self._seek is not None and self._seek.cheapest is not None:
                self._add("study.missing-key", "prices", "required by seek.cheapest")
            return None
        prices, issues = read_prices(written, self._document["scenario"], self._axes, self._points)
        self.issues += issues
        return prices


def _bind_traces(document: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Make every trace file absolute, and bind the scenario's traces to their content."""
    bound = copy.deepcopy(dict(document))
    bound["scenario"] = engine.traces.bind(bound["scenario"], folder)
    for path, written in bound.get("axes", {}).items():
        if path.endswith(TRACE_FILE) and isinstance(written, list):
            bound["axes"][path] = [_absolute(file, folder) for file in written]
    for point in bound.get("points", []):
        for path in point:
            if path.endswith(TRACE_FILE):
                point[path] = _absolute(point[path], folder)
    return bound


def _absolute(file: object, folder: Path) -> object:
    return str(resolve_place(file, folder)) if isinstance(file, str) else file
