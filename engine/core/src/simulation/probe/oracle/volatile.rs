//! What is done and perhaps only in a drive's own cache.
//!
//! A drive that caches writes puts them on its media at times of its own, without an event. So a sector whose
//! write was not forced may fall back at a power cut to any version since the last that is known to be on the media:
//! the one of a forced write, or of the last write done before a flush that is done. If the drive reports that it has
//! lost the sector, the oracle assumes the oldest of them.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;

use super::Map;
use crate::units::{Lba, Sectors};

/// A sector of a device.
pub(in crate::simulation) type Place = (u32, u64);

/// A sector whose newest word may not be on the media.
#[derive(Debug)]
struct Unsure {
    /// What is.
    lasting: u64,
    /// What was written since, each with its place in the order of all writes.
    since: Vec<(u64, u64)>,
}

/// What is done and perhaps not on the media.
#[derive(Debug, Default)]
pub(in crate::simulation) struct Volatile {
    sectors: Map<Place, Unsure>,
    /// Writes done so far.
    done: u64,
    /// How many were done when each flush of devices began.
    flushes: Map<u32, u64>,
    /// How many were done when each flush of a host arrived.
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

    /// A sector has been written for good.
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

    /// A device has done its part of a flush.
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

    /// A host's flush is acknowledged: nothing done before it arrived may be in the cache of a device that `is_meant`.
    pub fn acknowledge_flush(&mut self, request: u32, is_meant: impl Fn(u32) -> bool) {
        let Some(asked) = self.requests.remove(&request) else {
            unreachable!("a flush is acknowledged that never came")
        };
        for (&(device, lba), unsure) in &self.sectors {
            assert!(
                !is_meant(device) || unsure.since.iter().all(|&(at, _)| at > asked),
                "a flush is acknowledged and sector {lba} of device {device} is only in the drive's cache",
            );
        }
    }

    /// Power is cut and the devices say what they have `lost`: gives the words to which those sectors fall back. What
    /// was being written is neither there nor lost.
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
