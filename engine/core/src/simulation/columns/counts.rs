//! How much happened in the window.

use super::RunView;
use crate::disk::BlockDevice as _;

columns! {
    /// host reads and writes that completed in the window
    requests, "count", Count(|run| run.counts().reads + run.counts().writes);
    /// host reads that completed in the window
    reads, "count", Count(|run| run.counts().reads);
    /// host writes that completed in the window
    writes, "count", Count(|run| run.counts().writes);
    /// host flushes that completed in the window
    flushes, "count", Count(|run| run.counts().flushes);
    /// simulated events in the whole run
    events, "count", Count(|run| run.event_count), covering_drain;
    /// reads that the disks started in the window
    disk_reads, "count", Count(|run| run.arrays.devices.iter().map(|device| device.usage().reads).sum());
    /// writes that the disks started in the window
    disk_writes, "count", Count(|run| run.arrays.devices.iter().map(|device| device.usage().writes).sum());
    /// length of the measurement window
    window_s, "s", Float(|run| Some(run.window_s()));
    /// simulated time before the window
    warm_up_s, "s", Float(|run| Some(run.control.warm_up_time.as_secs_f64()));
    /// reads and writes before the window
    warm_up_requests, "count", Count(|run| run.control.warm_up_requests);
    /// time from the start of the window to the last completion
    completion_time_s, "s", Float(|run| {
        Some(run.measures().last_completion.since(run.measures().start).as_secs_f64())
    });
    /// time from the end of the window until all dirty data was on the disks; null if the run does not drain
    drain_s, "s", Float(drain_s), covering_drain;
}

/// Length of the drain \[s\]; `None` where there was none, or where an array had lost data.
fn drain_s(run: &RunView<'_>) -> Option<f64> {
    run.drained_since()?;
    let is_drained = !run.arrays.have_lost_data();
    is_drained.then(|| run.now().since(run.measures().start).as_secs_f64() - run.window_s())
}
