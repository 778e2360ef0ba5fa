//! Membership of lines in groups, and of groups in orders.

use super::{WriteCache, groups};
use crate::destage::{DestagePolicy as _, StripeId, Write};
use crate::slab::Link;
use crate::units::SimTime;

impl WriteCache {
    /// A line became dirty.
    #[inline]
    pub(super) fn join_group(&mut self, now: SimTime, array: u16, line: u64, slot: u32) {
        let place = self.stripe_of(array, line);
        let sectors = u64::from(self.lines[slot as usize].dirty.count_ones());
        let found = self.groups.find(place);
        let group = found.unwrap_or_else(|| self.groups.add(place, now));
        let entry = self.groups.get_mut(group);
        let line_entry = &mut self.lines[slot as usize];
        (line_entry.group, line_entry.next) = (group, entry.first);
        entry.first = Link::to(slot);
        entry.lines += 1;
        if found.is_some() {
            self.write_group(group, line, sectors, false);
        } else {
            entry.last_line = line;
            entry.sectors = sectors;
            self.destage.enter(group, place);
            self.record_full(group);
        }
    }

    /// An existing group was written, and has `added` more dirty sectors.
    #[inline]
    pub(super) fn write_group(&mut self, group: u32, line: u64, added: u64, is_overwrite: bool) {
        let entry = self.groups.get_mut(group);
        entry.sectors += added;
        let last = std::mem::replace(&mut entry.last_line, line);
        let (place, lines) = (entry.place(), entry.lines);
        // A stream that also reads leaves gaps: what goes on behind them is still a part of it.
        let is_sequential = line == last.wrapping_add(1)
            || (!is_overwrite && (line == last || (line > last && self.is_after_another(place))));
        self.destage.write(group, place, Write { lines, is_sequential });
        if added > 0 {
            self.record_full(group);
        }
    }

    /// Whether the stripe before `place` has dirty lines.
    fn is_after_another(&self, place: StripeId) -> bool {
        place.stripe > 0 && self.groups.find(StripeId { stripe: place.stripe - 1, ..place }).is_some()
    }

    /// Records a group whose stripe is fully dirty.
    #[inline]
    pub(super) fn record_full(&mut self, group: u32) {
        if let Some(full) = &mut self.full {
            let entry = self.groups.get(group);
            let array = entry.place().array as usize;
            if entry.sectors == self.stripe_sectors[array].get() {
                full[array].enter(entry.place().stripe);
            }
        }
    }

    /// Removes a group from all orders.
    pub(super) fn leave(&mut self, group: u32) -> groups::Group {
        let entry = self.groups.remove(group);
        self.destage.leave(group, entry.place());
        if let Some(full) = &mut self.full {
            full[entry.place().array as usize].leave(entry.place().stripe);
        }
        entry
    }

    /// A line is no longer dirty: it leaves its group.
    pub(super) fn leave_group(&mut self, slot: u32, group: u32) {
        let entry = self.groups.get_mut(group);
        let next = self.lines[slot as usize].next;
        if entry.first == Link::to(slot) {
            entry.first = next;
        } else {
            let mut link = entry.first;
            while let Some(before) = link.get() {
                link = self.lines[before as usize].next;
                if link == Link::to(slot) {
                    self.lines[before as usize].next = next;
                }
            }
        }
        entry.lines -= 1;
        if entry.lines == 0 {
            self.leave(group);
        }
        if self.lines[slot as usize].flight == Link::END {
            self.rest(slot);
        } else {
            self.second_versions -= 1;
        }
    }
}
