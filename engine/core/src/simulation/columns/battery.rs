//! What the battery and losses of mains did.

use super::super::Simulation;
use super::super::outcome::ColumnSink;
use super::{float, int};
use crate::units::SECTOR_BYTES;

pub(super) fn put_battery(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    let (b, c) = ("bytes", "count");
    float(
        sink,
        run,
        ("write_back_fraction", "fraction", "share of the window in which the write cache took writes"),
        |run| {
            let length = run.window_s();
            (length > 0.0).then(|| run.context.measures.write_back.area_s() / length)
        },
    );
    float(
        sink,
        run,
        ("unprotected_s", "s", "time in which dirty data was in the cache without battery protection"),
        |run| Some(run.context.measures.unprotected.area_s()),
    );
    float(
        sink,
        run,
        (
            "battery_charge_fraction",
            "fraction",
            "charge of the battery at the end of the window; missing where there is none",
        ),
        Simulation::charge,
    );
    float(
        sink,
        run,
        (
            "outage_s",
            "s",
            "time in which the hosts were off, from a loss of mains until the cache was flushed after their return",
        ),
        |run| Some(run.context.measures.outage.area_s()),
    );
    int(sink, run, ("requests_cut", c, "requests that losses of mains left without an answer"), |run| {
        run.context.measures.counts.requests_cut
    });
    int(
        sink,
        run,
        ("dirty_preserved_bytes", b, "dirty data that was still in the cache when the mains were back"),
        |run| run.context.measures.counts.preserved_sectors * SECTOR_BYTES,
    );
    int(sink, run, ("dirty_lost_bytes", b, "dirty data of the write cache that was lost"), |run| {
        run.context.measures.counts.lost_sectors * SECTOR_BYTES
    });
    int(
        sink,
        run,
        ("disk_lost_bytes", b, "data that disks with a volatile write cache had acknowledged and lost"),
        |run| run.context.measures.counts.disk_lost_sectors * SECTOR_BYTES,
    );
    int(
        sink,
        run,
        (
            "disk_writes_cut",
            c,
            "disk writes that losses of mains ended, waiting or under way: the latter may have been written in part",
        ),
        |run| run.context.measures.counts.disk_writes_cut,
    );
    int(
        sink,
        run,
        (
            "write_holes",
            c,
            "stripes that losses of mains left with parity that may not match, and no cache to write them again from",
        ),
        |run| run.context.measures.counts.write_holes,
    );
}
