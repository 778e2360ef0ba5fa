//! What the battery and losses of mains did.

use crate::units::SECTOR_BYTES;

columns! {
    /// share of the window in which the write cache took writes
    write_back_fraction, "fraction", Float(|run| {
        let length = run.window_s();
        (length > 0.0).then(|| run.measures().write_back.area_s() / length)
    });
    /// time in which dirty data was in the cache without battery protection
    unprotected_s, "s", Float(|run| Some(run.measures().unprotected.area_s()));
    /// charge of the battery at the end of the window; null without a battery
    battery_charge_fraction, "fraction", Float(|run| run.charge());
    /// time in which the hosts were off, from a loss of mains until the cache was flushed after their return
    outage_s, "s", Float(|run| Some(run.measures().outage.area_s()));
    /// requests that a loss of mains left unanswered
    requests_cut, "count", Count(|run| run.counts().requests_cut);
    /// dirty data that was still in the cache when the mains were back
    dirty_preserved_bytes, "bytes", Count(|run| run.counts().preserved_sectors * SECTOR_BYTES);
    /// dirty data of the write cache that was lost
    dirty_lost_bytes, "bytes", Count(|run| run.counts().lost_sectors * SECTOR_BYTES);
    /// data that disks with a volatile write cache had acknowledged and lost
    disk_lost_bytes, "bytes", Count(|run| run.counts().disk_lost_sectors * SECTOR_BYTES);
    /// disk writes, queued or in flight, that a loss of mains ended; those in flight may be partly written
    disk_writes_cut, "count", Count(|run| run.counts().disk_writes_cut);
    /// stripes whose parity may not match after a loss of mains, without cached data to rewrite them from
    write_holes, "count", Count(|run| run.counts().write_holes);
}
