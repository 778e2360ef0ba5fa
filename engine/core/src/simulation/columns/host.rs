//! How busy the processors of the host were, and how long interactions were there.

use super::column::{Reader::Float, column};
use super::{Column, RunView};
use crate::simulation::hosts::Processor;

const US_PER_NS: f64 = 1e-3;

pub(super) const COLUMNS: &[Column] = &[
    column(
        "host_busy_fraction",
        "fraction",
        "busy share of the host's processor cores",
        Float(|run| Some(per_window(run)?.0 / f64::from(processor(run)?.cores()))),
    ),
    column(
        "host_queue_mean",
        "count",
        "mean interactions at the host's processors, waiting or computing",
        Float(|run| Some(per_window(run)?.1)),
    ),
    column(
        "host_demand_mean_us",
        "us",
        "mean processor time of an interaction",
        Float(|run| processor(run)?.mean_demand().map(|mean| mean * US_PER_NS)),
    ),
    column(
        "host_wait_mean_us",
        "us",
        "mean delay of an interaction at the host's processors beyond its processor time: waiting for a core, or sharing one",
        Float(|run| {
            let processor = processor(run)?;
            Some((processor.response().mean()? - processor.mean_demand()?) * US_PER_NS)
        }),
    ),
    column(
        "host_response_mean_us",
        "us",
        "mean time of an interaction at the host's processors",
        Float(|run| processor(run)?.response().mean().map(|mean| mean * US_PER_NS)),
    ),
    column(
        "host_response_p95_us",
        "us",
        "95th percentile of the time of an interaction at the host's processors",
        Float(|run| processor(run)?.response().quantile(0.95).map(|value| value * US_PER_NS)),
    ),
];

fn processor<'a>(run: &'a RunView<'_>) -> Option<&'a Processor> {
    run.hosts.processor.as_deref()
}

/// Mean busy cores and mean interactions at the processors.
fn per_window(run: &RunView<'_>) -> Option<(f64, f64)> {
    let (busy, present) = processor(run)?.areas_s();
    let length = run.window_s();
    (length > 0.0).then(|| (busy / length, present / length))
}
