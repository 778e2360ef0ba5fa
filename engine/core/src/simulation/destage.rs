//! Destage: dirty stripes go to the disks in the order and at the pace of the destage policy.
//!
//! A stripe that has been dirty for `age_limit` goes before all others, whatever the policy says; a stripe that is being
//! written is passed over, and tried again when that write is over.

use super::operation::{ArrayOperation, Parent};
use super::{Simulation, WriteBack};
use crate::destage::Occupancy;
use crate::event::Event;
use crate::raid::Update;
use crate::slab::Link;
use crate::units::SimDuration;

impl WriteBack {
    /// Lines that are dirty and not on their way.
    fn not_going(&self) -> u32 {
        self.cache.used().saturating_sub(self.going)
    }
}

impl Simulation {
    /// Starts the destages that are due, as far as the disks may hold them.
    pub(super) fn destage_if_due(&mut self) {
        if self.power.is_off() {
            return;
        }
        let Some(back) = &mut self.write_back else { return };
        back.yields = self.scenario.controller.cache.write.yield_to_reads
            && back.stalled.is_empty()
            && !back.is_draining;
        let age_limit = back.age_limit;
        for array in 0..self.arrays.len() as u16 {
            self.destage_array(array);
            if let Some(limit) = age_limit {
                self.await_age(array, limit);
            }
        }
    }

    fn destage_array(&mut self, array: u16) {
        loop {
            let state = &self.arrays[array as usize];
            let Some(back) = &mut self.write_back else { return };
            let occupancy = Occupancy {
                used: back.cache.used(),
                waiting: back.not_going(),
                is_stalled: !back.stalled.is_empty(),
                is_draining: back.is_draining,
                is_idle: back.idle_delay.is_some_and(|delay| state.idleness.has_lasted(self.now, delay)),
                limit: state.destage_limit,
            };
            let allowed = back.cache.allow(&occupancy);
            if state.destages >= state.destage_limit || !back.cache.has_dirty(array) {
                return;
            }
            let locks = &state.locks;
            let is_busy = |stripe: u64| locks.contains_key(&stripe);
            let overdue =
                back.age_limit.and_then(|limit| back.cache.overdue(array, self.now, limit, is_busy));
            let chosen = match overdue {
                None if state.destages < allowed => back.cache.choose(array, is_busy),
                overdue => overdue,
            };
            let Some(group) = chosen else { return };
            let (stripe, lines, count) = back.cache.begin_destage(group, &mut self.extents);
            self.probe.mutate_destage(&mut self.extents, overdue.is_some());
            back.going += count;
            self.arrays[array as usize].destages += 1;
            self.measures.counts.destages += 1;
            self.measures.counts.destages_by_age += u64::from(overdue.is_some());
            self.measures.counts.destage_extents += self.extents.len() as u64;
            let update = self.write_stripe(array, stripe, Parent::Destage { lines });
            self.measures.counts.full_stripes += u64::from(update == Some(Update::FullStripe));
        }
    }

    /// A destage is on the disks.
    pub(super) fn destage_done(&mut self, array: u16, lines: Link) {
        self.arrays[array as usize].destages -= 1;
        let Some(back) = &mut self.write_back else { return };
        let mut count = 0;
        let (read_cache, probe, line_sectors) = (&mut self.read_cache, &mut self.probe, self.line_sectors);
        let destaged = back.cache.end_destage(lines, |line, clean| {
            count += 1;
            probe.watch(|oracle| oracle.keep_clean(array, line * line_sectors, clean));
            // A fetch that began before this destage ended may bring the old data.
            if let Some(cache) = read_cache {
                cache.invalidate(array, line);
            }
        });
        back.going -= count;
        probe.watch(|oracle| oracle.compare(back.cache.dirty_sectors()));
        self.measures.counts.destaged_sectors += destaged;
        self.note_less_dirty();
        self.destage_if_due();
    }

    /// What `request` wrote to a stripe around the cache, as the operation `done`, is on the media: the older data that is
    /// still dirty has no use any more.
    pub(super) fn supersede(&mut self, request: u32, done: &ArrayOperation) {
        let (Some(back), Some(range)) = (&mut self.write_back, done.range) else { return };
        let (probe, line_sectors) = (&mut self.probe, self.line_sectors);
        let superseded = back.cache.supersede(request, range.stripe, |line, mask| {
            probe.watch(|oracle| oracle.supersede(done.array, line * line_sectors, mask));
        });
        if superseded > 0 {
            self.measures.counts.absorbed_sectors += superseded;
            self.note_less_dirty();
        }
    }

    /// Lines have become free.
    fn note_less_dirty(&mut self) {
        let is_drained =
            self.write_back.as_ref().is_some_and(|back| back.is_draining && back.cache.used() == 0);
        self.note_dirty();
        if is_drained {
            self.on_drained();
        }
        self.serve_stalled();
    }

    /// Sees to it that the next stripe that comes of age is destaged then. Those that have come of age already wait for a
    /// destage or a write to end.
    fn await_age(&mut self, array: u16, limit: SimDuration) {
        let state = &mut self.arrays[array as usize];
        let Some(back) = &self.write_back else { return };
        if state.awaits_age || state.destages >= state.destage_limit {
            return;
        }
        if let Some(due) = back.cache.next_overdue(array, self.now, limit) {
            state.awaits_age = true;
            self.events.schedule(due, Event::AgeLimit(array));
        }
    }

    /// A stripe may have come of age.
    pub(super) fn on_age_limit(&mut self, array: u16) {
        self.arrays[array as usize].awaits_age = false;
        self.destage_if_due();
    }

    /// A foreground I/O of an operation goes to its disk.
    pub(super) fn foreground_begins(&mut self, operation: u32) {
        let array = self.operations[operation].array;
        self.arrays[array as usize].idleness.foreground += 1;
    }

    /// A foreground I/O of an operation is done: when it was the last, its array begins to be idle.
    pub(super) fn foreground_done(&mut self, operation: u32) {
        let array = self.operations[operation].array;
        let idleness = &mut self.arrays[array as usize].idleness;
        idleness.foreground -= 1;
        idleness.since = self.now;
        if idleness.foreground == 0 {
            self.await_idle(array);
        }
    }

    /// Sees to it that destage starts when the array has been idle for long enough.
    pub(super) fn await_idle(&mut self, array: u16) {
        let Some(delay) = self.write_back.as_ref().and_then(|back| back.idle_delay) else { return };
        let idleness = &mut self.arrays[array as usize].idleness;
        if !idleness.is_awaited {
            idleness.is_awaited = true;
            self.events.schedule(idleness.since + delay, Event::Idle(array));
        }
    }

    /// An array may have been idle for long enough.
    pub(super) fn on_idle(&mut self, array: u16) {
        let Some(delay) = self.write_back.as_ref().and_then(|back| back.idle_delay) else { return };
        let idleness = &mut self.arrays[array as usize].idleness;
        idleness.is_awaited = false;
        if idleness.has_lasted(self.now, delay) {
            self.destage_if_due();
        } else if idleness.foreground == 0 {
            self.await_idle(array);
        }
    }
}

#[cfg(test)]
mod tests;
