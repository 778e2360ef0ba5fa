//! Destage: dirty stripes go to the disks between the high and the low water mark, in elevator order.

use super::array_state::Parent;
use super::{Simulation, WriteBack};
use crate::raid::Update;
use crate::slab::Link;
use crate::units::Lba;

impl WriteBack {
    /// Lines that are dirty and not on their way.
    fn not_going(&self) -> u32 {
        self.cache.used().saturating_sub(self.going)
    }
}

impl Simulation {
    /// Starts destaging at the high water mark, goes on as far as the disks may hold destages, stops at the low one.
    pub(super) fn destage_if_due(&mut self) {
        if self.power.is_off() {
            return;
        }
        let Some(back) = &mut self.write_back else { return };
        back.yields = self.scenario.controller.cache.write.yield_to_reads && back.stalled.is_empty();
        if back.cache.used() >= back.high || !back.stalled.is_empty() || back.is_draining {
            back.is_destaging = true;
        }
        if !back.is_destaging {
            return;
        }
        for array in 0..self.arrays.len() {
            self.destage_array(array as u16);
        }
    }

    fn destage_array(&mut self, array: u16) {
        loop {
            let state = &self.arrays[array as usize];
            let Some(back) = &mut self.write_back else { return };
            let low = if back.is_draining { 0 } else { back.low };
            if back.not_going() <= low && back.stalled.is_empty() {
                back.is_destaging = false;
                return;
            }
            if state.destages >= state.destage_limit || !back.cache.has_dirty(array) {
                return;
            }
            let locks = &state.locks;
            let is_busy = |stripe: u64| locks.contains_key(&stripe);
            let Some((stripe, lines, count)) = back.cache.begin_destage(array, is_busy, &mut self.extents)
            else {
                return;
            };
            self.destage_lines(array, stripe, lines, count);
        }
    }

    /// Sends `count` lines of a stripe, whose sectors are in `self.extents`, to the disks.
    fn destage_lines(&mut self, array: u16, stripe: u64, lines: Link, count: u32) {
        #[cfg(all(test, debug_assertions))]
        if self.fault == Some(super::oracle::Fault::ForgottenExtent) && self.extents.len() > 1 {
            self.extents.pop();
        }
        if let Some(back) = &mut self.write_back {
            back.going += count;
        }
        self.arrays[array as usize].destages += 1;
        self.measures.counts.destages += 1;
        self.measures.counts.destage_extents += self.extents.len() as u64;
        let update = self.write_stripe(array, stripe, Parent::Destage { lines });
        self.measures.counts.full_stripes += u64::from(update == Some(Update::FullStripe));
    }

    /// Makes way for a write of the sectors `from` to `to` past the cache: stripes of it that are dirty are destaged
    /// first, so that the newer data reach the disks later. Gives false where one of them has to wait for that, since a
    /// write of it is under way.
    pub(super) fn make_way(&mut self, array: u16, from: u64, to: u64) -> bool {
        #[cfg(all(test, debug_assertions))]
        if self.fault == Some(super::oracle::Fault::DrainOvertaken) {
            return true;
        }
        let layout = self.arrays[array as usize].layout;
        let mut is_clear = true;
        for stripe in layout.stripe_of(Lba(from))..=layout.stripe_of(Lba(to - 1)) {
            let Some(back) = &mut self.write_back else { return true };
            if !back.cache.is_dirty(array, stripe) {
                continue;
            }
            if self.arrays[array as usize].locks.contains_key(&stripe) {
                is_clear = false;
            } else if let Some((lines, count)) = back.cache.begin_destage_of(array, stripe, &mut self.extents)
            {
                self.destage_lines(array, stripe, lines, count);
            }
        }
        is_clear
    }

    /// A destage is on the disks.
    pub(super) fn destage_done(&mut self, array: u16, lines: Link) {
        self.arrays[array as usize].destages -= 1;
        let Some(back) = &mut self.write_back else { return };
        let mut count = 0;
        let read_cache = &mut self.read_cache;
        let destaged = back.cache.end_destage(lines, |line| {
            count += 1;
            // A fetch that began before this destage ended may bring the old data.
            if let Some(cache) = read_cache {
                cache.invalidate(array, line);
            }
        });
        back.going -= count;
        #[cfg(debug_assertions)]
        self.oracle.compare(back.cache.dirty_sectors());
        self.measures.counts.destaged_sectors += destaged;
        let is_drained = back.is_draining && back.cache.used() == 0;
        self.note_dirty();
        if is_drained {
            self.on_drained();
        }
        self.serve_stalled();
        self.destage_if_due();
    }
}
