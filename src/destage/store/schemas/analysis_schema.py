"""The schemas of stored analyses (sensitivity, calibration, trials), with what their rows and columns mean.

`destage query` shows these meanings.
"""

from collections.abc import Collection, Sequence

import pyarrow as pa

UNIT_OF = "unit of "
"""What the unit of a column begins with that has the unit of an axis, whose dotted path follows."""
_UNIT, _MEANING = b"unit", b"meaning"


def analysis_column(name: str, kind: pa.DataType, meaning: str, unit: str | None = None) -> pa.Field:
    """Return a column of an analysis table.

    Args:
        unit: Its unit, or `unit of PATH` for that of an axis.
    """
    metadata = {_MEANING: meaning.encode()} | ({} if unit is None else {_UNIT: unit.encode()})
    return pa.field(name, kind, metadata=metadata)


def analysis_schema(purpose: str, columns: Sequence[pa.Field], required: Collection[str] = ()) -> pa.Schema:
    """Return the schema of an analysis table.

    Args:
        purpose: What a row is, as in "one row per axis: its share of the variance".
        required: The columns that have a value in every row.
    """
    fields = [column.with_nullable(column.name not in required) for column in columns]
    return pa.schema(fields, metadata={_MEANING: purpose.encode()})


def find_purpose(schema: pa.Schema) -> str:
    """Return what a row of an analysis table is."""
    return _find(schema.metadata, _MEANING) or "table of an analysis"


def list_meanings(schema: pa.Schema) -> dict[str, tuple[str | None, str]]:
    """Return the unit and the meaning of each column that has a meaning."""
    described = {
        column.name: (_find(column.metadata, _UNIT), _find(column.metadata, _MEANING)) for column in schema
    }
    return {name: (unit, meaning) for name, (unit, meaning) in described.items() if meaning is not None}


def _find(metadata: dict[bytes, bytes] | None, key: bytes) -> str | None:
    value = (metadata or {}).get(key)
    return None if value is None else value.decode()


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
        analysis_column("not_ruled_out", _INT, "Draws within the cutoff, of the figures that are explained."),
        analysis_column("effective_draws", _FLOAT, "What the weighted draws are worth in equal ones."),
        analysis_column("smallest_implausibility", _FLOAT, "That of the nearest draw [standard deviations]."),
        analysis_column(
            "is_ruled_out", _BOOL, "Whether nothing in the prior explains two thirds of the figures."
        ),
        analysis_column(
            "is_hopeless",
            _BOOL,
            "Whether no draw comes near most figures, so that no wave followed the first.",
        ),
    ],
    required=("fit", "draws", "not_ruled_out", "effective_draws", "is_ruled_out"),
)
MISSED = analysis_schema(
    "one row per fit and figure that is not explained: by how much the draws that explain the others miss it",
    [
        _FIT,
        _FIGURE,
        analysis_column("class", _TEXT, "Its class of loads, the predictions of which are wider for it."),
        analysis_column("unit", _TEXT, "Its base unit."),
        *_in_base_units(
            measured="The measured value",
            nearest="The simulated value nearest to it, of all draws",
            low_90="The lower end of the 90 % interval; none if all is ruled out",
            high_90="The upper end of the 90 % interval; none if all is ruled out",
        ),
        analysis_column(
            "needed_discrepancy", _FLOAT, "The discrepancy with which it would be explained.", _SHARE
        ),
    ],
    required=("fit", "figure", "class", "measured"),
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
            crps="Score: continuous ranked probability score, lower is better",
            rule_from="The lower end of the baseline, a simple rule",
            rule_to="The upper end of the baseline",
            rule_crps="The score of the baseline",
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
NEXT = analysis_schema(
    "one row per fit and further measurement: the prediction that it would narrow most, the best first",
    [
        _FIT,
        analysis_column("rank", _INT, "From 1, by what all predictions gain."),
        analysis_column("measurement", _TEXT, "What could be measured: a candidate, or a predicted figure."),
        analysis_column("figure", _TEXT, "The prediction that it would narrow most."),
        analysis_column("deviation", _FLOAT, "Its standard deviation now, as a share of its mean.", _SHARE),
        analysis_column("deviation_after", _FLOAT, "The same afterwards, as expected.", _SHARE),
        analysis_column("variance_removed", _FLOAT, "The expected share of its variance removed.", _SHARE),
    ],
    required=("fit", "rank", "measurement", "figure", "deviation", "deviation_after", "variance_removed"),
)
DRAWS = analysis_schema(
    "one row per fit and draw: the unknowns, their weight and the figures",
    [
        _FIT,
        analysis_column("draw", _INT, "The number of the draw, the same in all fits."),
        analysis_column("wave", _INT, "The wave that drew it."),
        analysis_column("weight", _FLOAT, "Its share of the posterior.", _SHARE),
        analysis_column("prior_weight", _FLOAT, "Its share of the prior.", _SHARE),
        analysis_column(
            "implausibility", _FLOAT, "How far it misses an explained figure [standard deviations]."
        ),
        analysis_column("is_ruled_out", _BOOL, "Whether that is beyond the cutoff."),
    ],
    required=("fit", "draw", "weight", "prior_weight"),
)
"""The columns of `posterior` before those of the unknowns and figures."""


TRIALS = analysis_schema(
    "one row per trial of the search, in the order of the trials",
    [
        analysis_column("trial", pa.int64(), "The number of the trial, from 0."),
        analysis_column("batch", pa.int64(), "The number of its batch, from 0."),
        analysis_column("point_id", pa.string(), "Its point; none if it is invalid, or `where` excludes it."),
        analysis_column("on_front", pa.bool_(), "Whether no other trial is as good in all and better."),
    ],
    required=("trial", "batch", "on_front"),
)
"""The columns; those of the objectives are before the last one."""
