//! The oracle at a power cut: what may be lost, and what may not.

use super::{Oracle, Version};
use crate::battery::State;
use crate::config;
use crate::units::SimTime;

impl Oracle {
    /// A write is repeated: the part that the cache has accepted is discarded.
    pub fn write_anew(&mut self, request: u32) {
        self.requests.remove(&request);
    }

    /// The power is cut: everything in progress ends.
    pub fn cut_power(&mut self) {
        for (_, write) in self.writes.drain() {
            for (sector, version) in write.sectors {
                let Some(block) = self.blocks.get_mut(&(write.array, sector)) else { continue };
                if write.has_begun {
                    block.is_under_way = false;
                }
                if write.is_destage {
                    block.going = 0;
                    if block.dirty == 0 {
                        block.dirty = version;
                    } else {
                        self.held -= 1;
                    }
                } else if write.has_begun && sector % 2 == 1 && block.cached() == 0 {
                    // Torn: every second sector is new. An older, acknowledged dirty version is written over it when
                    // the mains return.
                    block.media = version;
                }
            }
        }
        self.requests.clear();
        self.fetches.clear();
        self.lines.clear();
    }

    /// A drive has lost the contents of its own cache: a sector has returned to `version`.
    pub fn fall_back(&mut self, array: u16, sector: u64, version: Version) {
        let Some(block) = self.blocks.get_mut(&(array, sector)) else { return };
        assert!(
            version >= block.lasting,
            "sector {sector} of array {array} falls back to version {version}, and a newer one was on the media: {block:?}",
        );
        block.media = version;
        assert!(
            block.newest() >= block.promised,
            "sector {sector} of array {array} falls back to version {version}, and a newer one was promised: {block:?}",
        );
        block.acknowledged = block.acknowledged.min(block.newest());
    }

    /// The power is cut and the losses are known: everything else is on the media.
    pub fn settle(&mut self) {
        for block in self.blocks.values_mut() {
            block.lasting = block.media;
        }
    }

    /// The mains are lost with the battery at `charge`.
    pub fn lose_mains(&mut self, now: SimTime, charge: f64) {
        self.cut = Some((now, charge));
    }

    /// Dirty data is lost, according to the state of the battery.
    pub fn lose_dirty(&mut self, now: SimTime, battery: &config::Battery, state: State) {
        let Some((cut, charge)) = self.cut else { unreachable!("data are lost without a loss of mains") };
        let lasts = battery.holdup.0 as f64 * charge;
        let is_copied = battery.flash_copy_time().is_some_and(|copy| copy.0 as f64 <= lasts);
        // Times are rounded to the nearest nanosecond.
        let is_used_up = now.since(cut).0 as f64 + 0.5 >= lasts && !is_copied;
        assert!(
            matches!(state, State::Absent | State::Failed) || is_used_up,
            "{} dirty sectors are lost although the battery holds them: {} s after a cut at a charge of {charge}",
            self.held,
            now.since(cut).as_secs_f64(),
        );
        for block in self.blocks.values_mut() {
            if block.cached() > 0 {
                (block.dirty, block.going) = (0, 0);
                block.acknowledged = block.acknowledged.min(block.media);
                block.promised = block.promised.min(block.media);
            }
        }
        self.held = 0;
    }
}
