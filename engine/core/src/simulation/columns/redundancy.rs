//! What disk failures and rebuilds did.

use crate::units::{SECTOR_BYTES, SimDuration};

columns! {
    /// time in the window during which an array was degraded, summed over the arrays
    degraded_s, "s", Float(|run| Some(run.measures().degraded.area_s()));
    /// reads within one stripe that reconstructed a missing strip from the others
    decoded_reads, "count", Count(|run| run.counts().decoded_reads);
    /// data that rebuilds wrote to new disks in the window
    rebuild_bytes, "bytes", Count(|run| run.counts().rebuilt_sectors * SECTOR_BYTES);
    /// duration of the last rebuild to end in the run
    rebuild_s, "s", Float(|run| run.measures().rebuild_time.map(SimDuration::as_secs_f64));
    /// progress, at the end of the run, of the rebuild that is furthest behind; 1 if all are complete
    rebuild_progress_fraction, "fraction", Float(|run| run.rebuild_progress());
    /// requests in flight when their array lost more disks than its RAID level tolerates, which ended the run
    failed_requests, "count", Count(|run| run.counts().failed_requests);
}
