"""A study: which configurations to run, and the question they answer; parsed with all mistakes at once."""

import copy
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from destage import engine
from destage.errors import ConfigError, Issue, TraceError
from destage.spec.axis_names import MAXIMIZE, MINIMIZE, name_answer
from destage.spec.base_units import as_word
from destage.spec.documents import parse_document
from destage.spec.source import Source
from destage.spec.validation import suggest
from destage.sweeps.axes import in_base_units
from destage.sweeps.bare_numbers import find_bare_numbers, is_json
from destage.sweeps.calibration.reader import list_limits, read_calibration
from destage.sweeps.calibration.settings import Calibration
from destage.sweeps.designs import Design
from destage.sweeps.objectives import metric_columns
from destage.sweeps.parameters import find_parameter
from destage.sweeps.pareto_search import Search, read_search
from destage.sweeps.point_expressions import find_expression_mistakes
from destage.sweeps.prices import Prices, read_prices
from destage.sweeps.refinement_key import Refinement, read_refinement
from destage.sweeps.seek import Seek, read_seek
from destage.sweeps.sensitivity_key import find_mistakes
from destage.sweeps.space import Space, SpaceReader, explain_path, find_unitless
from destage.sweeps.study_charts import find_chart_mistakes
from destage.sweeps.study_schema import drop_mistaken, find_study_mistakes, read_default, study_keys
from destage.sweeps.trace_files import bind_traces

_SOME_LEVELS = np.arange(64) / 64
_ABSENCES = frozenset({"study.missing-key", "study.no-effect", "study.unknown-name"})
"""Mistakes that something which is not there may cause."""
_DEPENDENT = frozenset({"design", "search", "refine", "when", "derived"})
"""Keys that need axes, or each other."""
_LONGEST_S = 10_000 * 86_400
"""Longest budget and time limit [s]."""


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
        axes: The values of each axis of the grid that varies alone, in base units, by dotted path.
        zips: The groups of axes that vary together; the values of each axis.
        when: The SQL condition of each axis that only some points assign, in the order of evaluation.
        derived: The SQL expression of each derived parameter, in the order of evaluation.
        design: How the axes with a distribution are sampled; None if there are none.
        search: How they are searched for a Pareto front.
        refinement: The axis whose knees get more values.
        points: Explicit points beside the grid: label and assignments.
        where: An SQL condition over the axes; None keeps the whole grid.
        wall_s: The budget of a session [s].
        commit_every_s: The work after which a worker commits its rows [s].
        timeout_s: The time limit of one run [s].
        prices: The prices of controllers and disks, where the study has them.
        calibration: What to learn from measured figures.
        source: The text that the study was parsed from, which locates mistakes.
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
    commit_every_s: float
    timeout_s: float | None = None
    prices: Prices | None = None
    design: Design | None = None
    search: Search | None = None
    refinement: Refinement | None = None
    zips: tuple[Mapping[str, tuple[object, ...]], ...] = ()
    when: Mapping[str, str] = attribute(default_factory=dict)
    derived: Mapping[str, str] = attribute(default_factory=dict)
    calibration: Calibration | None = None
    source: Source | None = attribute(default=None, compare=False, repr=False)

    @property
    def space(self) -> Space:
        """The parameters that the grid assigns."""
        written = tuple(self.document.get("axes", {}))
        searched = {} if self.search is None else self.search.axes
        return Space(self.axes, self.zips, self.when, self.derived, self.design, searched, written)

    def error(self, issues: Iterable[Issue]) -> ConfigError:
        """Return an error with mistakes of this study, with their lines and columns."""
        return ConfigError(issues, self.name) if self.source is None else self.source.error(issues)

    @property
    def stored_text(self) -> str:
        """The study as a sweep stores it."""
        return yaml.safe_dump(dict(self.document), sort_keys=False, allow_unicode=True)

    @property
    def is_adaptive(self) -> bool:
        """Whether later runs depend on the results of earlier ones."""
        return self.seek is not None or self.replicates.metric is not None or self.adds_points

    @property
    def adds_points(self) -> bool:
        """Whether the results of points lead to further ones."""
        return self.search is not None or self.refinement is not None or self.calibration is not None

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


def parse_study(
    text: str | bytes, *, name: str = "study", folder: Path | None = None, is_stored: bool = False
) -> Study:
    """Parse a study.

    Args:
        name: Its name in messages, usually its file.
        folder: The folder of relative trace files (default: the working directory).
        is_stored: Whether it was parsed before: numbers without a unit are then accepted.

    Raises:
        ConfigError: With every mistake; if there are any, also those of the points.
        TraceError: A trace cannot be read, and the study has no other mistake.
    """
    source = Source(name, text)
    written = _parse_table(text, source)
    issues = find_study_mistakes(written)
    document = drop_mistaken(written, issues)
    if not isinstance(document.get("scenario"), Mapping):
        raise source.error(issues)
    if (message := engine.scenario_schema.explain_wrong_table(document["scenario"])) is not None:
        raise source.error([*issues, Issue("study.wrong-type", "scenario", message)])
    needs_units = not is_stored and not is_json(text)
    if needs_units:
        issues += [_in_scenario(issue) for issue in find_bare_numbers(document["scenario"])]
    unreadable: TraceError | None = None
    try:
        document = bind_traces(document, (folder or Path()).absolute())
    except TraceError as error:
        unreadable = error
    except ConfigError as error:
        issues += error.issues
    reader = _Reader(document, needs_units=needs_units)
    issues += _drop_consequences(reader.issues, issues)
    if not issues:
        if unreadable is not None:
            raise unreadable
        return replace(reader.study(), source=source)
    from destage.sweeps.point_mistakes import add_point_mistakes  # noqa: PLC0415 - it expands studies

    issues = add_point_mistakes(issues, reader.study())
    raise source.error([*issues, *(unreadable.issues if unreadable is not None else ())])


def _drop_consequences(found: Iterable[Issue], schema: Iterable[Issue]) -> list[Issue]:
    """Return mistakes without those that only say that a part with a mistake of its own is not there."""
    if not any(_key(issue) in {"axes", "zip", "design", "search"} for issue in schema):
        return list(found)
    return [issue for issue in found if issue.code not in _ABSENCES or _key(issue) not in _DEPENDENT]


def _key(issue: Issue) -> str:
    """Return the key of the study that has a mistake."""
    return issue.place.partition(".")[0]


def parse_fields(text: str | bytes, name: str) -> dict[str, Any]:
    """Parse the fields of a study as written, without its traces, which other machines may read.

    Raises:
        ConfigError: With every mistake.
    """
    source = Source(name, text)
    document = _parse_table(text, source)
    issues = find_study_mistakes(document) or _find_own_mistakes(document, needs_units=not is_json(text))
    if issues:
        try:
            parse_study(text, name=name)
        except ConfigError as error:
            issues = [issue for issue in error.issues if not issue.code.startswith("trace.")]
        raise source.error(issues)
    return document


def _find_own_mistakes(document: Mapping[str, Any], *, needs_units: bool) -> list[Issue]:
    """Return the mistakes of a study that fits the schema, except those of its points."""
    bare = find_bare_numbers(document["scenario"]) if needs_units else []
    return [*map(_in_scenario, bare), *_Reader(document, needs_units=needs_units).issues]


def _parse_table(text: str | bytes, source: Source) -> dict[str, Any]:
    document = parse_document(text, source.name, "study")
    if not isinstance(document, dict) or not study_keys() & document.keys():
        message = "not a study, which is a table with at least name and scenario"
        raise source.error([Issue("study.wrong-type", "", message)])
    return document


def _in_scenario(issue: Issue) -> Issue:
    return replace(issue, place=f"scenario.{issue.place}")


class _Reader:
    """Turns a document that fits the schema into a study, and collects mistakes beyond the schema."""

    def __init__(self, document: Mapping[str, Any], *, needs_units: bool) -> None:
        self._document = document
        self._needs_units = needs_units
        self.issues: list[Issue] = []
        self._points: list[tuple[str | None, Mapping[str, object]]] = []
        self._check_figures()
        reader = SpaceReader(document, needs_units=needs_units)
        self._space, self._sampled = reader.space, reader.sampled
        self.issues += reader.issues
        self.issues += find_expression_mistakes(document)
        self._read_points()
        self._labels = list_limits(document)
        labelled = [*self._points, *((label, {}) for label in self._labels)]
        self._seek, issues = read_seek(document, dict.fromkeys(self._space.paths), labelled)
        self.issues += issues
        self.issues += find_mistakes(document, None if self._seek is None else self._seek.metric)
        self._prices = self._read_prices()
        answer = None if self._seek is None else self._seek.metric
        self._search, issues = read_search(document, self._sampled, answer)
        self.issues += issues
        self._refinement, issues = read_refinement(document, self._space, answer)
        self.issues += issues
        self._replicates = self._read_replicates()
        self._calibration, issues = read_calibration(
            document, self._replicates.least, needs_units=needs_units
        )
        self.issues += issues
        self._wall_s = self._read_duration("budget", "wall")
        self._timeout_s = self._read_duration("run", "timeout")
        default_s = float(in_base_units(read_default("run", "commit_every"), "s", "run.commit_every"))  # type: ignore[arg-type]
        self._commit_every_s = self._read_duration("run", "commit_every") or default_s
        self._check_charts()

    def study(self) -> Study:
        """Return the study, if there are no issues."""
        return Study(
            document=self._document,
            name=self._document["name"],
            scenario=self._document["scenario"],
            axes=self._space.axes,
            zips=self._space.zips,
            when=self._space.when,
            derived=self._space.derived,
            design=self._space.design,
            points=tuple(self._points),
            where=self._document.get("where"),
            seek=self._seek,
            replicates=self._replicates,
            wall_s=self._wall_s,
            timeout_s=self._timeout_s,
            commit_every_s=self._commit_every_s,
            prices=self._prices,
            search=self._search,
            refinement=self._refinement,
            calibration=self._calibration,
        )

    def _add(self, code: str, place: str, message: str, value: object = None) -> None:
        self.issues.append(Issue(code, place, message, value))

    def _check_figures(self) -> None:
        if "published" in self._document or "fitted" in self._document:
            from destage.sweeps.published_checks import find_figure_mistakes  # noqa: PLC0415 - loads duckdb

            self.issues += find_figure_mistakes(self._document)

    def _read_points(self) -> None:
        for index, written in enumerate(self._document.get("points", [])):
            assignments = {key: value for key, value in written.items() if key != "label"}
            for path, value in assignments.items():
                place = f"points.{index}.{path}"
                issue = explain_path(path, place)
                if issue is not None:
                    self.issues.append(issue)
                else:
                    self.issues += find_unitless(path, [value], place) if self._needs_units else ()
                    assignments[path] = as_word(value, find_parameter(path).words)
            self._points.append((written.get("label"), assignments))

    def _read_replicates(self) -> Replicates:
        written = self._document.get("replicates", read_default("replicates"))
        if not isinstance(written, Mapping):
            return self._check_enough(Replicates(int(written), int(written), None, 0.0))
        least, most = int(written["min"]), int(written.get("max", written["min"]))
        if least > most:
            message = f"must not be above replicates.max, {most}"
            self._add("study.bounds-reversed", "replicates.min", message, least)
        until = written.get("until")
        if until is None:
            return self._check_enough(Replicates(least, most, None, 0.0))
        metric = until["interval_of"]
        sought = self._document.get("seek")
        allowed = [self._seek.metric] if self._seek is not None else sorted(metric_columns())
        # A seek with mistakes has issues of its own.
        if metric not in allowed and (sought is None or self._seek is not None):
            message = f"not a result of this study{suggest(metric, allowed)}"
            self._add("study.unknown-name", "replicates.until.interval_of", message, metric)
        return Replicates(least, most, metric, float(until["relative"]))

    def _check_enough(self, replicates: Replicates) -> Replicates:
        """Add a mistake if a search for the smallest value has too few replicates to know their scatter."""
        if replicates.most < 2 and self._seek is not None and self._seek.is_minimum:  # noqa: PLR2004
            message = "minimize needs at least 2 replicates of a value, to judge it by their scatter"
            self._add("study.out-of-range", "replicates", message, replicates.most)
        return replicates

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
        # A few values of a sampled axis tell the type of its column.
        sampled = {path: axis.quantiles(_SOME_LEVELS) for path, axis in self._sampled.items()}
        unknowns = {} if self._calibration is None else self._calibration.unknowns
        drawn = {path: axis.quantiles(_SOME_LEVELS) for path, axis in unknowns.items() if "." in path}
        known = {**self._space.listed, **sampled, **drawn}
        paths = [*self._document.get("axes", {}), *self._space.paths, *drawn]
        values = {path: list(known.get(path, ())) for path in paths}
        for _, assignments in self._points:
            for path, value in assignments.items():
                values.setdefault(path, []).append(value)
        labels = [*(label for label, _ in self._points if label is not None), *self._labels]
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
        prices, issues = read_prices(written, self._document["scenario"], self._space, self._points)
        self.issues += issues
        return prices
