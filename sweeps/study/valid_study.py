"""A valid study: which configurations to run, and the question they answer."""

import copy
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Any

import yaml

from destage import engine
from destage.errors import ConfigError, Issue
from destage.spec.source import Source
from destage.sweeps.keys.adding import Adding
from destage.sweeps.keys.prices import Prices
from destage.sweeps.keys.seek_key import Seek
from destage.sweeps.space.designs import Design
from destage.sweeps.space.distributions import Distribution
from destage.sweeps.space.parameter_space import Space


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
        searched: The axes that trials assign, with their distributions.
        adding: How points are added: trials of a search, values around knees, or waves of a calibration.
        points: Explicit points beside the grid: label and assignments.
        where: An SQL condition over the axes; None keeps the whole grid.
        wall_s: The budget of a session [s].
        commit_every_s: The work after which a worker commits its rows [s].
        timeout_s: The time limit of one run [s].
        prices: The prices of controllers and disks, where the study has them.
        ceiling: The largest answer that the rest of the system can allow.
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
    searched: Mapping[str, Distribution] = attribute(default_factory=dict)
    adding: Adding | None = None
    zips: tuple[Mapping[str, tuple[object, ...]], ...] = ()
    when: Mapping[str, str] = attribute(default_factory=dict)
    derived: Mapping[str, str] = attribute(default_factory=dict)
    ceiling: float = math.inf
    source: Source | None = attribute(default=None, compare=False, repr=False)

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
        for arrival in engine.traces.find_replays(scenario):
            del arrival["file"]
        common = {"name": self.name, "scenario": scenario, "seek": self.document.get("seek")}
        if self.prices is not None:
            common["prices"] = self.document["prices"]
        text = json.dumps(common, sort_keys=True, default=str)
        return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
