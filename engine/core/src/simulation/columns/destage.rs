//! What the write cache took and destaged.

use super::super::Simulation;
use super::super::outcome::ColumnSink;
use super::{float, int, ratio};
use crate::units::SECTOR_BYTES;

pub(super) fn put_destage(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    let (s, c) = ("sectors", "count");
    int(sink, run, ("accepted_sectors", s, "sectors that the write cache took"), |run| {
        run.context.measures.counts.accepted_sectors
    });
    int(sink, run, ("absorbed_sectors", s, "of those, sectors that overwrote dirty ones"), |run| {
        run.context.measures.counts.absorbed_sectors
    });
    int(sink, run, ("destaged_sectors", s, "sectors that went from the write cache to the disks"), |run| {
        run.context.measures.counts.destaged_sectors
    });
    int(
        sink,
        run,
        ("bypassed_sectors", s, "sectors that were written through, or around the write cache"),
        |run| run.context.measures.counts.bypassed_sectors,
    );
    int(sink, run, ("dirty_start_sectors", s, "dirty sectors at the start of the window"), |run| {
        run.context.measures.dirty_start
    });
    int(sink, run, ("dirty_end_sectors", s, "dirty sectors at the end of the window"), |run| {
        run.context.measures.dirty.value()
    });
    int(sink, run, ("writes_bypassed", c, "writes that went around the write cache for their size"), |run| {
        run.context.measures.counts.bypassing_writes
    });
    int(sink, run, ("destages", c, "stripe writes that destaged"), |run| {
        run.context.measures.counts.destages
    });
    int(
        sink,
        run,
        ("destages_by_age", c, "of those, stripes that left because they had been dirty for the age limit"),
        |run| run.context.measures.counts.destages_by_age,
    );
    float(
        sink,
        run,
        (
            "coalescing_factor",
            "ratio",
            "host writes taken by the write cache for each stripe write that destaged",
        ),
        |run| ratio(run.context.measures.counts.cached_writes, run.context.measures.counts.destages),
    );
    float(
        sink,
        run,
        (
            "full_stripe_fraction",
            "fraction",
            "of the stripe writes that destaged, those that needed no old data",
        ),
        |run| ratio(run.context.measures.counts.full_stripes, run.context.measures.counts.destages),
    );
    int(sink, run, ("write_stalls", c, "writes that waited for a free line"), |run| {
        run.context.measures.counts.stalls
    });
    float(sink, run, ("write_stall_mean_us", "us", "mean time that such a write waited"), |run| {
        let counts = &run.context.measures.counts;
        (counts.stalls > 0).then(|| counts.stall_time.as_micros_f64() / counts.stalls as f64)
    });
    float(sink, run, ("write_stall_max_us", "us", "longest time that such a write waited"), |run| {
        Some(run.context.measures.counts.stall_max.as_micros_f64())
    });
    float(
        sink,
        run,
        ("dirty_mean_fraction", "fraction", "mean share of the write cache that is dirty"),
        |run| {
            let back = run.write_back.as_ref()?;
            let volume = back.capacity_sectors() as f64;
            let length = run.window_s();
            (length > 0.0).then(|| run.context.measures.dirty.area_s() / volume / length)
        },
    );
    int(sink, run, ("dirty_high_bytes", "bytes", "most dirty data at any moment"), |run| {
        run.context.measures.dirty.high() * SECTOR_BYTES
    });
    float(
        sink,
        run,
        ("data_at_risk_byte_s", "bytes s", "dirty data without battery protection, integrated over time"),
        |run| Some(run.context.measures.at_risk.area_s() * SECTOR_BYTES as f64),
    );
}
