"""The objectives of a study as it was run, by which queries judge results."""

from collections.abc import Mapping
from typing import Any

from destage.spec.objective import Objective
from destage.sweeps.keys.objectives import parse_objective


def list_objectives(spec: Mapping[str, Any], label: str | None) -> list[Objective]:
    """Return the objectives of the point with a label, in a study as it was run."""
    seek = spec.get("seek") or {}
    texts = seek.get("limits", {}).get(label) or seek.get("subject_to", [])
    return [parse_objective(text, "seek.subject_to") for text in texts]
