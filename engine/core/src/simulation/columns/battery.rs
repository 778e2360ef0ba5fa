//! What the battery and losses of mains did.

use super::Column;
use super::column::{
    Reader::{Count, Float},
    column,
};
use crate::units::SECTOR_BYTES;

pub(super) const COLUMNS: &[Column] = &[
    column(
        "write_back_fraction",
        "fraction",
        "share of the window in which write-back was enabled",
        Float(|run| {
            let length = run.window_s();
            (length > 0.0).then(|| run.context.measures.write_back.area_s() / length)
        }),
    ),
    column(
        "unprotected_s",
        "s",
        "time during which the cache held dirty data without battery protection",
        Float(|run| Some(run.context.measures.unprotected.area_s())),
    ),
    column(
        "battery_charge_fraction",
        "fraction",
        "charge of the battery at the end of the window; null without a battery",
        Float(|run| run.charge()),
    ),
    column(
        "outage_s",
        "s",
        "time during which the hosts were off: from a loss of mains until the cache was drained after power returned",
        Float(|run| Some(run.context.measures.outage.area_s())),
    ),
    column(
        "requests_cut",
        "count",
        "requests that never completed because of a loss of mains",
        Count(|run| run.context.measures.counts.requests_cut),
    ),
    column(
        "dirty_preserved_bytes",
        "bytes",
        "dirty data that was still in the cache when the mains returned",
        Count(|run| run.context.measures.counts.preserved_sectors * SECTOR_BYTES),
    ),
    column(
        "dirty_lost_bytes",
        "bytes",
        "dirty data lost from the write cache",
        Count(|run| run.context.measures.counts.lost_sectors * SECTOR_BYTES),
    ),
    column(
        "disk_lost_bytes",
        "bytes",
        "acknowledged data lost from the volatile write caches of disks",
        Count(|run| run.context.measures.counts.disk_lost_sectors * SECTOR_BYTES),
    ),
    column(
        "disk_writes_cut",
        "count",
        "disk writes, queued or in flight, cut off by a loss of mains; those in flight may be partly written",
        Count(|run| run.context.measures.counts.disk_writes_cut),
    ),
    column(
        "write_holes",
        "count",
        "stripes whose parity may be inconsistent after a loss of mains and cannot be rewritten from the cache",
        Count(|run| run.context.measures.counts.write_holes),
    ),
];
