"""JSON Schema of a study, which embeds the engine's schema of a configuration, and validation by it."""

from collections.abc import Mapping, Sequence
from typing import Any

from destage import engine
from destage.errors import Issue
from destage.spec.schema_nodes import node, table
from destage.spec.schema_tree import Node
from destage.spec.validation import validate_document
from destage.sweeps.keys import published_schema
from destage.sweeps.keys.adding import ADDING
from destage.sweeps.keys.charts import CHARTS
from destage.sweeps.keys.prices import PRICES
from destage.sweeps.keys.seek_key import SEEK
from destage.sweeps.keys.sensitivity_key import SENSITIVITY_KEY
from destage.sweeps.space import distributions
from destage.sweeps.space.designs import DESIGN

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
_UNTIL = table(
    "Add replicates until this 95 % interval is narrow enough.",
    {
        "interval_of": node("string", "The answer, or a result column without its unit."),
        "relative": node("number", "The target half-width, as a fraction of the mean.", exclusiveMinimum=0),
    },
    "interval_of",
    "relative",
)
_REPLICATES = node(
    ["integer", "object"],
    "Runs per point with independent random streams: a number, or bounds.",
    minimum=1,
    default=5,
    additionalProperties=False,
    required=["min"],
    properties={
        "min": node("integer", "The number for every point.", minimum=1),
        "max": node("integer", "The maximum for a point.", minimum=1),
        "until": _UNTIL,
    },
)
_STUDY: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "scenario"],
    "properties": {
        "name": node(
            "string",
            "The study's name: small letters, digits, - and _.",
            pattern="^[a-z0-9][a-z0-9_-]*$",
        ),
        "question": node("string", "The question that the study answers, in one sentence."),
        "scenario": node("object", "The configuration that every point starts from."),
        "axes": node(
            "object",
            "The grid: parameters by dotted path, with their values.",
            additionalProperties=_AXIS,
        ),
        "zip": node(
            "array",
            "Groups of axes that vary together: the first values of all axes of a group, then the second "
            "ones. A group is combined with the other axes like one axis.",
            items=_ZIP,
        ),
        "when": node(
            "object",
            "SQL conditions of axes by dotted path. Where the condition is not true, the axis is not "
            "assigned: the value of the scenario holds. An axis that is not assigned is NULL in later "
            "conditions, in `derived` and in `where`.",
            additionalProperties={"type": "string", "minLength": 1},
        ),
        "derived": node(
            "object",
            "Parameters of grid points by dotted path, each an SQL expression over the axes and the earlier "
            "derived parameters, in base units. NULL assigns nothing.",
            additionalProperties={"type": "string", "minLength": 1},
        ),
        "design": DESIGN,
        **{key.name: key.schema for key in ADDING},
        "points": node(
            "array", "Points beside the grid: parameters by dotted path, and a label.", items=_POINT
        ),
        "where": node(
            "string", "An SQL condition over the axes and derived parameters that grid points must meet."
        ),
        "seek": SEEK,
        "prices": PRICES,
        "replicates": _REPLICATES,
        "budget": table(
            "Limits that stop the sweep; a stopped sweep can be resumed.",
            {"wall": node(["string", "number"], "Wall-clock time, such as 2h.")},
        ),
        "run": table(
            "How runs are executed; changes no result.",
            {
                "timeout": node(["string", "number"], "Time limit of one run, such as 10m (default: none)."),
                "commit_every": node(
                    ["string", "number"],
                    "Work after which a worker commits its rows; a lost worker costs at most this much.",
                    default="10s",
                ),
            },
        ),
        "sensitivity": SENSITIVITY_KEY,
        **published_schema.PROPERTIES,
        "charts": CHARTS,
    },
}


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of a study for editors, with the engine's schema of a configuration."""
    scenario = dict(engine.authoring_schema())
    definitions = scenario.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Destage study",
        **_STUDY,
        "properties": {**_STUDY["properties"], "scenario": scenario},
        "$defs": definitions,
    }


def read_default(*path: str) -> Any:
    """Return the default of one of the study's own keys, given from the outermost table inwards."""
    found = _STUDY
    for key in path:
        found = found["properties"][key]
    return found["default"]


def study_keys() -> frozenset[str]:
    """Return the keys that a study may have."""
    return frozenset(_STUDY["properties"])


def find_study_mistakes(document: Mapping[str, Any]) -> list[Issue]:
    """Return every mistake in a study's own keys; the engine validates the scenario, point by point."""
    return validate_document(document, _STUDY, "study")


def drop_mistaken(document: Mapping[str, Any], issues: Sequence[Issue]) -> dict[str, Any]:
    """Return a study without the keys and axes that have mistakes."""
    mistaken = {issue.place.partition(".")[0] for issue in issues} - {"axes"}
    kept = {"name": "study"} | {key: value for key, value in document.items() if key not in mistaken}
    if isinstance(kept.get("axes"), Mapping):
        places = [f"{issue.place}." for issue in issues if issue.place.startswith("axes")]
        kept["axes"] = {
            path: values
            for path, values in kept["axes"].items()
            if not any(place.startswith((f"axes.{path}.", "axes..")) for place in places)
        }
    elif "axes" in kept:
        del kept["axes"]
    return kept
