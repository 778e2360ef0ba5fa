//! What the battery and losses of mains did.

use crate::units::SECTOR_BYTES;

columns! {
    /// share of the window in which write-back was enabled
    write_back_fraction, "fraction", Float(|run| {
        let length = run.window_s();
        (length > 0.0).then(|| run.measures().write_back.area_s() / length)
    });
    /// time during which the cache held dirty data without battery protection
    unprotected_s, "s", Float(|run| Some(run.measures().unprotected.area_s()));
    /// charge of the battery at the end of the window; null without a battery
    battery_charge_fraction, "fraction", Float(|run| run.charge());
    /// time during which the hosts were off: from a loss of mains until the cache was drained after power
    /// returned
    outage_s, "s", Float(|run| Some(run.measures().outage.area_s()));
    /// requests that never completed because of a loss of mains
    requests_cut, "count", Count(|run| run.counts().requests_cut);
    /// dirty data that was still in the cache when the mains returned
    dirty_preserved_bytes, "bytes", Count(|run| run.counts().preserved_sectors * SECTOR_BYTES);
    /// dirty data lost from the write cache
    dirty_lost_bytes, "bytes", Count(|run| run.counts().lost_sectors * SECTOR_BYTES);
    /// acknowledged data lost from the volatile write caches of disks
    disk_lost_bytes, "bytes", Count(|run| run.counts().disk_lost_sectors * SECTOR_BYTES);
    /// disk writes, queued or in flight, cut off by a loss of mains; those in flight may be partly written
    disk_writes_cut, "count", Count(|run| run.counts().disk_writes_cut);
    /// stripes whose parity may be inconsistent after a loss of mains and cannot be rewritten from the cache
    write_holes, "count", Count(|run| run.counts().write_holes);
}
