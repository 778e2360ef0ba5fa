"""The table of a search's trials, without its objectives."""

import pyarrow as pa

from destage.store.schemas.analysis_schema import analysis_column, analysis_schema

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
