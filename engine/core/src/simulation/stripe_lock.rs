//! The order of writes to one stripe: those that touch the same data, or the same parity, go one after the other.
//!
//! Disks serve their queues in an order of their own. Two writes of one sector that were under way at a time could
//! reach the media, or the two mirrors, in different orders, and a newer version would be lost. So a write waits for
//! the writes to its stripe that are under way and overlap it, and for all that wait already; where there is parity,
//! all writes to a stripe overlap.

use std::collections::hash_map::Entry;

use super::Simulation;
use super::lock_range::LockRange;
use super::operation::ArrayOperation;
use crate::mutation::Mutation;
use crate::slab::{Fifo, Link, Slab};

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
    fn is_held(self, operations: &Slab<ArrayOperation>, range: &LockRange) -> bool {
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
    pub(super) fn lock(&mut self, operation: u32, range: &LockRange) -> bool {
        let array = self.operations[operation].array;
        let locks = &mut self.arrays[array as usize].locks;
        let lock =
            locks.entry(range.stripe).or_insert(StripeLock { holders: Link::END, waiting: Fifo::default() });
        let range =
            if self.probe.has(Mutation::OverlappingWrites) { range.without_overlap() } else { *range };
        if !lock.waiting.is_empty() || lock.is_held(&self.operations, &range) {
            lock.waiting.push(&mut self.operations, operation, |entry| &mut entry.next);
            return false;
        }
        lock.hold(&mut self.operations, operation);
        true
    }

    /// A write is over, and its entry `done` removed: those that waited for it start, in order.
    pub(super) fn unlock(&mut self, operation: u32, done: &ArrayOperation, range: &LockRange) {
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
