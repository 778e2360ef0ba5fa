"""JSON Schema of a study, which embeds the engine's schema of a configuration, and validation by it."""

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
            "description": f"[{_ENDS}, count]: equal differences.",
            "type": "array",
            "minItems": 3,
            "maxItems": 3,
        },
        "logspace": {
            "description": f"[{_ENDS}, count]: equal ratios.",
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
        "question": {
            "description": "The question that the study answers, in one sentence.",
            "type": "string",
        },
        "scenario": {"description": "The configuration that every point starts from.", "type": "object"},
        "axes": {
            "description": "The grid: parameters by dotted path, with their values.",
            "type": "object",
            "additionalProperties": _AXIS,
        },
        "points": {
            "description": "Points beside the grid: parameters by dotted path, and a label.",
            "type": "array",
            "items": {
                "type": "object",
                "minProperties": 1,
                "properties": {
                    "label": {"description": "The name of the point in reports.", "type": "string"}
                },
            },
        },
        "where": {
            "description": "An SQL condition over the axes that grid points must meet.",
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
                "limits": {
                    "description": "Objectives of points by their label, in place of `subject_to`: one limit "
                    "for all systems that are compared with each other.",
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": {"type": "array", "minItems": 1, "items": {"type": "string"}},
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
                    "description": "How many values just below the answer must pass too.",
                    "type": "integer",
                    "minimum": 0,
                    "default": 2,
                },
            },
        },
        "replicates": {
            "description": "Runs per point with independent random streams: a number, or bounds.",
            "type": ["integer", "object"],
            "minimum": 1,
            "default": 5,
            "additionalProperties": False,
            "required": ["min"],
            "properties": {
                "min": {"description": "The number for every point.", "type": "integer", "minimum": 1},
                "max": {"description": "The maximum for a point.", "type": "integer", "minimum": 1},
                "until": {
                    "description": "Add replicates until this 95 % interval is narrow enough.",
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["interval_of", "relative"],
                    "properties": {
                        "interval_of": {
                            "description": "The answer, or a result column without its unit.",
                            "type": "string",
                        },
                        "relative": {
                            "description": "The target half-width, as a fraction of the mean.",
                            "type": "number",
                            "exclusiveMinimum": 0,
                        },
                    },
                },
            },
        },
        "budget": {
            "description": "Limits that stop the sweep; a stopped sweep can be resumed.",
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
    node = _STUDY
    for key in path:
        node = node["properties"][key]
    return node["default"]


def find_study_mistakes(document: Mapping[str, Any]) -> list[Issue]:
    """Return every mistake in a study's own keys; the engine validates the scenario, point by point."""
    return validate_document(document, _STUDY, "study")
