//! How much happened in the window.

use super::column::{
    Reader::{Count, Float},
    column,
};
use super::{Column, RunView};
use crate::disk::BlockDevice as _;

pub(super) const COLUMNS: &[Column] = &[
    column(
        "requests",
        "count",
        "host reads and writes that completed in the window",
        Count(|run| run.context.measures.counts.reads + run.context.measures.counts.writes),
    ),
    column("reads", "count", "host reads that completed in the window", Count(|run| run.context.measures.counts.reads)),
    column("writes", "count", "host writes that completed in the window", Count(|run| run.context.measures.counts.writes)),
    column(
        "flushes",
        "count",
        "host flushes that completed in the window",
        Count(|run| run.context.measures.counts.flushes),
    ),
    column("events", "count", "simulated events in the whole run", Count(|run| run.event_count))
        .covering_drain(),
    column(
        "disk_reads",
        "count",
        "reads that the disks started in the window",
        Count(|run| run.arrays.devices.iter().map(|device| device.usage().reads).sum()),
    ),
    column(
        "disk_writes",
        "count",
        "writes that the disks started in the window",
        Count(|run| run.arrays.devices.iter().map(|device| device.usage().writes).sum()),
    ),
    column("window_s", "s", "length of the measurement window", Float(|run| Some(run.window_s()))),
    column(
        "warm_up_s",
        "s",
        "simulated time before the window",
        Float(|run| Some(run.control.warm_up_time.as_secs_f64())),
    ),
    column(
        "warm_up_requests",
        "count",
        "reads and writes before the window",
        Count(|run| run.control.warm_up_requests),
    ),
    column(
        "completion_time_s",
        "s",
        "time from the start of the window to the last completion",
        Float(|run| Some(run.context.measures.last_completion.since(run.context.measures.start).as_secs_f64())),
    ),
    column(
        "drain_s",
        "s",
        "time from the end of the window until all dirty data was on the disks; null if the run does not drain",
        Float(drain_s),
    )
    .covering_drain(),
];

/// Length of the drain \[s\]; `None` where there was none, or where an array had lost data.
fn drain_s(run: &RunView<'_>) -> Option<f64> {
    run.drained_since()?;
    let is_drained = !run.arrays.have_lost_data();
    is_drained.then(|| run.now().since(run.context.measures.start).as_secs_f64() - run.window_s())
}
