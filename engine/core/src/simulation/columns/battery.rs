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
        "share of the window in which the write cache took writes",
        Float(|run| {
            let length = run.window_s();
            (length > 0.0).then(|| run.context.measures.write_back.area_s() / length)
        }),
    ),
    column(
        "unprotected_s",
        "s",
        "time in which dirty data was in the cache without battery protection",
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
        "time in which the hosts were off, from a loss of mains until the cache was flushed after their return",
        Float(|run| Some(run.context.measures.outage.area_s())),
    ),
    column(
        "requests_cut",
        "count",
        "requests that a loss of mains left unanswered",
        Count(|run| run.context.measures.counts.requests_cut),
    ),
    column(
        "dirty_preserved_bytes",
        "bytes",
        "dirty data that was still in the cache when the mains were back",
        Count(|run| run.context.measures.counts.preserved_sectors * SECTOR_BYTES),
    ),
    column(
        "dirty_lost_bytes",
        "bytes",
        "dirty data of the write cache that was lost",
        Count(|run| run.context.measures.counts.lost_sectors * SECTOR_BYTES),
    ),
    column(
        "disk_lost_bytes",
        "bytes",
        "data that disks with a volatile write cache had acknowledged and lost",
        Count(|run| run.context.measures.counts.disk_lost_sectors * SECTOR_BYTES),
    ),
    column(
        "disk_writes_cut",
        "count",
        "disk writes, queued or in flight, that a loss of mains ended; those in flight may be partly written",
        Count(|run| run.context.measures.counts.disk_writes_cut),
    ),
    column(
        "write_holes",
        "count",
        "stripes whose parity may not match after a loss of mains, without cached data to rewrite them from",
        Count(|run| run.context.measures.counts.write_holes),
    ),
];
