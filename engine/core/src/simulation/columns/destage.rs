//! What the write cache took and destaged.

use super::Column;
use super::column::{
    Reader::{Count, Float},
    column,
};
use super::run_view::ratio;
use crate::units::SECTOR_BYTES;

pub(super) const COLUMNS: &[Column] = &[
    column(
        "accepted_sectors",
        "sectors",
        "sectors that the write cache took",
        Count(|run| run.context.measures.counts.accepted_sectors),
    ),
    column(
        "absorbed_sectors",
        "sectors",
        "of those, sectors that overwrote dirty ones",
        Count(|run| run.context.measures.counts.absorbed_sectors),
    ),
    column(
        "destaged_sectors",
        "sectors",
        "sectors that went from the write cache to the disks",
        Count(|run| run.context.measures.counts.destaged_sectors),
    ),
    column(
        "bypassed_sectors",
        "sectors",
        "sectors written through, or around the write cache",
        Count(|run| run.context.measures.counts.bypassed_sectors),
    ),
    column(
        "dirty_start_sectors",
        "sectors",
        "dirty sectors at the start of the window",
        Count(|run| run.context.measures.dirty_start),
    ),
    column(
        "dirty_end_sectors",
        "sectors",
        "dirty sectors at the end of the window",
        Count(|run| run.context.measures.dirty.value()),
    ),
    column(
        "writes_bypassed",
        "count",
        "writes that bypassed the write cache because of their size",
        Count(|run| run.context.measures.counts.bypassing_writes),
    ),
    column(
        "writes_turned_away",
        "count",
        "writes that found no room in the write cache and were written through",
        Count(|run| run.context.measures.counts.turned_away),
    ),
    column(
        "destages",
        "count",
        "stripe writes that destaged",
        Count(|run| run.context.measures.counts.destages),
    ),
    column(
        "destages_by_age",
        "count",
        "of those, writes of stripes that had reached the age limit",
        Count(|run| run.context.measures.counts.destages_by_age),
    ),
    column(
        "coalescing_factor",
        "ratio",
        "host writes taken by the write cache for each stripe write that destaged",
        Float(|run| ratio(run.context.measures.counts.cached_writes, run.context.measures.counts.destages)),
    ),
    column(
        "full_stripe_fraction",
        "fraction",
        "of the stripe writes that destaged, those that needed no old data",
        Float(|run| ratio(run.context.measures.counts.full_stripes, run.context.measures.counts.destages)),
    ),
    column(
        "write_stalls",
        "count",
        "writes that waited for a free line",
        Count(|run| run.context.measures.counts.stalls),
    ),
    column(
        "write_stall_mean_us",
        "us",
        "mean time that such a write waited",
        Float(|run| {
            let counts = &run.context.measures.counts;
            (counts.stalls > 0).then(|| counts.stall_time.as_micros_f64() / counts.stalls as f64)
        }),
    ),
    column(
        "write_stall_max_us",
        "us",
        "longest time that such a write waited",
        Float(|run| Some(run.context.measures.counts.stall_max.as_micros_f64())),
    ),
    column(
        "dirty_mean_fraction",
        "fraction",
        "mean share of the write cache that is dirty",
        Float(|run| {
            let back = run.write_back.as_ref()?;
            let volume = back.capacity_sectors() as f64;
            let length = run.window_s();
            (length > 0.0).then(|| run.context.measures.dirty.area_s() / volume / length)
        }),
    ),
    column(
        "dirty_high_bytes",
        "bytes",
        "most dirty data at any moment",
        Count(|run| run.context.measures.dirty.high() * SECTOR_BYTES),
    ),
    column(
        "data_at_risk_byte_s",
        "bytes s",
        "dirty data without battery protection, integrated over time",
        Float(|run| Some(run.context.measures.at_risk.area_s() * SECTOR_BYTES as f64)),
    ),
];
