"""The tables of a finished calibration, and the leading columns of its draws."""

import pyarrow as pa

from destage.store.schemas.analysis_schema import analysis_column, analysis_schema

_FLOAT, _TEXT, _INT, _BOOL = pa.float64(), pa.string(), pa.int64(), pa.bool_()
_FIT = analysis_column("fit", _TEXT, "The name of the fit.")
_FIGURE = analysis_column("figure", _TEXT, "The name of the figure.")
_SHARE = "fraction"


def _in_base_units(**meanings: str) -> list[pa.Field]:
    """Return a column for each number in the base unit of its row."""
    return [analysis_column(name, _FLOAT, f"{meaning} [base unit].") for name, meaning in meanings.items()]


def _describe(name: str) -> list[pa.Field]:
    """Return the columns of a prior or posterior."""
    quantiles = {
        f"{name}_q05": f"The 5 % quantile of the {name}",
        f"{name}_median": f"The median of the {name}",
        f"{name}_q95": f"The 95 % quantile of the {name}",
    }
    share = analysis_column(f"{name}_share", _FLOAT, f"Of a choice: its share of the {name}.", _SHARE)
    return [*_in_base_units(**quantiles), share]


CALIBRATION = analysis_schema(
    "one row per fit: how far the draws explain the measured figures",
    [
        _FIT,
        analysis_column("fitted_on", _TEXT, "The figures that it is fitted on."),
        analysis_column("waves", _INT, "The number of waves."),
        analysis_column("draws", _INT, "The number of draws."),
        analysis_column("not_ruled_out", _INT, "Draws within the cutoff."),
        analysis_column("effective_draws", _FLOAT, "What the weighted draws are worth in equal ones."),
        analysis_column("smallest_implausibility", _FLOAT, "That of the nearest draw [standard deviations]."),
        analysis_column("missed_figure", _TEXT, "If all is ruled out: what the nearest draw misses most."),
        analysis_column("is_ruled_out", _BOOL, "Whether nothing in the prior explains the figures."),
    ],
    required=("fit", "draws", "not_ruled_out", "effective_draws", "is_ruled_out"),
)
UNKNOWNS = analysis_schema(
    "one row per fit and unknown (of a choice: per value): prior and posterior",
    [
        _FIT,
        analysis_column("unknown", _TEXT, "The name of the unknown."),
        analysis_column("column", _TEXT, "Its column in the table posterior."),
        analysis_column("unit", _TEXT, "Its base unit."),
        analysis_column("value", _TEXT, "Of a choice: the value."),
        *(column for name in ("prior", "posterior") for column in _describe(name)),
    ],
    required=("fit", "unknown", "column"),
)
PREDICTIVE = analysis_schema(
    "one row per fit and figure: what the weighted draws predict, and its score where it was published",
    [
        _FIT,
        _FIGURE,
        analysis_column("of", _TEXT, "What the figure is."),
        analysis_column("unit", _TEXT, "Its base unit."),
        analysis_column("is_fitted", _BOOL, "Whether the fit has seen the figure."),
        *_in_base_units(
            mean="The mean",
            deviation="The standard deviation",
            median="The median",
            low_50="The lower end of the 50 % interval",
            high_50="The upper end of the 50 % interval",
            low_90="The lower end of the 90 % interval",
            high_90="The upper end of the 90 % interval",
        ),
        analysis_column("without_figure", _FLOAT, "The weight of draws that have no such figure.", _SHARE),
        *_in_base_units(published="The measured or published value"),
        analysis_column("inside_50", _BOOL, "Whether it is within the 50 % interval."),
        analysis_column("inside_90", _BOOL, "Whether it is within the 90 % interval."),
        *_in_base_units(
            crps="Continuous ranked probability score, 0 is best",
            rule_from="The lower end of the plain rule",
            rule_to="The upper end of the plain rule",
            rule_crps="The score of the plain rule",
        ),
    ],
    required=("fit", "figure", "of", "is_fitted"),
)
ODDS = analysis_schema(
    "one row per fit and statement: its probability",
    [
        _FIT,
        _FIGURE,
        analysis_column("statement", _TEXT, "The statement."),
        analysis_column("probability", _FLOAT, "Its probability.", _SHARE),
        analysis_column("probability_low", _FLOAT, "Lower end of its 95 % interval, from the draws.", _SHARE),
        analysis_column(
            "probability_high", _FLOAT, "Upper end of its 95 % interval, from the draws.", _SHARE
        ),
    ],
    required=("fit", "figure", "statement", "probability", "probability_low", "probability_high"),
)
WORTH = analysis_schema(
    "one row per fit, prediction and what could be known: how much of the predictive variance that removes",
    [
        _FIT,
        _FIGURE,
        analysis_column("kind", _TEXT, "unknown, figure (measured as well), or model (what stays)."),
        analysis_column("known", _TEXT, "The unknown or the figure."),
        analysis_column("variance_removed", _FLOAT, "The expected share of the variance removed.", _SHARE),
    ],
    required=("fit", "figure", "kind", "known", "variance_removed"),
)
DRAWS = analysis_schema(
    "one row per fit and draw: the unknowns, their weight and the figures",
    [
        _FIT,
        analysis_column("draw", _INT, "The number of the draw, the same in all fits."),
        analysis_column("wave", _INT, "The wave that drew it."),
        analysis_column("weight", _FLOAT, "Its share of the posterior.", _SHARE),
        analysis_column("prior_weight", _FLOAT, "Its share of the prior.", _SHARE),
        analysis_column("implausibility", _FLOAT, "How far it misses a figure [standard deviations]."),
        analysis_column("is_ruled_out", _BOOL, "Whether that is beyond the cutoff."),
    ],
    required=("fit", "draw", "weight", "prior_weight"),
)
"""The columns of `posterior` before those of the unknowns and figures."""
