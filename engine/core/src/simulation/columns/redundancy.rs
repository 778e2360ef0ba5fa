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
        "time of the window in which an array was degraded, summed over the arrays",
        Float(|run| Some(run.measures.degraded.area_s())),
    ),
    column(
        "decoded_reads",
        "count",
        "reads within one stripe that decoded a missing strip from the others",
        Count(|run| run.measures.counts.decoded_reads),
    ),
    column(
        "rebuild_bytes",
        "bytes",
        "data that rebuilds wrote to new disks in the window",
        Count(|run| run.measures.counts.rebuilt_sectors * SECTOR_BYTES),
    ),
    column(
        "rebuild_s",
        "s",
        "time that the rebuild took that ended last, in the whole run",
        Float(|run| run.measures.rebuild_time.map(SimDuration::as_secs_f64)),
    ),
    column(
        "rebuild_progress_fraction",
        "fraction",
        "share of its disk that the rebuild has done, at the end, that is furthest behind; 1 after the last rebuild",
        Float(|run| run.rebuild_progress()),
    ),
    column(
        "failed_requests",
        "count",
        "requests that were under way when their array lost more disks than it can do without, which ended the run",
        Count(|run| run.measures.counts.failed_requests),
    ),
];
