"""The objectives of a study as bounds on result columns, by which queries judge results."""

from collections.abc import Mapping
from typing import Any

from destage.queries.sizing import Bound
from destage.sweeps.objectives import Objective, parse_objective


def as_bound(one: Objective) -> Bound:
    """Return an objective as a bound on a result column."""
    return Bound(one.text, one.column, one.bound, is_upper=one.comparison.startswith("<"))


def list_bounds(spec: Mapping[str, Any], label: str | None) -> list[Bound]:
    """Return the objectives of the point with a label, in a study as it was run."""
    seek = spec.get("seek") or {}
    texts = seek.get("limits", {}).get(label) or seek.get("subject_to", [])
    return [as_bound(parse_objective(text, "seek.subject_to")) for text in texts]
