"""The JSON Schema of what a study says of a paper: its figures, and how the sweep's rows give the same."""

from typing import Any

KINDS = ("exact", "predicted", "calibrated", "ordering", "inconsistent", "input")
_ASSIGNMENTS = {"type": "object", "minProperties": 1}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_BOUND = {"type": "number"}
_EXPECT = {
    "description": "Where an ordering's quantity must lie, its whole interval.",
    "type": "object",
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": False,
    "properties": {
        "above": {"description": "Above this.", **_BOUND},
        "below": {"description": "Below this.", **_BOUND},
        "between": {
            "description": "From the first to the second.",
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "items": _BOUND,
        },
    },
}
_FIGURE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["value", "source", "kind"],
    "properties": {
        "figure": {"description": "What the figure is called; once in a study.", "type": "string"},
        "value": {
            "description": "What was printed: a number, or words where there is none.",
            "type": ["number", "string"],
        },
        "unit": {"description": "What the number counts.", "type": "string"},
        "source": {"description": "Where in the paper it stands.", "type": "string"},
        "kind": {"description": "By which rule it is judged.", "enum": list(KINDS)},
        "compute": {
            "description": "The same quantity as an SQL expression over the places: "
            "`on.response_mean_us / off.response_mean_us`.",
            "type": "string",
        },
        "point": {"description": "In place of compute: the assignments that name one point.", **_ASSIGNMENTS},
        "metric": {
            "description": "In place of compute: the point's answer or result column.",
            "type": "string",
        },
        "at": {"description": "What all of the figure's places have in common besides.", **_ASSIGNMENTS},
        "for_each": {
            "description": "Axes: the quantity is taken for each combination of them, and is a range.",
            "minItems": 1,
            **_TEXTS,
        },
        "decimals": {
            "description": "Digits after the point that count: of exact figures by default those of the "
            "value; a prediction given them is met by an interval that reaches what rounds to the figure.",
            "type": "integer",
            "minimum": 0,
        },
        "tolerance": {
            "description": "How far off the mean a prediction may be, as a fraction of the figure.",
            "type": "number",
            "exclusiveMinimum": 0,
        },
        "expect": _EXPECT,
        "given": {"description": "The fitted figures that enter; by default all.", **_TEXTS},
        "note": {"description": "A contradiction or a caution, in a sentence.", "type": "string"},
    },
}
PROPERTIES: dict[str, Any] = {
    "paper": {
        "description": "The document whose figures are published below.",
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
        "description": "What the rows answer, each a sentence; what stands in braces is SQL over the places, "
        "filled in from the rows.",
        "type": "array",
        "items": {
            "type": ["string", "object"],
            "additionalProperties": False,
            "required": ["say"],
            "properties": {
                "say": {"description": "The sentence.", "type": "string"},
                "at": {"description": "What all of its places have in common besides.", **_ASSIGNMENTS},
                "for_each": {
                    "description": "Axes: what is computed is a range over their combinations.",
                    "minItems": 1,
                    **_TEXTS,
                },
            },
        },
    },
    "assumptions": {
        "description": "What the paper leaves open and is chosen here, each a sentence.",
        **_TEXTS,
    },
    "fitted": {
        "description": "Parameters that were fitted, each on one published figure.",
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["parameter", "value", "on"],
            "properties": {
                "parameter": {"description": "What was fitted.", "type": "string"},
                "value": {"description": "What came of it."},
                "on": {"description": "The figure that it was fitted on.", "type": "string"},
            },
        },
    },
    "tried": {"description": "What was tried for figures that do not come out.", **_TEXTS},
    "places": {
        "description": "Points that figures speak of, by a short name: values of axes, or a label.",
        "type": "object",
        "propertyNames": {"pattern": "^[a-z][a-z0-9_]*$"},
        "additionalProperties": _ASSIGNMENTS,
    },
    "published": {
        "description": "Figures from elsewhere that the answers are judged against.",
        "type": "array",
        "items": _FIGURE,
    },
}
"""The keys of a study that speak of published figures."""
