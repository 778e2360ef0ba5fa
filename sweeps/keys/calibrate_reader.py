"""Turns the `calibrate` of a study that fits the schema into a calibration, with all mistakes at once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from destage.errors import ConfigError, Issue
from destage.spec import quantities
from destage.spec.axis_names import MAXIMIZE, MINIMIZE, name_answer
from destage.spec.near_names import suggest
from destage.spec.schema_tree import as_word
from destage.spec.typed_tables import read_table
from destage.sweeps.keys.calibrate_settings import (
    CEILING,
    DISCREPANCY,
    LIMIT,
    LINE,
    MEASURED,
    TOLERANCE,
    Calibration,
    Candidate,
    Figure,
    Reference,
    Statement,
)
from destage.sweeps.keys.objectives import FORM, REQUIRES_UNIT, is_bare, metric_columns
from destage.sweeps.space.axes import in_base_units
from destage.sweeps.space.distributions import Distribution, list_quantities, read_distribution
from destage.sweeps.space.parameters import Parameter, explain_bare_number, explain_unknown, find_parameter

_NO_GRID = ("axes", "points", "design")
_PLAIN = Parameter(None, is_integer=True)
"""What the values of `ceiling` and `limit` are."""


def read_calibration(
    document: Mapping[str, Any], replicates: int, *, needs_units: bool
) -> tuple[Calibration | None, list[Issue]]:
    """Return the calibration of a document that fits the schema, and every mistake in it.

    Args:
        needs_units: Whether a number without a unit is a mistake where the parameter has one.
    """
    reader = _Reader(document, needs_units=needs_units)
    calibration = reader.read()
    if replicates < 2:  # noqa: PLR2004
        message = "calibrate needs at least 2 replicates, to know the simulation error of a figure"
        reader.add("study.out-of-range", "replicates", message, replicates)
    return (calibration if not reader.issues else None), reader.issues


def list_limits(document: Mapping[str, Any]) -> list[str]:
    """Return the labels that a calibration's unknown limit gives to its points."""
    limit = document["calibrate"]["unknowns"].get(LIMIT, {})
    written = limit.get("choice", []) if isinstance(limit, Mapping) else []
    return [str(label) for label in written]


class _Reader:
    def __init__(self, document: Mapping[str, Any], *, needs_units: bool) -> None:
        self._document = document
        self._written = document["calibrate"]
        self._needs_units = needs_units
        sought = document.get("seek") or {}
        goals = [goal for goal in (MAXIMIZE, MINIMIZE) if goal in sought]
        self._answer = name_answer(sought[goals[0]], goals[0]) if goals else None
        self._sought = sought[goals[0]] if goals else None
        self._awaits_values = MEASURED in self._written
        self.issues: list[Issue] = []

    def read(self) -> Calibration:
        for key in _NO_GRID:
            if key in self._document:
                message = "a study with calibrate has no grid: its points are draws of the unknowns"
                self.add("study.no-effect", key, message)
        if MINIMIZE in (self._document.get("seek") or {}):
            message = "calibrate needs seek.maximize, or no seek"
            self.add("study.one-of", "seek.minimize", message)
        if self._awaits_values and self._answer is not None:
            message = f"a figure is {self._answer} here, the answer of seek, which no measured line has"
            self.add("study.no-effect", f"calibrate.{MEASURED}", message)
        unknowns = self._read_unknowns()
        figures = {name: self._read_figure(name) for name in self._written["figures"]}
        self._check_uses(figures.values())
        return read_table(
            Calibration,
            self._written,
            unknowns=unknowns,
            figures=figures,
            fits=self._read_fits(figures),
            candidates={name: self._read_candidate(name) for name in self._written.get("candidates", ())},
            where=self._document.get("where"),
        )

    def add(self, code: str, place: str, message: str, value: object = None) -> None:
        self.issues.append(Issue(code, place, message, value))

    def _read_unknowns(self) -> dict[str, Distribution]:
        distributions = {}
        for name, written in self._written["unknowns"].items():
            place = f"calibrate.unknowns.{name}"
            parameter = self._find_parameter(name, place)
            if parameter is None:
                continue
            if name == LIMIT:
                self._check_limit(written, place)
            elif name == CEILING and self._sought is None:
                self.add("study.no-effect", place, "only an answer of seek.maximize has a ceiling")
            if self._sought == name:
                self.add("study.axis-is-sought", place, "cannot be unknown and the sought parameter", name)
            self._check_units(parameter, list_quantities(written), place)
            try:
                distributions[name] = read_distribution(written, parameter, place)
            except ConfigError as error:
                self.issues += error.issues
        return distributions

    def _find_parameter(self, name: str, place: str) -> Parameter | None:
        """Return the parameter that an unknown is a value of; None if there is none."""
        if name in {LIMIT, CEILING}:
            return _PLAIN
        if "." in name:
            unknown = explain_unknown(name)
            if name == "run.replicate":
                self.add("study.replicate-axis", place, "not an unknown: set `replicates` of the study")
                return None
            if unknown is not None:
                self.add("study.unknown-key", place, unknown)
                return None
            return find_parameter(name)
        uses = [
            path
            for figure in self._written["figures"].values()
            for path, value in figure["set"].items()
            if isinstance(value, Mapping) and value.get("unknown") == name
        ]
        if not uses:
            message = f"neither a dotted path nor used: write `{{unknown: {name}}}` in the `set` of a figure"
            self.add("study.no-effect", place, message)
            return None
        return find_parameter(uses[0]) if explain_unknown(uses[0]) is None else None

    def _check_limit(self, written: Mapping[str, Any], place: str) -> None:
        limits = list((self._document.get("seek") or {}).get("limits", {}))
        if "choice" not in written:
            self.add("study.one-of", place, "must be a choice of the names in seek.limits")
            return
        for label in written["choice"]:
            if label not in limits:
                message = f"not a name in seek.limits{suggest(str(label), limits)}"
                self.add("study.unknown-name", place, message, label)

    def _read_figure(self, name: str) -> Figure:
        written, place = self._written["figures"][name], f"calibrate.figures.{name}"
        of = written.get("of", self._answer)
        column = self._find_column(of, place)
        if LINE in written and ("value" in written or not self._awaits_values):
            message = "only with calibrate.measured, and in a figure without value"
            self.add("study.no-effect", f"{place}.{LINE}", message)
        unit = column.unit if column is not None else None
        value = self._read_value(written.get("value"), unit, f"{place}.value")
        against = written.get("against")
        ends = (
            None
            if against is None
            else tuple(self._read_value(end, unit, f"{place}.against") or 0.0 for end in against)
        )
        if ends is not None and ends[0] >= ends[1]:
            self.add("study.bounds-reversed", f"{place}.against", "needs its first value below its second")
        return read_table(
            Figure,
            written,
            name=name,
            set=self._read_set(written["set"], f"{place}.set"),
            of=of or "",
            column=None if column is None else column.name,
            value=value,
            tolerance=self._read_tolerance(written.get("tolerance"), value, unit, f"{place}.tolerance"),
            discrepancy=self._read_discrepancy(written, place),
            odds=tuple(
                statement
                for index, text in enumerate(written.get("odds", []))
                if (statement := self._read_statement(text, of, unit, f"{place}.odds.{index}"))
            ),
            against=ends,
        )

    def _read_candidate(self, name: str) -> Candidate:
        written, place = self._written["candidates"][name], f"calibrate.candidates.{name}"
        if name in self._written["figures"]:
            self.add("study.duplicate-name", place, "is the name of a figure", name)
        of = written.get("of", self._answer)
        if of is None:
            message = "needs the result column that would be measured, such as response_mean"
            self.add("study.missing-key", f"{place}.of", message)
        column = None if of is None else self._find_column(of, place)
        return read_table(
            Candidate,
            written,
            name=name,
            set=self._read_set(written["set"], f"{place}.set"),
            of=of or "",
            column=None if column is None else column.name,
            tolerance=self._read_share(written.get("tolerance", TOLERANCE), f"{place}.tolerance"),
            discrepancy=self._read_discrepancy({}, place),
        )

    def _find_column(self, of: str | None, place: str) -> Any:
        """Return the result column of a figure; None if it is the study's answer, or a mistake."""
        if of is None and self._awaits_values:
            return None
        if of is None:
            message = "a study without seek needs the result column of each figure, such as response_mean"
            self.add("study.missing-key", f"{place}.of", message)
        elif self._answer is not None and of != self._answer:
            message = f"in a study with seek, a figure is its answer, {self._answer}"
            self.add("study.unknown-name", f"{place}.of", message, of)
        elif self._answer is None and of not in metric_columns():
            message = f"no result column has this name{suggest(of, metric_columns())}"
            self.add("study.unknown-name", f"{place}.of", message, of)
        return metric_columns().get(of) if self._answer is None and of is not None else None

    def _read_set(self, written: Mapping[str, Any], place: str) -> dict[str, object]:
        assigned: dict[str, object] = {}
        unknowns = list(self._written["unknowns"])
        for path, value in written.items():
            path_place = f"{place}.{path}"
            unknown = explain_unknown(path)
            if path == self._sought:
                self.add("study.axis-is-sought", path_place, "cannot be set and the sought parameter", path)
            elif unknown is not None or path == "run.replicate":
                self.add("study.unknown-key", path_place, unknown or "not a parameter of a figure")
            elif isinstance(value, Mapping) and "unknown" in value:
                name = value["unknown"]
                if name not in unknowns:
                    message = f"no unknown has this name{suggest(str(name), unknowns)}"
                    self.add("study.unknown-name", path_place, message, name)
                assigned[path] = Reference(str(name))
            else:
                parameter = find_parameter(path)
                self._check_units(parameter, [value], path_place)
                try:
                    assigned[path] = as_word(
                        in_base_units(value, parameter.unit, path_place), parameter.words
                    )
                except ConfigError as error:
                    self.issues += error.issues
        return assigned

    def _check_units(self, parameter: Parameter, values: Sequence[object], place: str) -> None:
        for value in values if self._needs_units else ():
            message = explain_bare_number(value, parameter.unit, parameter.suffix)
            if message is not None:
                self.add("study.bad-quantity", place, message, value)

    def _read_value(self, written: object, unit: str | None, place: str) -> float | None:
        """Return a value of a figure [base unit]."""
        if written is None:
            return None
        if unit in REQUIRES_UNIT and self._needs_units and isinstance(written, int | float):
            example = quantities.UNITS[unit].example
            self.add("study.bad-quantity", place, f"needs a unit, as in {example!r}", written)
            return None
        known_unit = unit if unit in quantities.UNITS else None
        try:
            return float(in_base_units(written, known_unit, place))  # type: ignore[arg-type]
        except ConfigError as error:
            self.issues += error.issues
        except ValueError:
            self.add("study.bad-quantity", place, "must be a number", written)
        return None

    def _read_tolerance(self, written: object, value: float | None, unit: str | None, place: str) -> float:
        if written is None or value is None:
            return 0.0
        if isinstance(written, str) and written.strip().endswith("%"):
            return abs(value) * self._read_share(written, place)
        tolerance = self._read_value(written, unit, place) or 0.0
        if tolerance < 0:
            self.add("study.out-of-range", place, "must not be below 0", written)
        return tolerance

    def _read_discrepancy(self, figure: Mapping[str, Any], place: str) -> float:
        if "discrepancy" in figure:
            return self._read_share(figure["discrepancy"], f"{place}.discrepancy")
        common = self._written.get("discrepancy", DISCREPANCY)
        return self._read_share(common, "calibrate.discrepancy")

    def _read_share(self, written: object, place: str) -> float:
        try:
            share = float(in_base_units(written, "fraction", place))  # type: ignore[arg-type]
        except ConfigError as error:
            self.issues += [issue for issue in error.issues if issue not in self.issues]
            return 0.0
        if not 0 <= share <= 1 and not any(issue.place == place for issue in self.issues):
            self.add("study.out-of-range", place, "must be from 0 to 100 %", written)
        return share

    def _read_statement(self, text: str, of: str | None, unit: str | None, place: str) -> Statement | None:
        match = FORM.fullmatch(text)
        if match is None or (of and match.group(1) != of):
            message = f"must have the form '{of or 'response_mean'} >= 96', with a unit if it has one"
            self.add("study.bad-objective", place, message, text)
            return None
        bound = self._read_value(match.group(3), unit, place)
        if bound is None:
            return None
        if unit in REQUIRES_UNIT and is_bare(match.group(3)):
            example = quantities.UNITS[unit].example
            self.add("study.bad-quantity", place, f"the bound needs a unit, as in {example!r}", text)
        return Statement(text, match.group(2).startswith(">"), bound)

    def _check_uses(self, figures: Iterable[Figure]) -> None:
        """Add a mistake for each unknown that no figure depends on."""
        sets = [figure.set for figure in figures]
        for name in self._written["unknowns"]:
            if "." in name and all(name in assigned for assigned in sets):
                message = "every figure sets it, so that it changes nothing"
                self.add("study.no-effect", f"calibrate.unknowns.{name}", message)

    def _read_fits(self, figures: Mapping[str, Figure]) -> dict[str, tuple[str, ...]]:
        measured = [
            name
            for name, figure in self._written["figures"].items()
            if "value" in figure or self._awaits_values
        ]
        if not measured:
            message = "no figure has a value to fit on"
            self.add("study.missing-key", "calibrate.figures", message)
            return {"prior": ()}
        written = self._written.get("fits", {"all measured figures": measured})
        first = next(iter(written.values()))
        for fit, names in written.items():
            place = f"calibrate.fits.{fit}"
            for name in names:
                if name not in figures:
                    self.add(
                        "study.unknown-name", place, f"no figure has this name{suggest(name, figures)}", name
                    )
                elif name not in measured:
                    self.add(
                        "study.missing-key", f"calibrate.figures.{name}", "needs a value to be fitted on"
                    )
                elif self._awaits_values and "value" not in self._written["figures"][name]:
                    continue
                elif "tolerance" not in self._written["figures"][name]:
                    message = "needs a tolerance to be fitted on, such as 5%"
                    self.add("study.missing-key", f"calibrate.figures.{name}", message)
                elif figures[name].tolerance == 0 and figures[name].discrepancy == 0:
                    message = "tolerance and discrepancy cannot both be 0"
                    self.add("study.out-of-range", f"calibrate.figures.{name}.tolerance", message)
            for name in set(first) - set(names):
                message = f"must have the figures of the first fit; lacks {name!r}"
                self.add("study.missing-key", place, message)
        return {fit: tuple(dict.fromkeys(names)) for fit, names in written.items()}
