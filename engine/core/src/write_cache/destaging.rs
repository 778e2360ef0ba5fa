//! Destaging: the choice of the group, and the states of its lines.

use super::extent::join_runs;
use super::{Extent, Flight, NUMBER, WriteCache};
use crate::destage::{DestagePolicy as _, Occupancy, StripeId};
use crate::slab::Link;
use crate::units::{SimDuration, SimTime};

impl WriteCache {
    /// Whether `array` has dirty lines that are not in flight.
    #[inline]
    pub fn has_dirty(&self, array: u16) -> bool {
        self.groups.count(array) > 0
    }

    /// Groups of an array that may be in flight now.
    #[inline]
    pub fn allow(&mut self, occupancy: &Occupancy) -> u32 {
        self.destage.allow(occupancy)
    }

    /// The group of `array` to destage next, skipping stripes for which `is_busy` is true.
    #[inline]
    pub fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u32> {
        let full = self.full.as_mut().and_then(|full| full[array as usize].choose(|stripe| !is_busy(stripe)));
        let stripe = full.or_else(|| self.destage.choose(array, is_busy))?;
        self.groups.find(StripeId { array, stripe })
    }

    /// Whether all sectors of the stripe of `group` are dirty.
    #[inline]
    pub fn is_full(&self, group: u32) -> bool {
        let entry = self.groups.get(group);
        entry.sectors == self.stripe_sectors[entry.place().array as usize].get()
    }

    /// The group of `stripe`, which follows the one chosen last, if it is full and may be destaged with it.
    pub fn follow(&mut self, array: u16, stripe: u64) -> Option<u32> {
        let place = StripeId { array, stripe };
        let group = self.groups.find(place).filter(|&group| self.is_full(group))?;
        if !self.destage.follow(place) {
            return None;
        }
        if let Some(full) = &mut self.full {
            full[array as usize].pass(stripe);
        }
        Some(group)
    }

    /// The oldest group of `array` that has been dirty for `limit` and is not busy.
    /// Precondition: the cache has an age limit.
    pub fn overdue(
        &self,
        array: u16,
        now: SimTime,
        limit: SimDuration,
        is_busy: impl Fn(u64) -> bool,
    ) -> Option<u32> {
        self.groups
            .by_age(array)
            .take_while(|&(_, since)| since + limit <= now)
            .find(|&(group, _)| !is_busy(self.groups.get(group).place().stripe))
            .map(|(group, _)| group)
    }

    /// Time at which the next group of `array` will have been dirty for `limit`, except those that already have.
    /// Precondition: the cache has an age limit.
    pub fn next_overdue(&self, array: u16, now: SimTime, limit: SimDuration) -> Option<SimTime> {
        self.groups.by_age(array).map(|(_, since)| since + limit).find(|&due| due > now)
    }

    /// Puts the lines of `group` in flight; returns the stripe, the list of its lines and their number, and adds their
    /// sectors to `extents`, by address, with adjacent ones joined.
    pub fn begin_destage(&mut self, group: u32, extents: &mut Vec<Extent>) -> (u64, Link, u32) {
        let group = self.leave(group);
        let mut link = group.first;
        let mut in_flight = Link::END;
        self.scratch.clear();
        while let Some(slot) = link.get() {
            let entry = &mut self.lines[slot as usize];
            link = entry.next;
            let sectors = std::mem::take(&mut entry.dirty);
            in_flight = Link::to(self.flights.insert(Flight { sectors, line: slot, next: in_flight }));
            entry.flight = in_flight;
            self.scratch.push((entry.key & NUMBER, sectors));
            // Prefetches memory for the removal of the line when it is on the disks.
            std::hint::black_box(self.index.at_home(entry.key));
        }
        self.scratch.sort_unstable();
        extents.clear();
        for &(line, mask) in &self.scratch {
            join_runs(line * self.line_sectors, mask, extents);
        }
        (group.place().stripe, in_flight, group.lines)
    }

    /// The lines of a destage are on the disks: those not written again are clean or free. Calls `each` with each line and
    /// its sectors that remain readable. Returns the number of sectors destaged.
    pub fn end_destage(&mut self, mut in_flight: Link, mut each: impl FnMut(u64, u64)) -> u64 {
        let mut destaged = 0;
        while let Some(flight) = in_flight.get() {
            let Flight { sectors, line: slot, next } = self.flights.remove(flight);
            in_flight = next;
            destaged += u64::from(sectors.count_ones());
            let line = &mut self.lines[slot as usize];
            line.flight = Link::END;
            let (key, dirty) = (line.key, line.dirty);
            if let Some(clean) = self.clean.get_mut(slot as usize) {
                *clean |= sectors & !dirty;
            }
            each(key & NUMBER, self.clean(slot));
            if dirty == 0 {
                self.rest(slot);
            } else {
                self.second_versions -= 1;
            }
        }
        self.dirty_sectors -= destaged;
        destaged
    }
}
