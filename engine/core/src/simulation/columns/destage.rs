//! What the write cache took and destaged.

use super::run_view::ratio;
use crate::units::SECTOR_BYTES;

columns! {
    /// sectors written to the write cache
    accepted_sectors, "sectors", Count(|run| run.counts().accepted_sectors);
    /// accepted sectors that overwrote dirty sectors
    absorbed_sectors, "sectors", Count(|run| run.counts().absorbed_sectors);
    /// sectors destaged from the write cache to the disks
    destaged_sectors, "sectors", Count(|run| run.counts().destaged_sectors);
    /// sectors written through the write cache, or around it
    bypassed_sectors, "sectors", Count(|run| run.counts().bypassed_sectors);
    /// dirty sectors at the start of the window
    dirty_start_sectors, "sectors", Count(|run| run.measures().dirty_start);
    /// dirty sectors at the end of the window
    dirty_end_sectors, "sectors", Count(|run| run.measures().dirty.value());
    /// writes that bypassed the write cache because of their size (`bypass_threshold`)
    writes_bypassed, "count", Count(|run| run.counts().bypassing_writes);
    /// writes that found no room in the write cache and were written through
    writes_turned_away, "count", Count(|run| run.counts().turned_away);
    /// stripe writes by destage
    destages, "count", Count(|run| run.counts().destages);
    /// stripe writes by destage of stripes that had reached the age limit
    destages_by_age, "count", Count(|run| run.counts().destages_by_age);
    /// host writes accepted by the write cache per stripe write by destage
    coalescing_factor, "ratio", Float(|run| ratio(run.counts().cached_writes, run.counts().destages));
    /// fraction of the stripe writes by destage that needed no old data
    full_stripe_fraction, "fraction", Float(|run| ratio(run.counts().full_stripes, run.counts().destages));
    /// writes that waited for a free line
    write_stalls, "count", Count(|run| run.counts().stalls);
    /// mean time that a stalled write waited for a free line
    write_stall_mean_us, "us", Float(|run| {
        let counts = &run.counts();
        (counts.stalls > 0).then(|| counts.stall_time.as_micros_f64() / counts.stalls as f64)
    });
    /// longest time that a stalled write waited for a free line
    write_stall_max_us, "us", Float(|run| Some(run.counts().stall_max.as_micros_f64()));
    /// mean share of the write cache that is dirty
    dirty_mean_fraction, "fraction", Float(|run| {
        let back = run.write_back.as_ref()?;
        let volume = back.capacity_sectors() as f64;
        let length = run.window_s();
        (length > 0.0).then(|| run.measures().dirty.area_s() / volume / length)
    });
    /// maximum amount of dirty data
    dirty_high_bytes, "bytes", Count(|run| run.measures().dirty.high() * SECTOR_BYTES);
    /// dirty data without battery protection, integrated over time
    data_at_risk_byte_s, "bytes s", Float(|run| Some(run.measures().at_risk.area_s() * SECTOR_BYTES as f64));
}
