"""The space of a study: its axes, alone, in groups that vary together, under conditions, and derived ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from destage.errors import ConfigError, Issue
from destage.spec.near_names import suggest
from destage.sweeps.space.axes import axis_values
from destage.sweeps.space.designs import Design, read_design
from destage.sweeps.space.distributions import (
    SCHEMAS,
    Choice,
    Distribution,
    list_quantities,
    read_distribution,
)
from destage.sweeps.space.parameters import explain_bare_number, explain_unknown, find_parameter

KEYS = frozenset({"axes", "zip", "when", "derived", "design"})
"""The keys of a study that a space is read from."""


@dataclass(frozen=True, slots=True)
class Space:
    """The parameters that the grid of a study assigns.

    Attributes:
        searched: The distribution of each axis that a search assigns, point by point.
        written: The paths of axes with a list or a distribution, in the order of the study.

    The others are those of `Study`.
    """

    axes: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    zips: tuple[Mapping[str, tuple[object, ...]], ...] = ()
    when: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    design: Design | None = None
    searched: Mapping[str, Distribution] = field(default_factory=dict)
    written: tuple[str, ...] = ()

    @property
    def listed(self) -> dict[str, tuple[object, ...]]:
        """The values of every axis that has a list of them, also of a choice."""
        values = dict(self.axes)
        for group in self.zips:
            values |= group
        sampled = self.searched if self.design is None else self.design.axes
        return values | {path: axis.values for path, axis in sampled.items() if isinstance(axis, Choice)}

    @property
    def varied(self) -> list[str]:
        """The paths of all axes of the grid: of `axes` in the order of the study, then of the groups."""
        sampled = () if self.design is None else self.design.axes
        single = [path for path in self.written if path in self.axes or path in sampled]
        grouped = [path for group in self.zips for path in group]
        return list(dict.fromkeys([*single, *self.axes, *sampled, *grouped]))

    @property
    def paths(self) -> list[str]:
        """The paths of all parameters that a point may assign beside explicit ones, derived ones last."""
        return [*self.varied, *self.searched, *self.derived]

    def locate(self, path: str) -> str:
        """Return the place in the study that gives a parameter its values."""
        for index, group in enumerate(self.zips):
            if path in group:
                return f"zip.{index}.{path}"
        return f"derived.{path}" if path in self.derived else f"axes.{path}"


def is_distribution(written: object) -> bool:
    """Whether an axis of a study is sampled."""
    return isinstance(written, Mapping) and bool(written.keys() & SCHEMAS.keys())


def explain_path(path: str, place: str) -> Issue | None:
    """Return the mistake of a dotted path that cannot be assigned; None if it can."""
    if path == "run.replicate":
        return Issue("study.replicate-axis", place, "not an axis: set `replicates` of the study")
    unknown = explain_unknown(path)
    return None if unknown is None else Issue("study.unknown-key", place, unknown)


def find_unitless(path: str, values: Sequence[object], place: str) -> Iterator[Issue]:
    """Yield a mistake for each number of a parameter that needs a unit."""
    parameter = find_parameter(path)
    for value in values:
        message = explain_bare_number(value, parameter.unit, parameter.suffix)
        if message is not None:
            yield Issue("study.bad-quantity", place, message, value)


class SpaceReader:
    """Reads the space of a document that fits the schema.

    Attributes:
        space: What has no mistake.
        sampled: The distribution of each sampled axis.
        issues: Every mistake beyond the schema.
    """

    def __init__(self, document: Mapping[str, Any], *, needs_units: bool) -> None:
        self._document = document
        self._needs_units = needs_units
        self.issues: list[Issue] = []
        self._axes: dict[str, tuple[object, ...]] = {}
        self.sampled: dict[str, Distribution] = {}
        written = document.get("axes", {})
        for path, values in written.items():
            self._read_axis(path, values)
        is_searched = "search" in document
        design = None if is_searched else self._read_design(document)
        zips = self._read_zips()
        self._varied = {*written, *(path for group in document.get("zip", []) for path in group)}
        self.space = Space(
            self._axes,
            zips,
            self._read_conditions(),
            self._read_derived(),
            design,
            self.sampled if is_searched else {},
            tuple(written),
        )

    def _read_design(self, document: Mapping[str, Any]) -> Design | None:
        paths = [path for path, written in document.get("axes", {}).items() if is_distribution(written)]
        if not paths and "design" not in document:
            return None
        design, issues = read_design(document.get("design"), self.sampled, paths)
        self.issues += issues
        return design

    def _read_axis(self, path: str, written: Any) -> None:
        place = f"axes.{path}"
        if not is_distribution(written):
            values = self._read_values(path, written, place, repeats=False)
            if values is not None:
                self._axes[path] = values
        elif self._can_read(path, list_quantities(written), place):
            try:
                self.sampled[path] = read_distribution(written, find_parameter(path), place)
            except ConfigError as error:
                self.issues += error.issues

    def _read_values(
        self, path: str, written: Any, place: str, *, repeats: bool
    ) -> tuple[object, ...] | None:
        """Return the values of an axis that is not sampled; None if there are mistakes."""
        if not self._can_read(path, _list_quantities(written), place):
            return None
        try:
            return axis_values(written, find_parameter(path), place, repeats=repeats)
        except ConfigError as error:
            self.issues += error.issues
            return None

    def _can_read(self, path: str, quantities: Sequence[object], place: str) -> bool:
        """Return whether a path can be assigned; add its mistake, and those of numbers without a unit."""
        issue = explain_path(path, place)
        if issue is not None:
            self.issues.append(issue)
        elif self._needs_units:
            self.issues += find_unitless(path, quantities, place)
        return issue is None

    def _read_zips(self) -> tuple[Mapping[str, tuple[object, ...]], ...]:
        groups: list[Mapping[str, tuple[object, ...]]] = []
        paths = set(self._document.get("axes", {}))
        for index, written in enumerate(self._document.get("zip", [])):
            group: dict[str, tuple[object, ...]] = {}
            for path, values in written.items():
                place = f"zip.{index}.{path}"
                if path in paths:
                    self._add("study.repeated-axis", place, "is an axis already")
                    continue
                paths.add(path)
                base_values = self._read_values(path, values, place, repeats=True)
                if base_values is not None:
                    group[path] = base_values
            (first, values), *others = [*group.items()] or [("", ())]
            for path, base_values in others:
                if len(base_values) != len(values):
                    message = f"{len(base_values)} values, but {first} has {len(values)}; they vary together"
                    self._add("study.unequal-lengths", f"zip.{index}.{path}", message)
            if len({len(base_values) for base_values in group.values()}) == 1:
                groups.append(group)
        return tuple(groups)

    def _read_conditions(self) -> Mapping[str, str]:
        conditions = self._document.get("when", {})
        for path in conditions:
            if path not in self._varied:
                message = f"not an axis of the study{suggest(path, sorted(self._varied))}"
                self._add("study.unknown-name", f"when.{path}", message)
        return {path: text for path, text in conditions.items() if path in self._varied}

    def _read_derived(self) -> Mapping[str, str]:
        expressions: dict[str, str] = {}
        for path, text in self._document.get("derived", {}).items():
            place = f"derived.{path}"
            issue = explain_path(path, place)
            if issue is not None:
                self.issues.append(issue)
            elif path in self._varied:
                self._add("study.repeated-axis", place, "is an axis already")
            elif not self._varied:
                self._add("study.no-effect", place, "the study has no axis to derive it from")
            else:
                expressions[path] = text
        return expressions

    def _add(self, code: str, place: str, message: str) -> None:
        self.issues.append(Issue(code, place, message))


def _list_quantities(written: Any) -> Sequence[object]:
    """Return the values of an axis that are quantities of its parameter; a count is none."""
    if not isinstance(written, Mapping):
        return list(written)
    (form, arguments), *_ = written.items()
    return list(arguments if form == "range" else arguments[:2])
