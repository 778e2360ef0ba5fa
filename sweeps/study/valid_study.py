"""A valid study: which configurations to run, and the question they answer."""

import copy
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import field as attribute
from typing import Annotated, Any

import yaml

from destage import engine
from destage.errors import ConfigError, Issue
from destage.spec import quantities
from destage.spec.schema_tree import Node, node
from destage.spec.source import Source
from destage.spec.typed_tables import key, table
from destage.store.schemas.published_figures import Publication
from destage.sweeps.keys.calibrate_settings import Calibration
from destage.sweeps.keys.charts import Chart
from destage.sweeps.keys.prices import Prices
from destage.sweeps.keys.refine_key import Refinement
from destage.sweeps.keys.search_key import Search
from destage.sweeps.keys.seek_key import Seek
from destage.sweeps.keys.sensitivity_key import Sensitivity
from destage.sweeps.space import distributions
from destage.sweeps.space.designs import Design
from destage.sweeps.space.distributions import Distribution
from destage.sweeps.space.parameter_space import Space

DEFAULT_REPLICATES = 5
_ENDS = "from, to (included)"
_LISTED = {
    name: node("array", f"[{_ENDS}{rest}", minItems=count, maxItems=count)
    for name, rest, count in (
        ("range", ", step].", 3),
        ("linspace", ", count]: equal differences.", 3),
        ("logspace", ", count]: equal ratios.", 3),
        ("log2", "]: each value is twice the one before.", 2),
    )
}


def _axis(description: str, forms: Mapping[str, Node]) -> Node:
    """Return the schema of an axis: a list, or a table of one of some forms."""
    return node(
        ["array", "object"],
        description,
        minItems=1,
        minProperties=1,
        maxProperties=1,
        additionalProperties=False,
        properties=forms,
    )


_AXIS = _axis(
    "The values of one parameter: a list, or one of range, linspace, logspace, log2; or its distribution, "
    "one of uniform, log_uniform, integer, choice, which `design` samples.",
    {**distributions.SCHEMAS, **_LISTED},
)
_ZIP = node(
    "object",
    "Axes that vary together, all with the same number of values: a list, or one of range, linspace, "
    "logspace, log2.",
    minProperties=2,
    additionalProperties=_axis("The values of one parameter.", _LISTED),
)
_POINT = {
    "type": "object",
    "minProperties": 1,
    "properties": {"label": node("string", "The name of the point in reports.")},
}
_Sql = Annotated[str, {"minLength": 1}]
Duration = str | float
"""A duration of the study itself, as it is written."""
Adding = Search | Refinement | Calibration
"""How a study adds points to its own, by the results of those so far."""


@table
class Until:
    """Add replicates until this 95 % interval is narrow enough."""

    interval_of: str = key("The answer, or a result column without its unit.")
    relative: float = key("The target half-width, as a fraction of the mean.", exclusiveMinimum=0)


@table
class Replicates:
    """The number of runs per point, with independent random streams."""

    least: int = key("The number for every point.", name="min", minimum=1)
    most: int = key("The maximum for a point.", name="max", optional=True, minimum=1)
    until: Until | None = key(default=None)

    @property
    def metric(self) -> str | None:
        """The quantity whose interval ends the replication; None if `least` is all."""
        return None if self.until is None else self.until.interval_of

    @property
    def relative(self) -> float:
        """The target half-width of its 95 % interval, as a fraction of the mean."""
        return 0.0 if self.until is None else self.until.relative


@table
class Budget:
    """Limits that stop the sweep; a stopped sweep can be resumed."""

    wall: Duration | None = key("Wall-clock time, such as 2h.", default=None)


@table
class Run:
    """How runs are executed; changes no result."""

    timeout: Duration | None = key("Time limit of one run, such as 10m (default: none).", default=None)
    commit_every: Duration = key(
        "Work after which a worker commits its rows; a lost worker costs at most this much.", default="10s"
    )


@table
class Study:
    """A valid study.

    Attributes:
        document: The study as written, with trace files absolute and bound to their content.
        axes: The values of each axis of the grid that varies alone, in base units.
        zips: The values of each axis of the groups.
        when: In the order of evaluation.
        derived: In the order of evaluation.
        design: None if no axis has a distribution.
        points: Label and assignments of each.
        source: The text that the study was parsed from, which locates mistakes.
    """

    document: Mapping[str, Any]
    name: str = key("The study's name: small letters, digits, - and _.", pattern="^[a-z0-9][a-z0-9_-]*$")
    question: str | None = key("The question that the study answers, in one sentence.", default=None)
    scenario: Mapping[str, Any] = key("The configuration that every point starts from.")
    axes: Mapping[str, tuple[object, ...]] = key(
        "The grid: parameters by dotted path, with their values.", optional=True, additionalProperties=_AXIS
    )
    zips: tuple[Mapping[str, tuple[object, ...]], ...] = key(
        "Groups of axes that vary together: the first values of all axes of a group, then the second "
        "ones. A group is combined with the other axes like one axis.",
        name="zip",
        items=_ZIP,
        default=(),
    )
    when: Mapping[str, _Sql] = key(
        "SQL conditions of axes by dotted path. Where the condition is not true, the axis is not "
        "assigned: the value of the scenario holds. An axis that is not assigned is NULL in later "
        "conditions, in `derived` and in `where`.",
        factory=dict,
    )
    derived: Mapping[str, _Sql] = key(
        "Parameters of grid points by dotted path, each an SQL expression over the axes and the earlier "
        "derived parameters, in base units. NULL assigns nothing.",
        factory=dict,
    )
    design: Design | None = key(
        "How axes with a distribution are sampled; every sampled point is combined with the grid of the "
        "others.",
        default=None,
    )
    search: Search | None = key(
        "Search the axes, each with a distribution, for the Pareto front of some objectives; without "
        "`design`.",
        default=None,
    )
    refine: Refinement | None = key(default=None)
    calibrate: Calibration | None = key(default=None)
    points: tuple[tuple[str | None, Mapping[str, object]], ...] = key(
        "Points beside the grid: parameters by dotted path, and a label.", optional=True, items=_POINT
    )
    where: str | None = key(
        "An SQL condition over the axes and derived parameters that grid points must meet.", default=None
    )
    seek: Seek | None = key(default=None)
    prices: Prices | None = key(default=None)
    replicates: Replicates = key(
        "Runs per point with independent random streams: a number, or bounds.",
        type=["integer", "object"],
        minimum=1,
        default=Replicates(least=DEFAULT_REPLICATES, most=DEFAULT_REPLICATES),
        shown=DEFAULT_REPLICATES,
    )
    budget: Budget = key(default=Budget())
    run: Run = key(default=Run())
    sensitivity: Sensitivity | None = key(default=None)
    publication: Publication = key(inline=True, factory=Publication)
    charts: tuple[Chart, ...] = key(
        "Charts that the report draws first, instead of its standard figures.", default=()
    )
    source: Source | None = attribute(default=None, compare=False, repr=False)

    @property
    def adding(self) -> Adding | None:
        """How points are added: trials of a search, values around knees, or waves of a calibration."""
        return self.search or self.refine or self.calibrate

    @property
    def has_sensitivity(self) -> bool:
        """Whether it asks how much each axis matters, by its key or by a design that is for this."""
        return self.sensitivity is not None or (self.design is not None and not self.design.is_even)

    @property
    def searched(self) -> Mapping[str, Distribution]:
        """The axes that trials assign, with their distributions."""
        return {} if self.search is None else self.search.axes

    @property
    def ceiling(self) -> float:
        """The largest answer that the rest of the system can allow."""
        return math.inf if self.calibrate is None else self.calibrate.ceiling

    @property
    def wall_s(self) -> float | None:
        """The budget of a session [s]."""
        return _to_seconds(self.budget.wall)

    @property
    def timeout_s(self) -> float | None:
        """The time limit of one run [s]."""
        return _to_seconds(self.run.timeout)

    @property
    def commit_every_s(self) -> float:
        """The work after which a worker commits its rows [s]."""
        return _to_seconds(self.run.commit_every) or 0.0

    @property
    def space(self) -> Space:
        """The parameters that the grid assigns."""
        written = tuple(self.document.get("axes", {}))
        return Space(self.axes, self.zips, self.when, self.derived, self.design, self.searched, written)

    @property
    def sought(self) -> str | None:
        """The sought parameter by dotted path; None if the study seeks nothing."""
        return None if self.seek is None else self.seek.path

    @property
    def answer(self) -> str | None:
        """The name of the answer for each point; None if the study seeks nothing."""
        return None if self.seek is None else self.seek.metric

    @property
    def found_seek(self) -> Seek:
        """The seek of a study that has one."""
        if self.seek is None:
            raise AssertionError("the study seeks nothing")
        return self.seek

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
        return self.seek is not None or self.replicates.metric is not None or self.adding is not None

    @property
    def id(self) -> str:
        """A digest of name, scenario and seek.

        Axes, points and replicates are not part of it, so that a study with added axis values continues the
        same sweep. A trace counts by its content, not its location.
        """
        scenario = copy.deepcopy(dict(self.scenario))
        for arrival in engine.configuration.find_replays(scenario):
            del arrival["file"]
        common = {"name": self.name, "scenario": scenario, "seek": self.document.get("seek")}
        if self.prices is not None:
            common["prices"] = self.document["prices"]
        text = json.dumps(common, sort_keys=True, default=str)
        return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def _to_seconds(written: Duration | None) -> float | None:
    return None if written is None else float(quantities.parse(written, "s"))
