//! Least recently written: the stripe with the oldest last write leaves first.
//!
//! ```text
//!   oldest ─► 7 ── 2 ── 9 ── 4 ◄─ newest        a write to 2 makes it the newest
//! ```
//!
//! LRU for writes: it keeps stripes that are likely to be overwritten, and so needs the fewest destages of all orders
//! by recency; under independent references its overwrites follow Che's approximation.
//!
//! Assumes: one group is one stripe, as recent as its last write.
//! Cost: O(1) per write and per stripe that leaves, and one step per busy stripe skipped.
//! Not for: random writes with few overwrites: destages are scattered over the disks and pay long seeks that C-SCAN
//! or WOW would avoid.
//!
//! Gill, Modha: WOW: wise ordering for writes, USENIX FAST, 2005, as the policy of temporal locality.

use super::{DestagePolicy, Occupancy, StripeId, Trigger, WaterMarks, Write};
use crate::slab::Link;

#[derive(Clone, Copy, Debug)]
struct Entry {
    stripe: u64,
    newer: Link,
    older: Link,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    newest: Link,
    oldest: Link,
}

/// Destage by time of the last write.
#[derive(Debug)]
pub struct LeastRecentlyWritten {
    arrays: Box<[Ends]>,
    entries: Vec<Entry>,
    marks: WaterMarks,
}

impl LeastRecentlyWritten {
    /// An empty order for a number of arrays.
    pub fn new(arrays: usize, marks: WaterMarks) -> Self {
        Self {
            arrays: vec![Ends { newest: Link::END, oldest: Link::END }; arrays].into(),
            entries: Vec::new(),
            marks,
        }
    }

    fn link_newest(&mut self, group: u32, array: u16) {
        let ends = &mut self.arrays[array as usize];
        let entry = &mut self.entries[group as usize];
        (entry.newer, entry.older) = (Link::END, ends.newest);
        match ends.newest.get() {
            Some(newest) => self.entries[newest as usize].newer = Link::to(group),
            None => ends.oldest = Link::to(group),
        }
        ends.newest = Link::to(group);
    }

    fn unlink(&mut self, group: u32, array: u16) {
        let ends = &mut self.arrays[array as usize];
        let Entry { newer, older, .. } = self.entries[group as usize];
        match newer.get() {
            Some(newer) => self.entries[newer as usize].older = older,
            None => ends.newest = older,
        }
        match older.get() {
            Some(older) => self.entries[older as usize].newer = newer,
            None => ends.oldest = newer,
        }
    }
}

impl DestagePolicy for LeastRecentlyWritten {
    fn enter(&mut self, group: u32, place: StripeId) {
        let index = group as usize;
        let entry = Entry { stripe: place.stripe, newer: Link::END, older: Link::END };
        if index >= self.entries.len() {
            self.entries.resize(index + 1, entry);
        }
        self.entries[index] = entry;
        self.link_newest(group, place.array);
    }

    #[inline]
    fn write(&mut self, group: u32, place: StripeId, _: Write) {
        if self.arrays[place.array as usize].newest != Link::to(group) {
            self.unlink(group, place.array);
            self.link_newest(group, place.array);
        }
    }

    fn leave(&mut self, group: u32, place: StripeId) {
        self.unlink(group, place.array);
    }

    fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u64> {
        let mut link = self.arrays[array as usize].oldest;
        while let Some(group) = link.get() {
            let entry = &self.entries[group as usize];
            if !is_busy(entry.stripe) {
                return Some(entry.stripe);
            }
            link = entry.newer;
        }
        None
    }

    #[inline]
    fn follow(&mut self, _: StripeId) -> bool {
        true
    }

    #[inline]
    fn allow(&mut self, occupancy: &Occupancy) -> u32 {
        self.marks.allow(occupancy)
    }
}

#[cfg(test)]
mod tests {
    use super::super::order_laws::{enter, next, write};
    use super::*;

    #[test]
    fn a_written_stripe_leaves_last() {
        let mut policy = LeastRecentlyWritten::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[7, 2, 9, 4]);
        write(&mut policy, &[7, 9]);
        assert_eq!(next(&mut policy, 1), [2]);
        enter(&mut policy, &[1]);
        write(&mut policy, &[4]);
        assert_eq!(next(&mut policy, 4), [7, 9, 1, 4]);
    }

    #[test]
    fn a_busy_stripe_keeps_its_place() {
        let mut policy = LeastRecentlyWritten::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[3, 1, 2]);
        assert_eq!(policy.choose(0, |stripe| stripe == 3), Some(1));
        assert_eq!(next(&mut policy, 3), [3, 1, 2]);
    }
}
