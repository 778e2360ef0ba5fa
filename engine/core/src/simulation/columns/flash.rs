//! What happened to the flash of SSDs; null where there is none.

use super::column::{
    Reader::{Float, Int},
    column,
};
use super::run_view::ratio;
use super::{Column, RunView};
use crate::disk::{BlockDevice as _, FlashCounts};

pub(super) const COLUMNS: &[Column] = &[
    column(
        "ssd_write_amplification",
        "ratio",
        "sectors programmed in the SSDs, including copies and padding, per sector written to them",
        Float(|run| {
            ratio(sum(run, |flash| flash.programmed_sectors)?, sum(run, |flash| flash.host_sectors)?)
        }),
    ),
    column(
        "ssd_gc_copies",
        "count",
        "mapping units copied by garbage collection in the SSDs",
        Int(|run| sum(run, |flash| flash.copied_units)),
    ),
    column("ssd_erases", "count", "blocks erased in the SSDs", Int(|run| sum(run, |flash| flash.erases))),
];

/// A count over all SSDs.
fn sum(run: &RunView<'_>, read: fn(&FlashCounts) -> u64) -> Option<u64> {
    run.arrays
        .devices
        .iter()
        .filter_map(|device| device.usage().flash.as_ref())
        .map(read)
        .reduce(|sum, count| sum + count)
}
