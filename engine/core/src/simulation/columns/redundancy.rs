//! What disk failures and rebuilds did.

use super::super::Simulation;
use super::super::outcome::ColumnSink;
use super::{float, int};
use crate::units::{SECTOR_BYTES, SimDuration};

pub(super) fn put_redundancy(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    float(
        sink,
        run,
        ("degraded_s", "s", "time of the window in which an array was degraded, summed over the arrays"),
        |run| Some(run.context.measures.degraded.area_s()),
    );
    int(
        sink,
        run,
        ("decoded_reads", "count", "reads within one stripe that decoded a missing strip from the others"),
        |run| run.context.measures.counts.decoded_reads,
    );
    int(
        sink,
        run,
        ("rebuild_bytes", "bytes", "data that rebuilds wrote to new disks in the window"),
        |run| run.context.measures.counts.rebuilt_sectors * SECTOR_BYTES,
    );
    float(
        sink,
        run,
        ("rebuild_s", "s", "time that the rebuild took that ended last, in the whole run"),
        |run| run.context.measures.rebuild_time.map(SimDuration::as_secs_f64),
    );
    float(
        sink,
        run,
        (
            "rebuild_progress_fraction",
            "fraction",
            "share of its disk that the rebuild has done, at the end, that is furthest behind; 1 after the last rebuild",
        ),
        Simulation::rebuild_progress,
    );
    int(
        sink,
        run,
        (
            "failed_requests",
            "count",
            "requests that were under way when their array lost more disks than it can do without, which ended the run",
        ),
        |run| run.context.measures.counts.failed_requests,
    );
}
