//! Completed writes that may be only in a drive's own cache.
//!
//! A drive that caches writes puts them on its media at any time, without an event. So at a power cut, a sector whose
//! write was not forced may return to any version since the last one known to be on the media: that of a forced write,
//! or of the last write before a completed flush. If the drive reports that it has lost the sector, the oracle assumes
//! the oldest of them.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;

use super::Map;
use crate::units::{Lba, Sectors};

/// A sector of a device.
pub(in crate::simulation) type Place = (u32, u64);

/// A sector whose newest word may not be on the media.
#[derive(Debug)]
struct Unsure {
    /// The newest word that is.
    lasting: u64,
    /// The words written since, each with its position in the order of all writes.
    since: Vec<(u64, u64)>,
}

/// Completed writes that may not be on the media.
#[derive(Debug, Default)]
pub(in crate::simulation) struct Volatile {
    sectors: Map<Place, Unsure>,
    /// Number of completed writes.
    done: u64,
    /// Number of completed writes at the start of each flush of devices.
    flushes: Map<u32, u64>,
    /// Number of completed writes at the arrival of each flush of a host.
    requests: Map<u32, u64>,
}

impl Volatile {
    /// A sector that held the word `before` has been written with `word`, and may not be on the media.
    pub fn write(&mut self, place: Place, before: u64, word: u64) {
        self.done += 1;
        let unsure =
            self.sectors.entry(place).or_insert_with(|| Unsure { lasting: before, since: Vec::new() });
        unsure.since.push((self.done, word));
    }

    /// A sector has been written to the media.
    pub fn force(&mut self, place: Place) {
        self.sectors.remove(&place);
    }

    /// Whether the newest word of a sector is on the media.
    pub fn lasts(&self, place: Place) -> bool {
        !self.sectors.contains_key(&place)
    }

    /// A flush of devices begins.
    pub fn begin_flush(&mut self, operation: u32) {
        self.flushes.insert(operation, self.done);
    }

    /// A device has completed its part of a flush.
    pub fn flush(&mut self, operation: u32, device: u32) {
        let Some(&done) = self.flushes.get(&operation) else {
            unreachable!("a flush that never began is done")
        };
        self.sectors.retain(|place, unsure| {
            if place.0 == device {
                let flushed = unsure.since.partition_point(|&(at, _)| at <= done);
                if let Some((_, word)) = unsure.since.drain(..flushed).next_back() {
                    unsure.lasting = word;
                }
            }
            !unsure.since.is_empty()
        });
    }

    /// A host's flush has reached the controller.
    pub fn ask_flush(&mut self, request: u32) {
        self.requests.insert(request, self.done);
    }

    /// A host's flush is acknowledged: no write completed before its arrival may be only in the cache of a device for
    /// which `is_covered` holds.
    pub fn acknowledge_flush(&mut self, request: u32, is_covered: impl Fn(u32) -> bool) {
        let Some(asked) = self.requests.remove(&request) else {
            unreachable!("a flush is acknowledged that never came")
        };
        for (&(device, lba), unsure) in &self.sectors {
            assert!(
                !is_covered(device) || unsure.since.iter().all(|&(at, _)| at > asked),
                "a flush is acknowledged and sector {lba} of device {device} is only in the drive's cache",
            );
        }
    }

    /// The power is cut and the devices report the sectors that they have `lost`: returns the words to which those
    /// sectors return. Sectors being written are excluded.
    pub fn cut_power(
        &mut self,
        lost: &[(u32, Lba, Sectors)],
        under_way: &HashSet<Place, FxBuildHasher>,
    ) -> Map<Place, u64> {
        let mut fallen = Map::default();
        for &(device, first, sectors) in lost {
            for place in (first.0..first.0 + sectors.0).map(|lba| (device, lba)) {
                if let Some(unsure) = self.sectors.remove(&place) {
                    fallen.insert(place, unsure.lasting);
                } else {
                    assert!(
                        fallen.contains_key(&place) || under_way.contains(&place),
                        "device {device} loses sector {} of its media to a power cut",
                        place.1,
                    );
                }
            }
        }
        *self = Self::default();
        fallen
    }
}
