//! The order of writes to one stripe: those that touch the same data, or the same parity, go one after the other.
//!
//! Disks serve their queues in an order of their own. Two writes of one sector that were under way at a time could
//! reach the media, or the two mirrors, in different orders, and a newer version would be lost. So a write waits for
//! the writes to its stripe that are under way and overlap it, and for all that wait already; where there is parity,
//! all writes to a stripe overlap.

use std::collections::hash_map::Entry;

use super::Simulation;
use super::array_state::ArrayOperation;
use crate::raid::Layout;
use crate::slab::{Fifo, Link, Slab};
use crate::write_cache::Extent;

/// The part of a stripe that a write has to itself \[sectors of the array\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRange {
    /// The stripe.
    pub stripe: u64,
    start: u64,
    end: u64,
    /// Whether others that share may hold it at the same time.
    is_shared: bool,
}

impl WriteRange {
    /// What a write of `extents`, by rising address, has to itself: all of `stripe` where there is parity.
    pub fn of(layout: &Layout, stripe: u64, extents: &[Extent]) -> Self {
        if layout.level().parities() > 0 {
            return Self::whole(stripe);
        }
        let start = extents.first().map_or(0, |extent| extent.lba.0);
        let end = extents.last().map_or(0, |extent| extent.lba.0 + extent.sectors.0);
        Self::part(stripe, start, end)
    }

    /// All of `stripe`.
    pub const fn whole(stripe: u64) -> Self {
        Self { stripe, start: 0, end: u64::MAX, is_shared: false }
    }

    /// All of `stripe`, for operations that only read it.
    pub const fn shared(stripe: u64) -> Self {
        Self { is_shared: true, ..Self::whole(stripe) }
    }

    /// The sectors of the array from `start` to `end` in `stripe`.
    pub const fn part(stripe: u64, start: u64, end: u64) -> Self {
        Self { stripe, start, end, is_shared: false }
    }

    const fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end && !(self.is_shared && other.is_shared)
    }
}

/// A stripe that is being written.
#[derive(Clone, Copy, Debug)]
pub struct StripeLock {
    /// Writes that are under way.
    holders: Link,
    waiting: Fifo,
}

impl StripeLock {
    /// The writes that are under way.
    pub fn holders(self, operations: &Slab<ArrayOperation>) -> impl Iterator<Item = &ArrayOperation> {
        let mut link = self.holders;
        std::iter::from_fn(move || {
            let entry = &operations[link.get()?];
            link = entry.next;
            Some(entry)
        })
    }

    /// Whether `range` must wait for a write that is under way.
    fn is_held(self, operations: &Slab<ArrayOperation>, range: &WriteRange) -> bool {
        let mut link = self.holders;
        while let Some(holder) = link.get() {
            let entry = &operations[holder];
            if entry.range.is_some_and(|held| held.overlaps(range)) {
                return true;
            }
            link = entry.next;
        }
        false
    }

    fn hold(&mut self, operations: &mut Slab<ArrayOperation>, operation: u32) {
        operations[operation].next = self.holders;
        self.holders = Link::to(operation);
    }

    /// Takes the operation that was at `operation`, and linked to `next`, off the holders.
    fn release(&mut self, operations: &mut Slab<ArrayOperation>, operation: u32, next: Link) {
        if self.holders == Link::to(operation) {
            self.holders = next;
            return;
        }
        let mut link = self.holders;
        while let Some(holder) = link.get() {
            link = operations[holder].next;
            if link == Link::to(operation) {
                operations[holder].next = next;
                return;
            }
        }
    }
}

impl Simulation {
    /// Asks for the range of a write; gives whether it may start at once.
    pub(super) fn lock(&mut self, operation: u32, range: &WriteRange) -> bool {
        let array = self.operations[operation].array;
        let locks = &mut self.arrays[array as usize].locks;
        let lock =
            locks.entry(range.stripe).or_insert(StripeLock { holders: Link::END, waiting: Fifo::default() });
        #[cfg(all(test, debug_assertions))]
        let has_parity = range.end == u64::MAX;
        #[cfg(all(test, debug_assertions))]
        let range = if self.fault == Some(super::oracle::Fault::OverlappingWrites) && !has_parity {
            &WriteRange { start: 0, end: 0, ..*range }
        } else {
            range
        };
        if !lock.waiting.is_empty() || lock.is_held(&self.operations, range) {
            lock.waiting.push(&mut self.operations, operation, |entry| &mut entry.next);
            return false;
        }
        lock.hold(&mut self.operations, operation);
        true
    }

    /// A write is over, and its entry `done` removed: those that waited for it start, in order.
    pub(super) fn unlock(&mut self, operation: u32, done: &ArrayOperation, range: &WriteRange) {
        let array = done.array as usize;
        let Entry::Occupied(mut entry) = self.arrays[array].locks.entry(range.stripe) else { return };
        let lock = entry.get_mut();
        lock.release(&mut self.operations, operation, done.next);
        if lock.holders == Link::END && lock.waiting.is_empty() {
            entry.remove();
            return;
        }
        while let Some(lock) = self.arrays[array].locks.get_mut(&range.stripe)
            && let Some(first) = lock.waiting.first()
            && let Some(wanted) = self.operations[first].range
            && !lock.is_held(&self.operations, &wanted)
        {
            lock.waiting.pop(&mut self.operations, |entry| &mut entry.next);
            lock.hold(&mut self.operations, first);
            self.start(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raid::Level;
    use crate::units::{Lba, Sectors};

    /// Whether writes of the extents `one` and `other`, by (lba, sectors), to stripe 0 wait for each other.
    fn overlap(level: Level, one: &[(u64, u64)], other: &[(u64, u64)]) -> bool {
        let layout = Layout::new(level, 4, Sectors(16), Sectors(1600)).unwrap();
        let [one, other] = [one, other].map(|extents| {
            let extents: Vec<_> =
                extents.iter().map(|&(lba, n)| Extent { lba: Lba(lba), sectors: Sectors(n) }).collect();
            WriteRange::of(&layout, 0, &extents)
        });
        assert_eq!(one.overlaps(&other), other.overlaps(&one));
        one.overlaps(&other)
    }

    #[test]
    fn without_parity_only_writes_of_the_same_sectors_wait_for_each_other() {
        for level in [Level::Raid0, Level::Raid10] {
            assert!(overlap(level, &[(0, 8)], &[(7, 2)]));
            assert!(!overlap(level, &[(0, 8)], &[(8, 8)]));
            assert!(overlap(level, &[(0, 2), (12, 4)], &[(15, 1)]));
        }
    }

    #[test]
    fn operations_that_only_read_a_stripe_share_it() {
        let (shared, whole) = (WriteRange::shared(3), WriteRange::whole(3));
        assert!(!shared.overlaps(&shared));
        assert!(shared.overlaps(&whole) && whole.overlaps(&shared) && whole.overlaps(&whole));
    }

    #[test]
    fn all_writes_to_a_stripe_with_parity_wait_for_each_other() {
        assert!(overlap(Level::Raid5, &[(0, 8)], &[(8, 8)]));
        assert!(overlap(Level::Raid6, &[(0, 1)], &[(31, 1)]));
    }
}
