"""The kinds of studies, as readers of a sweep tell them apart: by what answers each of its points."""

from collections.abc import Mapping
from typing import Any, ClassVar

from destage.engine import configuration
from destage.spec.axis_names import is_maximum


class FixedLoad:
    """A study at a fixed load, which its response times answer; a kind overrides what it changes.

    Attributes:
        name: Its name in the header of a named query.
        queries: The values of `studies` there that fit it, the closest first.
        source: The relation with the result of each point, with the name of the answers to be filled in.
        value: The result as SQL over it, smaller is better.
        best: The points with the best results in words.
        has_throughput: Whether a higher throughput of a point makes up for a worse result.
        below_answer: Where a point of a seek is measured; `{name}` is the sought parameter.
    """

    name: ClassVar[str] = "fixed"
    queries: ClassVar[tuple[str, ...]] = ("fixed", "any")
    source: ClassVar[str] = "points"
    value: ClassVar[str] = "response_p95_us"
    best: ClassVar[str] = "the lowest response time (95th percentile)"
    has_throughput: ClassVar[bool] = True
    below_answer: ClassVar[str] = ""

    def name_result(self, metric: str | None) -> str:
        """Return the column that answers the study."""
        del metric
        return self.value

    def build_replicates(self, metric: str | None) -> str:
        """Return the statement of `replicates`: the run of each replicate that shows its result."""
        del metric
        return "SELECT * FROM runs WHERE status = 'ok'"


class TraceReplay(FixedLoad):
    """A replay of a trace as fast as it completes."""

    name = "replay"
    queries = ("replay", "fixed", "any")
    value = "completion_time_s"
    best = "the shortest completion time"


class LargestSeek(FixedLoad):
    """A search of each point for the largest value that meets the objectives."""

    name = "seek"
    queries: ClassVar[tuple[str, ...]] = ("seek", "any")
    source = (
        "(SELECT configurations.*, {answer} AS answer FROM configurations LEFT JOIN answers USING (point_id))"
    )
    value = "-answer"
    best = "the largest load"
    has_throughput = False
    below_answer = "of the largest {name} run below"
    is_shown: ClassVar[str] = "certificates.state = 'certified'"
    """Whether a run shows a value, as SQL."""

    def name_result(self, metric: str | None) -> str:
        """Return the name of the answers."""
        return str(metric)

    def build_replicates(self, metric: str | None) -> str:
        """Return the statement of `replicates`; an answer that is only a bound is null there."""
        from destage.sql import quote  # noqa: PLC0415 - loads Arrow, which `simulate` does without

        return f"""
SELECT runs.*, CASE WHEN {self.is_shown} THEN certificates.n END AS {quote(str(metric))}
FROM runs
JOIN certificates ON certificates.point_id = runs.point_id
  AND certificates.replicate = runs.replicate
  AND certificates.run_id_pass = runs.run_id
"""  # noqa: S608 - the name of the answers, quoted


class SmallestSeek(LargestSeek):
    """A search for the smallest value, at which replicates are judged together."""

    name = "minimum"
    queries = ("minimum", "seek", "any")
    value = "answer"
    best = "the smallest answer"
    below_answer = "at"
    is_shown = "certificates.state = 'certified' AND runs.replicate = 0"


KINDS: Mapping[str, FixedLoad] = {
    kind.name: kind for kind in (LargestSeek(), SmallestSeek(), TraceReplay(), FixedLoad())
}


def find_kind(metric: str | None, config: Mapping[str, Any]) -> FixedLoad:
    """Return the kind of a study; no other place tells them apart.

    A replay at the recorded times takes as long as the recording: its load is fixed.

    Args:
        metric: The name of its answers, if it seeks a value.
        config: The configuration of one of its runs.
    """
    if metric is not None:
        return KINDS["seek" if is_maximum(metric) else "minimum"]
    modes = {arrival.get("mode") for arrival in configuration.find_replays(config)}
    return KINDS["replay" if modes - {"open"} else "fixed"]
