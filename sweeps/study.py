"""A study: which configurations to run and what to find out; read from YAML, all mistakes at once."""

import copy
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from destage import engine
from destage.engine.traces.places import placed
from destage.errors import ConfigError, Issue
from destage.spec import quantities
from destage.spec.documents import parse_document
from destage.spec.validation import suggest
from destage.sweeps import axes as axis_values
from destage.sweeps import parameters
from destage.sweeps.objectives import Objective, metric_columns, parse_objective
from destage.sweeps.published_checks import figure_mistakes
from destage.sweeps.study_charts import chart_mistakes
from destage.sweeps.study_schema import default, study_mistakes

TRACE_FILE = ".arrival.file"
"""How the dotted path of a trace's file ends."""


@dataclass(frozen=True, slots=True)
class Seek:
    """The search for the largest value of one integer parameter that meets every objective.

    Attributes:
        path: The parameter's dotted path.
        objectives: What a run must meet.
        start: The first value tried.
        least: The smallest value considered.
        most: The largest value considered.
        confirm: How many values just below the answer must pass as well before it is believed.
    """

    path: str
    objectives: tuple[Objective, ...]
    start: int
    least: int
    most: int
    confirm: int

    @property
    def metric(self) -> str:
        """What the answer is called: `users_supported` for `workload.users`."""
        return f"{self.path.rpartition('.')[2]}_supported"


@dataclass(frozen=True, slots=True)
class Replicates:
    """How often each point is run with other random streams.

    Attributes:
        least: The number every point gets.
        most: The number that no point exceeds.
        metric: What must be known well enough before a point gets no more; None where `least` is all.
        relative: The half-width of its 95 % interval that is aimed at, as a fraction of the mean.
    """

    least: int
    most: int
    metric: str | None
    relative: float


@dataclass(frozen=True, slots=True)
class Study:
    """A study, read and checked.

    Attributes:
        document: The study as written, with trace files made absolute and tied to their content.
        name: Its name.
        scenario: The configuration that every point starts from.
        axes: The values of each axis, by dotted path, in base units.
        points: Explicit points, beside the grid: their label and their assignments.
        where: An SQL condition over the axes; None keeps the whole grid.
        seek: What is sought, if anything.
        replicates: How often each point is run.
        wall_s: The wall-clock budget [s], if there is one.
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

    @property
    def id(self) -> str:
        """A digest of what the study's runs have in common: name, scenario and what is sought.

        Axes, points and replicates do not enter it, so that a study with added axis values continues the
        same sweep. A trace counts by its content, wherever it lies.
        """
        scenario = copy.deepcopy(dict(self.scenario))
        for arrival in engine.traces.replays(scenario):
            del arrival["file"]
        common = {"name": self.name, "scenario": scenario, "seek": self.document.get("seek")}
        text = json.dumps(common, sort_keys=True, default=str)
        return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def parse_study(text: str | bytes, *, name: str = "study", folder: Path | None = None) -> Study:
    """Read a study from YAML text.

    Args:
        text: The YAML text, or the bytes of its file.
        name: What messages call it.
        folder: The folder that relative trace files lie in; by default the working directory.

    Raises:
        ConfigError: The text is no study; all mistakes are in its issues.
    """
    document = _bind_traces(parse_fields(text, name), (folder or Path()).absolute())
    reader = _Reader(document)
    if reader.issues:
        raise _mistaken(name, reader.issues)
    return reader.study()


def parse_fields(text: str | bytes, name: str) -> dict[str, Any]:
    """Read the fields of a study as they are written; its traces are not read.

    Args:
        text: The YAML text, or the bytes of its file.
        name: What messages call it.

    Raises:
        ConfigError: The fields are not those of a study.
    """
    document = parse_document(text, name)
    if not isinstance(document, dict):
        raise ConfigError(f"{name}: a study is a table of fields with at least name and scenario")
    issues = study_mistakes(document)
    if issues:
        raise _mistaken(name, issues)
    return document


class _Reader:
    """Turns a document that fits the study's schema into a study, gathering what the schema cannot say."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self.issues: list[Issue] = []
        self._axes: dict[str, tuple[object, ...]] = {}
        self._points: list[tuple[str | None, Mapping[str, object]]] = []
        self.issues += figure_mistakes(document)
        self._read_axes()
        self._read_points()
        self._seek = self._read_seek()
        self._replicates = self._read_replicates()
        self._wall_s = self._read_wall()
        self._check_charts()

    def study(self) -> Study:
        """Return the study; only to be called when there are no issues."""
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
        )

    def _read_axes(self) -> None:
        for path, written in self._document.get("axes", {}).items():
            problem = _problem(path)
            if problem is not None:
                self.issues.append(Issue(f"axes.{path}", path, problem))
                continue
            leaf = parameters.leaf(path)
            try:
                self._axes[path] = axis_values.values(written, leaf)
            except ConfigError as error:
                self.issues += [Issue(f"axes.{path}", issue.value, issue.message) for issue in error.issues]

    def _read_points(self) -> None:
        for index, written in enumerate(self._document.get("points", [])):
            assignments = {key: value for key, value in written.items() if key != "label"}
            for path in assignments:
                problem = _problem(path)
                if problem is not None:
                    self.issues.append(Issue(f"points.{index}.{path}", path, problem))
            self._points.append((written.get("label"), assignments))

    def _read_seek(self) -> Seek | None:
        written = self._document.get("seek")
        if written is None:
            return None
        path = written["maximize"]
        problem = parameters.unknown(path)
        if problem is not None:
            self.issues.append(Issue("seek.maximize", path, problem))
            return None
        leaf = parameters.leaf(path)
        if not leaf.is_integer:
            self.issues.append(
                Issue("seek.maximize", path, "only a parameter counted in whole numbers can be sought")
            )
        if path in self._axes or any(path in assignments for _, assignments in self._points):
            self.issues.append(Issue("seek.maximize", path, "is sought, so it cannot be an axis as well"))
        objectives = []
        for index, text in enumerate(written["subject_to"]):
            try:
                objectives.append(parse_objective(text))
            except ConfigError as error:
                self.issues += [
                    Issue(f"seek.subject_to.{index}", text, issue.message) for issue in error.issues
                ]
        least, most = self._read_bounds(written, leaf)
        # JSON Schema takes 100.0 for a whole number.
        start, confirm = (int(written.get(key, default("seek", key))) for key in ("start", "confirm"))
        return Seek(path, tuple(objectives), min(max(start, least), most), least, most, confirm)

    def _read_bounds(self, written: Mapping[str, Any], leaf: parameters.Leaf) -> tuple[int, int]:
        """Return the bounds of a search; those that are not written give way to the parameter's own."""
        least, most = (int(written.get(key, default("seek", key))) for key in ("min", "max"))
        if leaf.least is not None and least < leaf.least:
            if "min" in written:
                self.issues.append(Issue("seek.min", least, f"must be at least {leaf.least}"))
            least = int(leaf.least)
        if leaf.most is not None and most > leaf.most:
            if "max" in written:
                self.issues.append(Issue("seek.max", most, f"must be at most {leaf.most}"))
            most = int(leaf.most)
        if least > most:
            self.issues.append(Issue("seek.min", least, f"must not be above seek.max, which is {most}"))
        return least, most

    def _read_replicates(self) -> Replicates:
        written = self._document.get("replicates", default("replicates"))
        if not isinstance(written, Mapping):
            return Replicates(int(written), int(written), None, 0.0)
        least, most = int(written["min"]), int(written.get("max", written["min"]))
        if least > most:
            self.issues.append(
                Issue("replicates.min", least, f"must not be above replicates.max, which is {most}")
            )
        until = written.get("until")
        if until is None:
            return Replicates(least, most, None, 0.0)
        metric = until["interval_of"]
        sought = self._document.get("seek")
        allowed = [self._seek.metric] if self._seek is not None else sorted(metric_columns())
        # A seek with mistakes has its own issues; what it measures cannot be judged.
        if metric not in allowed and (sought is None or self._seek is not None):
            message = f"is not what this study measures{suggest(metric, allowed)}"
            self.issues.append(Issue("replicates.until.interval_of", metric, message))
        return Replicates(least, most, metric, float(until["relative"]))

    def _read_wall(self) -> float | None:
        written = self._document.get("budget", {}).get("wall")
        if written is None:
            return None
        try:
            wall_s = float(quantities.parse(written, "s"))
        except ConfigError as error:
            self.issues += [Issue("budget.wall", written, issue.message) for issue in error.issues]
            return None
        if wall_s <= 0:
            self.issues.append(Issue("budget.wall", written, "must be above 0s"))
        return wall_s

    def _check_charts(self) -> None:
        # What a chart says of a mistaken axis can be right: such an axis has an issue of its own.
        values = {path: list(self._axes.get(path, ())) for path in self._document.get("axes", {})}
        for _, assignments in self._points:
            for path, value in assignments.items():
                values.setdefault(path, []).append(value)
        labels = [label for label, _ in self._points if label is not None]
        sought = self._document.get("seek", {}).get("maximize")
        self.issues += chart_mistakes(self._document.get("charts", []), values, labels, sought)


def _bind_traces(document: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Make every trace file absolute, and tie the scenario's to their content."""
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


def _problem(path: str) -> str | None:
    """Return why a parameter cannot be an axis, or None when it can."""
    if path == "run.replicate":
        return "is counted by the study itself; replicates says how many there are"
    return parameters.unknown(path)


def _absolute(file: object, folder: Path) -> object:
    return str(placed(file, folder)) if isinstance(file, str) else file


def _mistaken(name: str, issues: list[Issue]) -> ConfigError:
    count = "one mistake" if len(issues) == 1 else f"{len(issues)} mistakes"
    return ConfigError(f"{name}: {count} in the study", tuple(issues))
