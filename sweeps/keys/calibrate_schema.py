"""The schema of `calibrate`: unknowns with priors, figures to fit on and to predict, waves."""

from destage.spec.schema_nodes import node, table
from destage.sweeps.space import distributions

LIMIT, CEILING = "limit", "ceiling"
"""Unknowns that are not parameters of a configuration."""
MEASURED, LINE = "measured", "line"
"""The keys of a measured set, and of a figure's line of it."""

_UNKNOWN = node(
    "object",
    "The prior of one unknown: one of uniform, log_uniform, integer, choice.",
    minProperties=1,
    maxProperties=1,
    additionalProperties=False,
    properties=dict(distributions.SCHEMAS),
)
_FIGURE = table(
    "A figure: somebody measured it, or it is to be predicted, or both.",
    {
        "set": node(
            "object",
            "The configuration of this figure: parameters by dotted path, in place of the scenario's and of "
            "the unknowns'. `{unknown: NAME}` is the value of an unknown that only some figures have.",
        ),
        "of": node(
            "string",
            "What the figure is: with `seek` its answer, such as users_supported (the default), otherwise a "
            "result column without its unit, such as response_mean.",
        ),
        "value": node(["number", "string"], "The measured or published value, with its unit."),
        LINE: node(
            ["integer", "string"],
            "With `measured`: the line of the set that has the value, by its workload or number (default: "
            "the line whose workload is the name of the figure).",
        ),
        "tolerance": node(
            ["number", "string"],
            "The standard deviation of the measurement: a share of the value (`5%`) or a quantity. The "
            "default of a value from a measured set is 5 %.",
        ),
        "discrepancy": node(
            ["number", "string"],
            "The standard deviation of the model's own error at this figure, as a share of the figure "
            "(default: that of all figures).",
        ),
        "odds": node(
            "array",
            "Statements whose odds are printed, such as `users_supported >= 96`.",
            items={"type": "string"},
        ),
        "against": node(
            "array",
            "[from, to]: a plain rule that the prediction is scored against, which takes every value between "
            "as likely.",
            minItems=2,
            maxItems=2,
        ),
        "source": node("string", "Where the value is from."),
    },
    "set",
)
CALIBRATE = table(
    "Learn what is unknown from measured figures, and predict others with odds.",
    {
        "unknowns": node(
            "object",
            "What is not known, with its prior: parameters by dotted path, which apply to every figure whose "
            "`set` does not give them; names that a `set` refers to; `limit`, a choice of the names in "
            "`seek.limits`; `ceiling`, the largest answer that the rest of the system allows (processors, "
            "network): a figure is the smaller one of it and the simulated answer.",
            minProperties=1,
            additionalProperties=_UNKNOWN,
        ),
        "figures": node(
            "object",
            "The figures by name.",
            minProperties=1,
            additionalProperties=_FIGURE,
        ),
        MEASURED: node(
            "string",
            "A measured set of the store, as `destage measured import` names it: figures without `value` "
            "have that of their line of the set. A figure without a line is predicted.",
        ),
        "fits": node(
            "object",
            "Lists of figures to fit on, by name; each predicts the figures that it is not fitted on. Every "
            "list has the figures of the first one (default: one fit, on all figures with a value).",
            minProperties=1,
            additionalProperties={"type": "array", "minItems": 1, "items": {"type": "string"}},
        ),
        "discrepancy": node(
            ["number", "string"],
            "The standard deviation of the model's own error, as a share of each figure: stated, not fitted.",
            default="10%",
        ),
        "waves": table(
            "The draws of the unknowns.",
            {
                "points": node("integer", "Draws in a wave; a power of 2 is best.", minimum=8, default=128),
                "most": node("integer", "The most waves.", minimum=1, maximum=50, default=4),
                "effective": node(
                    "number",
                    "Stop when the draws are worth this many of the posterior.",
                    exclusiveMinimum=0,
                    default=100,
                ),
                "cutoff": node(
                    "number",
                    "A draw is ruled out if it misses a figure by more than this many standard deviations "
                    "of tolerance, discrepancy and simulation error together.",
                    exclusiveMinimum=0,
                    default=3,
                ),
                "seed": node("integer", "The seed of the draws.", minimum=0, default=1),
            },
        ),
    },
    "unknowns",
    "figures",
)
"""The schema of a study's calibration."""
