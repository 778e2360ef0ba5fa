"""The assumed localities that the points of a study rest on."""

from collections.abc import Mapping
from typing import Any

from destage.engine.workload_description import describe_assumed_localities
from destage.queries.opening.session import Session

_USE = "workload.use"


def list_assumed_localities(session: Session) -> list[str]:
    """Return a sentence for each workload of the catalogue whose assumed locality the points have."""
    spec = session.spec
    axes: Mapping[str, Any] = spec.get("axes") or {}
    points = [point for point in spec.get("points") or () if isinstance(point, Mapping)]
    # What only some points set, others leave as it is in the catalogue.
    in_all = set.intersection(*map(set, points)) if points and not axes else set()
    workload: Mapping[str, Any] = (spec.get("scenario") or {}).get("workload") or {}
    values = axes.get(_USE)
    names = [*(values if isinstance(values, list) else []), *(point.get(_USE) for point in points)]
    if _USE not in axes and _USE not in in_all:
        names.append(workload.get("use"))
    sentences: list[str] = []
    for name in dict.fromkeys(names):
        if isinstance(name, str):
            chosen = {"workload": {**workload, "use": name}}
            sentences += describe_assumed_localities(chosen, {*axes, *in_all})
    return sentences
