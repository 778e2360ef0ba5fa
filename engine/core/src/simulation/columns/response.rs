//! How long requests, interactions and commits took.

use super::Column;
use super::column::{Reader::Float, column};
use crate::units::SimDuration;

const US_PER_NS: f64 = 1e-3;

/// Mean, percentiles and maximum of a histogram \[ns\].
macro_rules! distribution {
    ($name:literal, $meaning:literal, |$run:ident| $times:expr) => {
        [
            column(
                concat!($name, "_mean_us"),
                "us",
                concat!("mean ", $meaning),
                Float(|$run| $times.mean().map(|mean| mean * US_PER_NS)),
            ),
            distribution!("p50", 0.5, "50", $name, $meaning, |$run| $times),
            distribution!("p90", 0.9, "90", $name, $meaning, |$run| $times),
            distribution!("p95", 0.95, "95", $name, $meaning, |$run| $times),
            distribution!("p99", 0.99, "99", $name, $meaning, |$run| $times),
            distribution!("p999", 0.999, "99.9", $name, $meaning, |$run| $times),
            column(
                concat!($name, "_max_us"),
                "us",
                concat!("maximum ", $meaning),
                Float(|$run| $times.max().map(SimDuration::as_micros_f64)),
            ),
        ]
    };
    ($suffix:literal, $quantile:literal, $percent:literal, $name:literal, $meaning:literal, |$run:ident| $times:expr) => {
        column(
            concat!($name, "_", $suffix, "_us"),
            "us",
            concat!($percent, "th percentile of the ", $meaning),
            Float(|$run| $times.quantile($quantile).map(|value| value * US_PER_NS)),
        )
    };
}

pub(super) const ALL: [Column; 7] =
    distribution!("response", "response time of reads and writes", |run| run.response());
pub(super) const READS: [Column; 7] =
    distribution!("read_response", "response time of reads", |run| run.context.measures.read_response);
pub(super) const WRITES: [Column; 7] =
    distribution!("write_response", "response time of writes", |run| run.context.measures.write_response);
pub(super) const INTERACTIONS: [Column; 7] = distribution!(
    "interaction_response",
    "time of a user interaction, from the end of the think time to its last completion",
    |run| run.context.measures.interaction
);
pub(super) const COMMITS: [Column; 7] = distribution!(
    "commit",
    "time of a commit, from the synchronous writes directly before its flush to the end of the flush",
    |run| run.context.measures.commit
);
pub(super) const INTERVAL: &[Column] = &[column(
    "response_mean_half_width_us",
    "us",
    "half width of the 95 % interval of the mean response time, by batch means and cycles of the write cache within the run",
    Float(|run| run.control.half_width_95(&run.context.measures).map(|width| width * US_PER_NS)),
)];
