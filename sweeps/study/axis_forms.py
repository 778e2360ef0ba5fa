"""The forms of a study's axes in one line each, as `destage run --plan` shows them."""

from collections.abc import Mapping
from typing import Any

from destage.sweeps.study.valid_study import Study

LOG_FORMS = frozenset({"logspace", "log2", "log_uniform"})
"""The forms of axes whose values have equal ratios."""
_MOST_SHOWN = 6


def describe_axes(study: Study) -> dict[str, str]:
    """Return the form of each axis and derived parameter, by dotted path."""
    document, space = study.document, study.space
    forms: dict[str, str] = {}
    for path, written in document.get("axes", {}).items():
        count = len(space.axes[path]) if path in space.axes else None
        forms[path] = _describe(written, count)
    for group, values in zip(document.get("zip", []), space.zips, strict=True):
        for path, written in group.items():
            others = ", ".join(other for other in group if other != path)
            forms[path] = f"{_describe(written, len(values[path]))}, together with {others}"
    for path, condition in space.when.items():
        forms[path] += f", where {condition}"
    return forms | {path: f"= {expression}" for path, expression in space.derived.items()}


def describe_design(study: Study) -> str | None:
    """Return the design of the sampled axes, with its number of rows; None if there is none."""
    design = study.design
    if design is None:
        return None
    axes = len(design.axes)
    rows = f"{design.points * design.rows_per_point:,}"
    sampled = f"{axes} axes" if axes > 1 else "1 axis"
    if design.method == "morris":
        made = f"{design.points:,} trajectories of {axes + 1} points, {design.levels} levels: {rows} rows"
    elif design.method == "saltelli":
        order = "first-order and second-order" if design.second_order else "first-order and total"
        made = f"{design.points:,} base samples for {order} indices: {rows} rows"
    else:
        made = f"{rows} points"
    return f"{design.method}, {made}, {sampled}, seed {design.seed}"


def list_log_axes(study: Study) -> set[str]:
    """Return the axes whose values have equal ratios."""
    written = dict(study.document.get("axes", {}))
    for group in study.document.get("zip", []):
        written |= group
    return {path for path, axis in written.items() if isinstance(axis, Mapping) and axis.keys() & LOG_FORMS}


def _describe(written: Any, count: int | None) -> str:
    if not isinstance(written, Mapping):
        shown = ", ".join(map(str, written[:_MOST_SHOWN])) + (", ..." if len(written) > _MOST_SHOWN else "")
        return f"{_count(len(written))}: {shown}"
    (form, arguments), *_ = written.items()
    if isinstance(arguments, Mapping):
        arguments = [f"{value} (weight {weight})" for value, weight in arguments.items()]
    text = f"{form} [{', '.join(map(str, arguments))}]"
    return text if count is None else f"{_count(count)}: {text}"


def _count(count: int) -> str:
    return "1 value" if count == 1 else f"{count:,} values"
