//! What happened to the flash of SSDs; null where there is none.

use super::RunView;
use super::run_view::ratio;
use crate::disk::{BlockDevice as _, FlashCounts};

columns! {
    /// sectors programmed in the SSDs, including copies and padding, per sector written to them
    ssd_write_amplification, "ratio", Float(|run| {
        ratio(sum(run, |flash| flash.programmed_sectors)?, sum(run, |flash| flash.host_sectors)?)
    });
    /// mapping units copied by garbage collection in the SSDs
    ssd_gc_copies, "count", Int(|run| sum(run, |flash| flash.copied_units));
    /// blocks erased in the SSDs
    ssd_erases, "count", Int(|run| sum(run, |flash| flash.erases));
}

/// A count over all SSDs.
fn sum(run: &RunView<'_>, read: fn(&FlashCounts) -> u64) -> Option<u64> {
    run.arrays
        .devices
        .iter()
        .filter_map(|device| device.usage().flash.as_ref())
        .map(read)
        .reduce(|sum, count| sum + count)
}
