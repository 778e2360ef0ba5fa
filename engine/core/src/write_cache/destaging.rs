//! From dirty to the disks: which group leaves, and what becomes of its lines.

use super::extent::join_runs;
use super::{Extent, NUMBER, WriteCache};
use crate::destage::{DestagePolicy as _, Occupancy, StripeId};
use crate::slab::Link;
use crate::units::{SimDuration, SimTime};

impl WriteCache {
    /// Whether `array` has dirty lines that are not on their way.
    #[inline]
    pub fn has_dirty(&self, array: u16) -> bool {
        self.groups.count(array) > 0
    }

    /// Groups of an array that may be on their way now.
    #[inline]
    pub fn allow(&mut self, occupancy: &Occupancy) -> u32 {
        self.destage.allow(occupancy)
    }

    /// The group of `array` that leaves next, passing over stripes for which `is_busy` is true.
    #[inline]
    pub fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u32> {
        let full = self.full.as_mut().and_then(|full| full[array as usize].choose(|stripe| !is_busy(stripe)));
        let stripe = full.or_else(|| self.destage.choose(array, is_busy))?;
        self.groups.find(StripeId { array, stripe })
    }

    /// The group of `array` that became dirty first of those that did so `limit` ago or earlier and are not busy.
    /// Precondition: the cache was made for an age limit.
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
            .find(|&(group, _)| !is_busy(self.groups.get(group).place.stripe))
            .map(|(group, _)| group)
    }

    /// When the next group of `array` will have been dirty for `limit`, beyond those that have been already.
    /// Precondition: the cache was made for an age limit.
    pub fn next_overdue(&self, array: u16, now: SimTime, limit: SimDuration) -> Option<SimTime> {
        self.groups.by_age(array).map(|(_, since)| since + limit).find(|&due| due > now)
    }

    /// The lines of `group` become going; gives the stripe, the list of its lines and their number, and puts their
    /// sectors into `extents`, by address, adjacent ones joined.
    pub fn begin_destage(&mut self, group: u32, extents: &mut Vec<Extent>) -> (u64, Link, u32) {
        let group = self.leave(group);
        let mut link = group.first;
        let mut going = Link::END;
        self.scratch.clear();
        while let Some(slot) = link.get() {
            let entry = &mut self.lines[slot as usize];
            link = entry.next;
            entry.going = entry.dirty;
            entry.dirty = 0;
            entry.next_going = going;
            going = Link::to(slot);
            self.scratch.push((entry.key & NUMBER, entry.going));
        }
        self.scratch.sort_unstable();
        extents.clear();
        for &(line, mask) in &self.scratch {
            join_runs(line * self.line_sectors, mask, extents);
        }
        (group.place.stripe, going, group.lines)
    }

    /// The lines of a destage are on the disks: those not written again meanwhile are clean, or free. Calls `each` with
    /// the number of every line and the sectors of it that stay readable. Gives the sectors that were destaged.
    pub fn end_destage(&mut self, mut going: Link, mut each: impl FnMut(u64, u64)) -> u64 {
        let mut destaged = 0;
        while let Some(slot) = going.get() {
            let line = &mut self.lines[slot as usize];
            going = line.next_going;
            destaged += u64::from(line.going.count_ones());
            if self.keeps_clean {
                line.clean |= line.going & !line.dirty;
            }
            line.going = 0;
            each(line.key & NUMBER, line.clean);
            if line.dirty == 0 {
                self.rest(slot);
            } else {
                self.second_versions -= 1;
            }
        }
        self.dirty_sectors -= destaged;
        destaged
    }
}
