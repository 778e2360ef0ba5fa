//! What disk failures and rebuilds did.

use super::Column;
use super::column::{
    Reader::{Count, Float},
    column,
};
use crate::units::{SECTOR_BYTES, SimDuration};

pub(super) const COLUMNS: &[Column] = &[
    column(
        "degraded_s",
        "s",
        "time in the window during which an array was degraded, summed over the arrays",
        Float(|run| Some(run.context.measures.degraded.area_s())),
    ),
    column(
        "decoded_reads",
        "count",
        "reads within one stripe that reconstructed a missing strip from the others",
        Count(|run| run.context.measures.counts.decoded_reads),
    ),
    column(
        "rebuild_bytes",
        "bytes",
        "data that rebuilds wrote to new disks in the window",
        Count(|run| run.context.measures.counts.rebuilt_sectors * SECTOR_BYTES),
    ),
    column(
        "rebuild_s",
        "s",
        "duration of the last rebuild to end in the run",
        Float(|run| run.context.measures.rebuild_time.map(SimDuration::as_secs_f64)),
    ),
    column(
        "rebuild_progress_fraction",
        "fraction",
        "progress, at the end of the run, of the rebuild that is furthest behind; 1 if all are complete",
        Float(|run| run.rebuild_progress()),
    ),
    column(
        "failed_requests",
        "count",
        "requests in flight when their array lost more disks than its RAID level tolerates, which ended the run",
        Count(|run| run.context.measures.counts.failed_requests),
    ),
];
