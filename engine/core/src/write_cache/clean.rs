//! Clean lines: destaged data that stay readable until their line is needed, oldest destage first.

use super::{Extent, Line, WriteCache, key};
use crate::mutation::Mutation;
use crate::slab::Link;

impl WriteCache {
    /// Makes room for one more line, if necessary by evicting the line that was destaged first.
    #[inline]
    pub(super) fn make_room(&mut self) {
        if self.taken() == self.capacity
            && let Some(slot) = self.first_clean.get()
        {
            self.leave_clean(slot);
            self.remove_line(slot);
        }
    }

    /// Keeps a line that is no longer dirty or in flight if it has clean sectors, else frees it.
    pub(super) fn rest(&mut self, slot: u32) {
        if self.clean(slot) == 0 {
            self.remove_line(slot);
            return;
        }
        let last = self.last_clean;
        let line = &mut self.lines[slot as usize];
        (line.next, line.before) = (Link::END, last);
        match last.get() {
            Some(last) => self.lines[last as usize].next = Link::to(slot),
            None => self.first_clean = Link::to(slot),
        }
        self.last_clean = Link::to(slot);
        self.clean_lines += 1;
    }

    /// Removes a line from the list of clean lines.
    pub(super) fn leave_clean(&mut self, slot: u32) {
        let Line { next, before, .. } = self.lines[slot as usize];
        match next.get() {
            Some(next) => self.lines[next as usize].before = before,
            None => self.last_clean = before,
        }
        match before.get() {
            Some(before) => self.lines[before as usize].next = next,
            None => self.first_clean = next,
        }
        self.clean_lines -= 1;
    }

    /// The sectors of `extent` change on the media: their clean copies are no longer readable.
    pub fn forget_clean(&mut self, array: u16, extent: Extent) {
        if !self.keeps_clean || self.mutant.has(Mutation::StaleClean) {
            return;
        }
        self.for_lines(extent, |cache, line, mask| {
            let Some(slot) = cache.find(key(array, line)) else { return };
            cache.soil(slot, mask);
            let line = &cache.lines[slot as usize];
            if line.dirty | cache.clean(slot) == 0 && line.flight == Link::END {
                cache.leave_clean(slot);
                cache.remove_line(slot);
            }
        });
    }
}
