"""JSON Schema of the keys of a study that speak of a paper: its figures, and how the rows give the same."""

from typing import Any

_ASSIGNMENTS = {"type": "object", "minProperties": 1}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_BOUND = {"type": "number"}
_AT = {"description": "Values that all places of the expression have in common.", **_ASSIGNMENTS}
_FOR_EACH = {
    "description": "Axes: the result is the range over their combinations.",
    "minItems": 1,
    **_TEXTS,
}
_NUMBER = {"description": "The published number.", "type": "number"}
_NUMBER_OR_WORDS = {
    "description": "The published number, or words where there is none.",
    "type": ["number", "string"],
}
_DECIMALS = {
    "decimals": {
        "description": "Digits after the decimal point that count: by default those of an exact figure. "
        "A prediction with decimals is met by an interval that reaches a value rounding to the figure.",
        "type": "integer",
        "minimum": 0,
    }
}
_TOLERANCE = {
    "tolerance": {
        "description": "Largest error of the mean, as a fraction of the figure.",
        "type": "number",
        "exclusiveMinimum": 0,
    }
}
_EXPECT = {
    "expect": {
        "description": "The bounds that the whole interval must lie within.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": {
            "above": {"description": "Lower bound.", **_BOUND},
            "below": {"description": "Upper bound.", **_BOUND},
            "between": {
                "description": "Lower and upper bound.",
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "items": _BOUND,
            },
        },
    }
}
_GIVEN = {"given": {"description": "The fitted figures it depends on (default: all).", **_TEXTS}}


def _figure(
    kind: str, meaning: str, value: dict[str, Any], *keys: dict[str, Any], required: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the schema of one kind of figure."""
    properties: dict[str, Any] = {
        "figure": {"description": "The figure's name, unique in the study.", "type": "string"},
        "kind": {"description": f"The rule by which it is judged: {meaning}.", "const": kind},
        "value": value,
        "unit": {"description": "The unit of the number.", "type": "string"},
        "source": {"description": "Page, table or figure of the paper.", "type": "string"},
        "compute": {
            "description": "The same quantity as an SQL expression over places: "
            "`on.response_mean_us / off.response_mean_us`.",
            "type": "string",
        },
        "at": _AT,
        "for_each": _FOR_EACH,
        "note": {"description": "A contradiction or caution, in one sentence.", "type": "string"},
    }
    for key in keys:
        properties |= key
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["figure", "value", "source", "kind", *required],
        "properties": properties,
    }


_FIGURE = {
    "oneOf": [
        _figure("exact", "the same digits", _NUMBER, _DECIMALS, required=("compute",)),
        _figure(
            "predicted",
            "the figure lies in the interval",
            _NUMBER,
            _DECIMALS,
            _TOLERANCE,
            _GIVEN,
            required=("compute",),
        ),
        _figure(
            "calibrated",
            "a parameter was fitted on it",
            _NUMBER,
            _DECIMALS,
            _TOLERANCE,
            required=("compute",),
        ),
        _figure(
            "ordering",
            "the interval lies within bounds",
            _NUMBER_OR_WORDS,
            _EXPECT,
            required=("compute", "expect"),
        ),
        _figure("inconsistent", "the paper contradicts itself", _NUMBER_OR_WORDS, _DECIMALS),
        _figure("input", "configured as published", _NUMBER_OR_WORDS, _DECIMALS),
    ]
}
PROPERTIES: dict[str, Any] = {
    "paper": {
        "description": "The document that the figures come from.",
        "type": "object",
        "additionalProperties": False,
        "required": ["title", "number"],
        "properties": {
            "title": {"description": "Its title.", "type": "string"},
            "number": {
                "description": "Its number, revision and date, or its author and date.",
                "type": "string",
            },
        },
    },
    "answer": {
        "description": "Sentences that answer the question; SQL in braces is replaced by its value.",
        "type": "array",
        "items": {
            "type": ["string", "object"],
            "additionalProperties": False,
            "required": ["say"],
            "properties": {
                "say": {"description": "The sentence.", "type": "string"},
                "at": _AT,
                "for_each": _FOR_EACH,
            },
        },
    },
    "assumptions": {"description": "Choices that the paper leaves open, one sentence each.", **_TEXTS},
    "fitted": {
        "description": "Fitted parameters, each with the figure it was fitted on.",
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["parameter", "value", "on"],
            "properties": {
                "parameter": {"description": "The fitted parameter.", "type": "string"},
                "value": {"description": "Its fitted value."},
                "on": {"description": "The name of the figure.", "type": "string"},
            },
        },
    },
    "tried": {"description": "Attempts to reproduce figures that are not reproduced.", **_TEXTS},
    "places": {
        "description": "Short names of points: values of axes, or a label.",
        "type": "object",
        "propertyNames": {"pattern": "^[a-z][a-z0-9_]*$"},
        "additionalProperties": _ASSIGNMENTS,
    },
    "published": {
        "description": "Published figures that the results are compared with.",
        "type": "array",
        "items": _FIGURE,
    },
}
"""The keys of a study that speak of published figures."""
