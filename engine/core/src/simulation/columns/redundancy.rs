//! What disk failures and rebuilds did.

use crate::units::{SECTOR_BYTES, SimDuration};

columns! {
    /// time of the window in which an array was degraded, summed over the arrays
    degraded_s, "s", Float(|run| Some(run.measures().degraded.area_s()));
    /// reads within one stripe that decoded a missing strip from the others
    decoded_reads, "count", Count(|run| run.counts().decoded_reads);
    /// data that rebuilds wrote to new disks in the window
    rebuild_bytes, "bytes", Count(|run| run.counts().rebuilt_sectors * SECTOR_BYTES);
    /// duration of the rebuild that ended last in the whole run
    rebuild_s, "s", Float(|run| run.measures().rebuild_time.map(SimDuration::as_secs_f64));
    /// progress, at the end, of the rebuild that is furthest behind; 1 after the last rebuild
    rebuild_progress_fraction, "fraction", Float(|run| run.rebuild_progress());
    /// requests in flight when their array lost more disks than it tolerates, which ended the run
    failed_requests, "count", Count(|run| run.counts().failed_requests);
}
