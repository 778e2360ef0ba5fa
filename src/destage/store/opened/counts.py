"""The counts of a sweep."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a sweep.

    Attributes:
        present: Planned runs that have a result.
        later_runs: Runs that later rounds are expected to add; 0 where the writer recorded no forecast.
        later_runs_high: A number of them that is rarely exceeded.
    """

    planned: int
    present: int
    failed: int
    rounds: int
    later_runs: float = field(default=0.0, kw_only=True)
    later_runs_high: float = field(default=0.0, kw_only=True)
