"""A calibration from a study of tests and a measured set, whose lines have the figures of these tests."""

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from destage.errors import ConfigError, Issue, StoreError
from destage.measured.line import MeasuredLine
from destage.measured.sets import read_set
from destage.objects import Location
from destage.spec.near_names import suggest
from destage.sweeps.keys.calibrate_reader import read_calibration
from destage.sweeps.keys.calibrate_settings import LINE, MEASURED, TOLERANCE
from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.space import distributions
from destage.sweeps.study.valid_study import Study

_RESULTS = ("response_mean", "read_response_mean", "write_response_mean", "throughput_iops")
"""What is fitted of a line, unless the study states it: the first one that it has."""
_SHOWN = {"us": (1e-3, "ms"), "s": (1.0, "s"), "bytes": (1.0, "B"), "bytes/s": (1e-6, "MB/s")}
"""The unit that a value is written in, by base unit."""


def bind_figures(study: Study, store: Location) -> Study:
    """Return a study whose figures have the values of its measured set, so that it no longer needs the set.

    Figures with a value of their own keep it.

    Raises:
        ConfigError: The set does not exist, or lacks a line or result that a figure needs.
        StoreError: The set is damaged.
    """
    written = study.document.get("calibrate", {})
    if MEASURED not in written:
        return study
    name = written[MEASURED]
    try:
        lines = read_set(store, name).lines
    except StoreError as error:
        if error.code != "store.unknown-measured-set":
            raise
        issue = error.issues[0]
        raise study.error([Issue(error.code, f"calibrate.{MEASURED}", issue.message, name)]) from error
    document = copy.deepcopy(dict(study.document))
    figures = document["calibrate"]["figures"]
    binder = _Binder(name, lines)
    document["calibrate"]["figures"] = {
        label: binder.bind(label, figure) for label, figure in figures.items()
    }
    del document["calibrate"][MEASURED]
    if not binder.issues and not binder.has_bound:
        message = (
            f"no figure has the name of a measured workload ({binder.known}); give a figure its `{LINE}`"
        )
        binder.issues.append(Issue("study.unknown-name", f"calibrate.{MEASURED}", message, name))
    if binder.issues:
        raise study.error(binder.issues)
    calibration, issues = read_calibration(document, study.replicates.least, needs_units=False)
    if issues:
        raise study.error(issues)
    return replace(study, document=document, calibrate=calibration)


def measure(line: MeasuredLine, result: str | None = None) -> dict[str, object]:
    """Return the figure of a line: `of`, value with its unit, tolerance and source; empty without the result.

    Args:
        result: A result column without its unit (default: the first of the usual ones that the line has).
    """
    for of in _RESULTS if result is None else (result,):
        column = metric_columns()[of]
        value = getattr(line, column.name, None)
        if value is not None:
            scale, unit = _SHOWN.get(column.unit, (1.0, ""))
            number = round(value * scale, 6)
            shown: object = f"{number}{unit}" if unit else number
            source = f"{line.tool}, {Path(line.source_file).name}"
            return {"of": of, "value": shown, "tolerance": TOLERANCE, "source": source}
    return {}


class _Binder:
    """Gives figures their values, and collects the mistakes."""

    def __init__(self, name: str, lines: Sequence[MeasuredLine]) -> None:
        self._name = name
        self._lines = lines
        self.issues: list[Issue] = []
        self.has_bound = False
        self.known = ", ".join(dict.fromkeys(str(line.workload) for line in lines))

    def bind(self, label: str, figure: Mapping[str, Any]) -> dict[str, Any]:
        """Return a figure with the value of its line; as it is, if it has a value or no line."""
        kept = {key: value for key, value in figure.items() if key != LINE}
        if "value" in kept:
            return kept
        line = self._find_line(label, figure.get(LINE))
        if line is None:
            if LINE not in figure and "of" not in kept and self._count(label) == 0:
                message = f"no line has this workload ({self.known}); to predict the figure, state what it is"
                self._add("study.missing-key", f"{label}.of", message)
            return kept
        measured = measure(line, kept.get("of"))
        if not measured:
            lacks = "this result" if "of" in kept else "any result to fit on"
            column = metric_columns()[kept.get("of", _RESULTS[0])].name
            message = f"the line does not have {lacks}: {line.explain(column)}"
            self._add(
                "study.no-measured-value", f"{label}.of" if "of" in kept else label, message, kept.get("of")
            )
            return kept
        self.has_bound = True
        return measured | kept

    def _count(self, workload: str) -> int:
        return sum(line.workload == workload for line in self._lines)

    def _find_line(self, label: str, wanted: str | int | None) -> MeasuredLine | None:
        """Return the line of a figure: the one that it names, or the one with its own name as workload."""
        if isinstance(wanted, int):
            if 1 <= wanted <= len(self._lines):
                return self._lines[wanted - 1]
            message = f"the measured set {self._name!r} has lines 1 to {len(self._lines)}"
            self._add("study.unknown-name", f"{label}.{LINE}", message, wanted)
            return None
        workload = label if wanted is None else wanted
        numbers = [number for number, line in enumerate(self._lines, start=1) if line.workload == workload]
        if len(numbers) > 1:
            message = f"lines {', '.join(map(str, numbers))} have this workload: give the number of one"
            self._add("study.ambiguous-line", f"{label}.{LINE}", message, workload)
        elif not numbers and wanted is not None:
            workloads = [str(line.workload) for line in self._lines]
            hint = suggest(wanted, workloads) or f"; workloads: {self.known}"
            message = f"no line of the measured set {self._name!r} has this workload{hint}"
            self._add("study.unknown-name", f"{label}.{LINE}", message, wanted)
        return self._lines[numbers[0] - 1] if len(numbers) == 1 else None

    def _add(self, code: str, place: str, message: str, value: object = None) -> None:
        self.issues.append(Issue(code, f"calibrate.figures.{place}", message, value))


_FORM = re.compile(r"([^=]+)=(\w+):(.+)")
_REPLICATES = 3


def make_calibration(
    document: Mapping[str, Any], lines: Sequence[MeasuredLine], unknowns: Sequence[str]
) -> dict[str, Any]:
    """Return a study that calibrates the points of another one on measured lines.

    A line belongs to the point with the name of its workload as its label. Points without a line are to be
    predicted.

    Args:
        document: A study with labelled points, as `destage workload import --study` writes it.
        unknowns: Priors as `PATH=FORM:VALUE,VALUE`, such as `array.disks=integer:2,8`.

    Raises:
        ConfigError: A prior is malformed, or no line belongs to a point.
    """
    points = {point["label"]: point for point in document.get("points", []) if "label" in point}
    figures: dict[str, dict[str, object]] = {
        str(label): {
            "set": {path: value for path, value in point.items() if path != "label"},
            "of": "response_mean",
        }
        for label, point in points.items()
    }
    for line in lines:
        if line.workload in figures:
            figures[line.workload] |= measure(line)
    if not any("value" in figure for figure in figures.values()):
        names = [str(line.workload) for line in lines]
        hint = suggest(names[0], list(figures)) if names else ""
        message = f"no point has the label of a measured workload ({', '.join(names)}){hint}"
        raise ConfigError([Issue("study.unknown-name", "points", message)])
    kept = {key: value for key, value in document.items() if key not in {"points", "axes", "seek", "charts"}}
    replicates = kept.get("replicates", _REPLICATES)
    return {
        **kept,
        "name": f"{document['name']}_calibrated",
        "replicates": max(replicates, 2) if isinstance(replicates, int) else replicates,
        "calibrate": {"unknowns": dict(map(read_prior, unknowns)), "figures": figures},
    }


def read_prior(text: str) -> tuple[str, dict[str, object]]:
    """Return the path and the prior of `PATH=FORM:VALUE,VALUE`."""
    match = _FORM.fullmatch(text)
    forms = list(distributions.SCHEMAS)
    if match is None or match.group(2) not in forms:
        message = f"must have the form PATH=FORM:VALUE,VALUE; forms: {', '.join(forms)}"
        raise ConfigError([Issue("study.bad-form", "--unknown", message, text)])
    path, form, values = match.groups()
    return path.strip(), {form: [_read_value(value.strip()) for value in values.split(",")]}


def _read_value(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
