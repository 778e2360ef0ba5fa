//! What was done to the flash of SSDs; null where there is none.

use super::super::Simulation;
use super::super::outcome::{ColumnSink, Value};
use super::{float, ratio};
use crate::disk::{BlockDevice as _, FlashCounts};

pub(super) fn put_flash(run: Option<&Simulation>, sink: &mut impl ColumnSink) {
    fn sum(run: Option<&Simulation>, read: impl Fn(&FlashCounts) -> u64) -> Option<u64> {
        let flash = run?.arrays.devices.iter().filter_map(|device| device.usage().flash.as_ref());
        flash.map(read).fold(None, |sum, count| Some(sum.unwrap_or(0) + count))
    }
    let meaning =
        "sectors programmed in the SSDs, copies and padding included, for each sector written to them";
    float(sink, run, ("ssd_write_amplification", "ratio", meaning), |run| {
        ratio(sum(Some(run), |flash| flash.programmed_sectors)?, sum(Some(run), |flash| flash.host_sectors)?)
    });
    let mut count = |name: &str, meaning: &str, read: fn(&FlashCounts) -> u64| {
        sink.put(name, "count", meaning, Value::Int(sum(run, read).map(u64::cast_signed)));
    };
    count("ssd_gc_copies", "mapping units that garbage collection copied in the SSDs", |flash| {
        flash.copied_units
    });
    count("ssd_erases", "blocks erased in the SSDs", |flash| flash.erases);
}
