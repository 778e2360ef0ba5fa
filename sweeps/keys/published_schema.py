"""JSON Schema of the keys of a study that speak of a paper: its figures, and how the rows give the same."""

from typing import Any

from destage.store.schemas.published_figures import KINDS

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
        "description": "Digits after the decimal point that the figure was printed with (default: as written "
        "here); -2 for hundreds. Half a unit of the last digit is part of the prediction interval.",
        "type": "integer",
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
_BASIS = {
    "given": {"description": "The fitted figures it depends on (default: all).", **_TEXTS},
    "post_hoc": {
        "description": "What was chosen with the figure in view; it is then not reproduced blind.",
        "type": "string",
    },
    "headline": {
        "description": "Makes it a headline of its document: in one line, what the comparison rests on.",
        "type": "string",
    },
}
"""What a simulated figure rests on."""
_HEADLINE = {"headline": _BASIS["headline"]}


def _figure(
    kind: str, value: dict[str, Any], *keys: dict[str, Any], required: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the schema of one kind of figure."""
    properties: dict[str, Any] = {
        "figure": {"description": "The figure's name, unique in the study.", "type": "string"},
        "kind": {"description": f"How it is classified: {KINDS[kind]}.", "const": kind},
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
        _figure("predicted", _NUMBER, _DECIMALS, _BASIS, required=("compute",)),
        _figure("ordering", _NUMBER_OR_WORDS, _EXPECT, _BASIS, required=("compute", "expect")),
        _figure("calibrated", _NUMBER, _DECIMALS, _HEADLINE, required=("compute",)),
        _figure("property", _NUMBER_OR_WORDS, _DECIMALS, _EXPECT, _HEADLINE, required=("compute",)),
        _figure("arithmetic", _NUMBER_OR_WORDS, _DECIMALS, _EXPECT, _HEADLINE, required=("compute",)),
        _figure("inconsistent", _NUMBER_OR_WORDS, _DECIMALS, _HEADLINE),
        _figure("input", _NUMBER_OR_WORDS, _DECIMALS, _HEADLINE),
        _figure("not_simulated", _NUMBER_OR_WORDS, _HEADLINE, required=("note",)),
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
            "page": {
                "description": "The name of its page in docs/published, for bundled studies.",
                "type": "string",
                "pattern": "^[a-z0-9-]+$",
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
                "on": {
                    "description": "The name of the figure: one of `published`, or any where there are none.",
                    "type": "string",
                },
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
