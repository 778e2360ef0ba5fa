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
            (length > 0.0).then(|| run.measures.write_back.area_s() / length)
        }),
    ),
    column(
        "unprotected_s",
        "s",
        "time in which dirty data was in the cache without battery protection",
        Float(|run| Some(run.measures.unprotected.area_s())),
    ),
    column(
        "battery_charge_fraction",
        "fraction",
        "charge of the battery at the end of the window; missing where there is none",
        Float(|run| run.charge()),
    ),
    column(
        "outage_s",
        "s",
        "time in which the hosts were off, from a loss of mains until the cache was flushed after their return",
        Float(|run| Some(run.measures.outage.area_s())),
    ),
    column(
        "requests_cut",
        "count",
        "requests that losses of mains left without an answer",
        Count(|run| run.measures.counts.requests_cut),
    ),
    column(
        "dirty_preserved_bytes",
        "bytes",
        "dirty data that was still in the cache when the mains were back",
        Count(|run| run.measures.counts.preserved_sectors * SECTOR_BYTES),
    ),
    column(
        "dirty_lost_bytes",
        "bytes",
        "dirty data of the write cache that was lost",
        Count(|run| run.measures.counts.lost_sectors * SECTOR_BYTES),
    ),
    column(
        "disk_lost_bytes",
        "bytes",
        "data that disks with a volatile write cache had acknowledged and lost",
        Count(|run| run.measures.counts.disk_lost_sectors * SECTOR_BYTES),
    ),
    column(
        "disk_writes_cut",
        "count",
        "disk writes that losses of mains ended, waiting or under way: the latter may have been written in part",
        Count(|run| run.measures.counts.disk_writes_cut),
    ),
    column(
        "write_holes",
        "count",
        "stripes that losses of mains left with parity that may not match, and no cache to write them again from",
        Count(|run| run.measures.counts.write_holes),
    ),
];
