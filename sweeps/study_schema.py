"""The JSON Schema of a study, around the engine's of one configuration, and the mistakes found by it."""

from collections.abc import Mapping
from typing import Any

from destage import engine
from destage.errors import Issue
from destage.spec.validation import validate_document
from destage.sweeps import published_schema
from destage.sweeps.study_charts import CHARTS

_ENDS = "from, to (included)"
_AXIS = {
    "description": "The values of one parameter: a list, or one of range, linspace, logspace.",
    "type": ["array", "object"],
    "minItems": 1,
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": False,
    "properties": {
        "range": {
            "description": f"[{_ENDS}, step].",
            "type": "array",
            "minItems": 3,
            "maxItems": 3,
        },
        "linspace": {
            "description": f"[{_ENDS}, how many]: equal differences.",
            "type": "array",
            "minItems": 3,
            "maxItems": 3,
        },
        "logspace": {
            "description": f"[{_ENDS}, how many]: equal ratios.",
            "type": "array",
            "minItems": 3,
            "maxItems": 3,
        },
    },
}
_STUDY: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "scenario"],
    "properties": {
        "name": {
            "description": "The study's name: small letters, digits, - and _.",
            "type": "string",
            "pattern": "^[a-z0-9][a-z0-9_-]*$",
        },
        "question": {"description": "What the study is to answer, in one sentence.", "type": "string"},
        "scenario": {"description": "The configuration that every point starts from.", "type": "object"},
        "axes": {
            "description": "The grid: parameters by dotted path, each with its values.",
            "type": "object",
            "additionalProperties": _AXIS,
        },
        "points": {
            "description": "Explicit points beside the grid: parameters by dotted path, and a label.",
            "type": "array",
            "items": {
                "type": "object",
                "minProperties": 1,
                "properties": {"label": {"description": "What reports call the point.", "type": "string"}},
            },
        },
        "where": {
            "description": "An SQL condition over the axes; grid points that miss it are left out.",
            "type": "string",
        },
        "seek": {
            "description": "Find the largest value of one whole-number parameter that meets every objective.",
            "type": "object",
            "additionalProperties": False,
            "required": ["maximize", "subject_to"],
            "properties": {
                "maximize": {"description": "The parameter's dotted path.", "type": "string"},
                "subject_to": {
                    "description": "Objectives such as `response_p95 <= 30ms`.",
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "string"},
                },
                "start": {
                    "description": "The first value tried.",
                    "type": "integer",
                    "minimum": 1,
                    "default": 32,
                },
                "min": {
                    "description": "The smallest value considered.",
                    "type": "integer",
                    "minimum": 1,
                    "default": 1,
                },
                "max": {
                    "description": "The largest value considered.",
                    "type": "integer",
                    "minimum": 1,
                    "default": 4096,
                },
                "confirm": {
                    "description": "How many values just below the answer must pass as well.",
                    "type": "integer",
                    "minimum": 0,
                    "default": 2,
                },
            },
        },
        "replicates": {
            "description": "How often each point is run with other random streams: a number, or bounds.",
            "type": ["integer", "object"],
            "minimum": 1,
            "default": 5,
            "additionalProperties": False,
            "required": ["min"],
            "properties": {
                "min": {"description": "The number every point gets.", "type": "integer", "minimum": 1},
                "max": {"description": "The number that no point exceeds.", "type": "integer", "minimum": 1},
                "until": {
                    "description": "Replicates are added until this 95 % interval is narrow enough.",
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["interval_of", "relative"],
                    "properties": {
                        "interval_of": {
                            "description": "The answer, or a result column without its unit.",
                            "type": "string",
                        },
                        "relative": {
                            "description": "The half-width aimed at, as a fraction of the mean.",
                            "type": "number",
                            "exclusiveMinimum": 0,
                        },
                    },
                },
            },
        },
        "budget": {
            "description": "Where to stop; a stopped sweep can be resumed.",
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "wall": {"description": "Wall-clock time, such as 2h.", "type": ["string", "number"]}
            },
        },
        **published_schema.PROPERTIES,
        "charts": CHARTS,
    },
}


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of a study, the engine's schema of a configuration in it, for editors."""
    scenario = dict(engine.authoring_schema())
    definitions = scenario.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Destage study",
        **_STUDY,
        "properties": {**_STUDY["properties"], "scenario": scenario},
        "$defs": definitions,
    }


def default(*path: str) -> Any:
    """Return the default of one of the study's own keys.

    Args:
        path: The key, from the outermost table inwards.
    """
    node = _STUDY
    for key in path:
        node = node["properties"][key]
    return node["default"]


def study_mistakes(document: Mapping[str, Any]) -> list[Issue]:
    """Return every mistake in a study's own keys; the scenario is judged by the engine, point by point.

    Args:
        document: The study as read from YAML.
    """
    return validate_document(document, _STUDY, "study")
