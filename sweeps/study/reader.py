"""The reader of a study: it turns a document that fits the schema into a study, with all mistakes at once.

The JSON Schema of a study embeds the engine's schema of a configuration.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np

from destage import engine
from destage.errors import ConfigError, Issue
from destage.spec.axis_names import MAXIMIZE, MINIMIZE, name_answer
from destage.spec.near_names import suggest
from destage.spec.schema_tree import Node, as_word
from destage.spec.typed_tables import read_table, table_schema
from destage.spec.validation import validate_document
from destage.store.schemas.published_figures import KEYS, Publication, read_publication
from destage.sweeps.keys.calibrate_reader import list_limits, read_calibration
from destage.sweeps.keys.charts import Chart, find_chart_mistakes
from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.keys.prices import Prices, read_prices
from destage.sweeps.keys.refine_key import read_refinement
from destage.sweeps.keys.search_key import read_search
from destage.sweeps.keys.seek_key import read_seek
from destage.sweeps.keys.sensitivity_key import find_mistakes
from destage.sweeps.space.axes import in_base_units
from destage.sweeps.space.parameter_space import SpaceReader, explain_path, find_unitless
from destage.sweeps.space.parameters import find_parameter
from destage.sweeps.study.valid_study import DEFAULT_REPLICATES, Replicates, Study


@cache
def _own_schema() -> Node:
    """Return the schema of a study's own keys, for which a scenario is any table."""
    schema = table_schema(Study)
    del schema["description"]
    return schema


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of a study for editors, with the engine's schema of a configuration."""
    own = _own_schema()
    scenario = dict(engine.authoring_schema())
    definitions = scenario.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Destage study",
        **own,
        "properties": {**own["properties"], "scenario": scenario},
        "$defs": definitions,
    }


def study_keys() -> frozenset[str]:
    """Return the keys that a study may have."""
    return frozenset(_own_schema()["properties"])


def find_study_mistakes(document: Mapping[str, Any]) -> list[Issue]:
    """Return every mistake in a study's own keys; the engine validates the scenario, point by point."""
    return validate_document(document, _own_schema(), "study")


def drop_mistaken(document: Mapping[str, Any], issues: Sequence[Issue]) -> dict[str, Any]:
    """Return a study without the keys and axes that have mistakes."""
    mistaken = {issue.place.partition(".")[0] for issue in issues} - {"axes"}
    kept = {"name": "study"} | {key: value for key, value in document.items() if key not in mistaken}
    if isinstance(kept.get("axes"), Mapping):
        places = [f"{issue.place}." for issue in issues if issue.place.startswith("axes")]
        kept["axes"] = {
            path: values
            for path, values in kept["axes"].items()
            if not any(place.startswith((f"axes.{path}.", "axes..")) for place in places)
        }
    elif "axes" in kept:
        del kept["axes"]
    return kept


Found = TypeVar("Found")
_SOME_LEVELS = np.arange(64) / 64
_LONGEST_S = 10_000 * 86_400
"""Longest budget and time limit [s]."""


class StudyReader:
    """Turns a document that fits the schema into a study, and collects mistakes beyond the schema."""

    def __init__(self, document: Mapping[str, Any], *, needs_units: bool) -> None:
        self._document = document
        self._needs_units = needs_units
        self.issues: list[Issue] = []
        self._points: list[tuple[str | None, Mapping[str, object]]] = []
        self._publication = read_publication(document) if KEYS & document.keys() else Publication()
        self._check_figures()
        reader = SpaceReader(document, needs_units=needs_units)
        self._space, self._sampled = reader.space, reader.sampled
        self.issues += reader.issues
        self.issues += _find_expression_mistakes(document)
        self._read_points()
        self._labels = self._read("calibrate", lambda: (list_limits(document), ())) or []
        labelled = [*self._points, *((label, {}) for label in self._labels)]
        self._seek = self._read(
            "seek", lambda: read_seek(document, dict.fromkeys(self._space.paths), labelled)
        )
        self._answer = answer = None if self._seek is None else self._seek.metric
        self._read("sensitivity", lambda: (None, find_mistakes(document, answer)))
        self._prices = self._read("prices", self._read_prices)
        if self._seek and self._seek.cheapest and "prices" not in document:
            self._add("study.missing-key", "prices", "required by seek.cheapest")
        self._replicates = self._read_replicates()
        least = self._replicates.least
        self._search = self._read("search", lambda: read_search(document, self._sampled, answer))
        self._refinement = self._read("refine", lambda: read_refinement(document, self._space, answer))
        self._calibration = self._read(
            "calibrate", lambda: read_calibration(document, least, needs_units=needs_units)
        )
        for table, key in (("budget", "wall"), ("run", "timeout"), ("run", "commit_every")):
            self._check_duration(table, key)
        self._charts = self._read("charts", self._read_charts) or ()

    def study(self) -> Study:
        """Return the study, if there are no issues."""
        return read_table(
            Study,
            self._document,
            document=self._document,
            axes=self._space.axes,
            zips=self._space.zips,
            when=self._space.when,
            derived=self._space.derived,
            design=self._space.design,
            search=self._search,
            refine=self._refinement,
            calibrate=self._calibration,
            points=tuple(self._points),
            seek=self._seek,
            prices=self._prices,
            replicates=self._replicates,
            publication=self._publication,
            charts=self._charts,
        )

    def _read(self, key: str, read: Callable[[], tuple[Found, Sequence[Issue]]]) -> Found | None:
        """Return what a key says and keep the mistakes in it; None if the document does not have the key."""
        if key not in self._document:
            return None
        value, issues = read()
        self.issues += issues
        return value

    def _add(self, code: str, place: str, message: str, value: object = None) -> None:
        self.issues.append(Issue(code, place, message, value))

    def _check_figures(self) -> None:
        if self._publication.figures or self._publication.fitted:
            from destage.sweeps.keys.published_checks import find_figure_mistakes  # noqa: PLC0415 - loads duckdb

            self.issues += find_figure_mistakes(self._publication)

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
        written = self._document.get("replicates", DEFAULT_REPLICATES)
        if not isinstance(written, Mapping):
            return self._check_enough(Replicates(least=int(written), most=int(written)))
        replicates = read_table(Replicates, {"max": written["min"], **written})
        if replicates.least > replicates.most:
            message = f"must not be above replicates.max, {replicates.most}"
            self._add("study.bounds-reversed", "replicates.min", message, replicates.least)
        metric = replicates.metric
        if metric is None:
            return self._check_enough(replicates)
        allowed = [self._answer] if self._answer else sorted(metric_columns())
        # A seek with mistakes has issues of its own.
        if metric not in allowed and (self._answer or "seek" not in self._document):
            message = f"not a result of this study{suggest(metric, allowed)}"
            self._add("study.unknown-name", "replicates.until.interval_of", message, metric)
        return replicates

    def _check_enough(self, replicates: Replicates) -> Replicates:
        """Add a mistake if a search for the smallest value has too few replicates to know their scatter."""
        if self._seek and replicates.most < self._seek.least_replicates:
            message = "minimize needs at least 2 replicates of a value, to judge it by their scatter"
            self._add("study.out-of-range", "replicates", message, replicates.most)
        return replicates

    def _check_duration(self, table: str, key: str) -> None:
        """Add a mistake if a duration of the study itself is none."""
        written, place = self._document.get(table, {}).get(key), f"{table}.{key}"
        if written is None:
            return
        try:
            duration_s = float(in_base_units(written, "s", place))  # type: ignore[arg-type]
        except ConfigError as error:
            self.issues += error.issues
            return
        if not 0 < duration_s <= _LONGEST_S:
            message = f"must be above 0s and at most {_LONGEST_S // 86_400} d"
            self._add("study.out-of-range", place, message, written)

    def _read_charts(self) -> tuple[tuple[Chart, ...], list[Issue]]:
        # An axis with a mistake has an issue of its own; charts may still name it.
        # A few values of a sampled axis tell the type of its column.
        sampled = {path: axis.quantiles(_SOME_LEVELS) for path, axis in self._sampled.items()}
        unknowns = {} if self._calibration is None else self._calibration.unknowns
        drawn = {path: axis.quantiles(_SOME_LEVELS) for path, axis in unknowns.items() if "." in path}
        listed = {**self._space.listed, **sampled, **drawn}
        paths = [*self._document.get("axes", {}), *self._space.paths, *drawn]
        values = {path: list(listed.get(path, ())) for path in paths}
        for _, assignments in self._points:
            for path, value in assignments.items():
                values.setdefault(path, []).append(value)
        labels = [*(label for label, _ in self._points if label is not None), *self._labels]
        sought = self._document.get("seek", {})
        answers = {
            sought[goal]: name_answer(sought[goal], goal) for goal in (MAXIMIZE, MINIMIZE) if goal in sought
        }
        charts = tuple(read_table(Chart, written) for written in self._document["charts"])
        return charts, find_chart_mistakes(charts, values, labels, answers)

    def _read_prices(self) -> tuple[Prices | None, list[Issue]]:
        """Return the prices; each controller and disk of the study must have one."""
        document = self._document
        return read_prices(document["prices"], document["scenario"], self._space, self._points)


def _find_expression_mistakes(document: Mapping[str, Any]) -> Iterator[Issue]:
    """Yield the mistakes of expressions that are not a function of the point.

    A sweep that is resumed or extended expands its study again and must come to the same points.
    """
    texts = {
        f"{key}.{path}": text for key in ("when", "derived") for path, text in document.get(key, {}).items()
    }
    texts |= {"where": document["where"]} if "where" in document else {}
    for place, text in texts.items():
        from destage import sql  # noqa: PLC0415 - loads duckdb, which only an expression needs

        dependence = sql.find_dependence(text)
        if dependence is not None and dependence.is_random:
            message = f"{dependence.part} may have another value each time; a point must follow from its axes"
            yield Issue("study.nondeterministic", place, message, text)
        elif dependence is not None:
            message = f"{dependence.part} uses more than one point; use the axes of the point alone"
            yield Issue("study.bad-sql", place, message, text)
