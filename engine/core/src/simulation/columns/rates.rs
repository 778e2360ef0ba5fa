//! How much happened per second.

use super::Column;
use super::column::{
    Reader::{Count, Float},
    column,
};

pub(super) const COLUMNS: &[Column] = &[
    column(
        "throughput_iops",
        "1/s",
        "reads and writes per second",
        Float(|run| run.per_second(run.context.measures.counts.reads + run.context.measures.counts.writes)),
    ),
    column(
        "read_iops",
        "1/s",
        "reads per second",
        Float(|run| run.per_second(run.context.measures.counts.reads)),
    ),
    column(
        "write_iops",
        "1/s",
        "writes per second",
        Float(|run| run.per_second(run.context.measures.counts.writes)),
    ),
    column(
        "throughput_bytes_per_s",
        "bytes/s",
        "data read and written per second",
        Float(|run| run.per_second(run.context.measures.counts.bytes)),
    ),
    column(
        "interactions",
        "count",
        "user interactions that ended in the window",
        Count(|run| run.context.measures.interaction.count()),
    ),
    column(
        "interactions_per_s",
        "1/s",
        "user interactions per second",
        Float(|run| run.per_second(run.context.measures.interaction.count())),
    ),
    column(
        "commits",
        "count",
        "commits of a dependent replay: a flush with the synchronous writes directly before it",
        Count(|run| run.context.measures.commit.count()),
    ),
    column(
        "commits_per_s",
        "1/s",
        "commits per second",
        Float(|run| run.per_second(run.context.measures.commit.count())),
    ),
];
