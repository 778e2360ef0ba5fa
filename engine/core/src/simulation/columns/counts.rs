//! How much happened in the window.

use super::super::Simulation;
use super::super::outcome::ColumnSink;
use super::{float, int};
use crate::disk::BlockDevice as _;

pub(super) fn put_counts(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    let c = "count";
    int(sink, run, ("requests", c, "host reads and writes that completed in the window"), |run| {
        run.context.measures.counts.reads + run.context.measures.counts.writes
    });
    int(sink, run, ("reads", c, "host reads among them"), |run| run.context.measures.counts.reads);
    int(sink, run, ("writes", c, "host writes among them"), |run| run.context.measures.counts.writes);
    int(sink, run, ("flushes", c, "host flushes that completed in the window"), |run| {
        run.context.measures.counts.flushes
    });
    int(sink, run, ("events", c, "simulated events of the whole run"), |run| run.event_count);
    int(sink, run, ("disk_reads", c, "reads that disks began in the window"), |run| {
        run.arrays.devices.iter().map(|device| device.usage().reads).sum()
    });
    int(sink, run, ("disk_writes", c, "writes that disks began in the window"), |run| {
        run.arrays.devices.iter().map(|device| device.usage().writes).sum()
    });
    float(sink, run, ("window_s", "s", "length of the measurement window"), |run| Some(run.window_s()));
    float(sink, run, ("warm_up_s", "s", "simulated time before the window"), |run| {
        Some(run.control.warm_up_time.as_secs_f64())
    });
    int(sink, run, ("warm_up_requests", c, "reads and writes before the window"), |run| {
        run.control.warm_up_requests
    });
    float(
        sink,
        run,
        ("completion_time_s", "s", "from the start of the window to the last completion"),
        |run| Some(run.context.measures.last_completion.since(run.context.measures.start).as_secs_f64()),
    );
    float(
        sink,
        run,
        (
            "drain_s",
            "s",
            "from the end of the window until all dirty data was on the disks, where the run was to drain",
        ),
        |_| None,
    );
}
