//! The order of writes to one stripe: writes of the same data, or the same parity, run one after the other.
//!
//! Disks serve their queues in an order of their own. Two concurrent writes of one sector could reach the media, or the
//! two mirrors, in different orders, and a newer version would be lost. So a write waits for the writes in progress that
//! overlap it, and for all that wait already; with parity, all writes to a stripe overlap.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxBuildHasher;

use super::lock_range::LockRange;
use super::operation::ArrayOperation;
use crate::slab::{Link, LinkedQueue, Slab};

/// The locks of an array's stripes.
#[derive(Debug, Default)]
pub struct StripeLocks {
    by_stripe: HashMap<u64, StripeLock, FxBuildHasher>,
}

/// The lock of one stripe.
#[derive(Clone, Copy, Debug)]
struct StripeLock {
    /// Operations that hold it.
    holders: Link,
    waiting: LinkedQueue,
}

impl StripeLocks {
    /// Whether an operation holds `stripe`, or waits for it.
    #[inline]
    pub fn is_locked(&self, stripe: u64) -> bool {
        self.by_stripe.contains_key(&stripe)
    }

    /// Whether no stripe is locked.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.by_stripe.is_empty()
    }

    /// The operations that hold a stripe.
    pub fn holders<'a>(
        &'a self,
        operations: &'a Slab<ArrayOperation>,
    ) -> impl Iterator<Item = &'a ArrayOperation> {
        self.by_stripe.values().flat_map(move |lock| {
            std::iter::successors(lock.holders.get(), move |&holder| operations[holder].next.get())
                .map(move |holder| &operations[holder])
        })
    }

    /// Locks `range` for an operation; returns whether it holds the range, rather than waiting for it.
    pub fn lock(&mut self, operations: &mut Slab<ArrayOperation>, operation: u32, range: &LockRange) -> bool {
        let lock = self
            .by_stripe
            .entry(range.stripe)
            .or_insert(StripeLock { holders: Link::END, waiting: LinkedQueue::default() });
        if !lock.waiting.is_empty() || lock.is_held(operations, range) {
            lock.waiting.push(operations, operation, |entry| &mut entry.next);
            return false;
        }
        lock.hold(operations, operation);
        true
    }

    /// Releases `stripe` for `operation`, whose entry was removed and linked to `next`; returns whether others hold the
    /// stripe or wait for it.
    pub fn release(
        &mut self,
        operations: &mut Slab<ArrayOperation>,
        stripe: u64,
        operation: u32,
        next: Link,
    ) -> bool {
        let Entry::Occupied(mut entry) = self.by_stripe.entry(stripe) else { return false };
        let lock = entry.get_mut();
        lock.release(operations, operation, next);
        let is_free = lock.holders == Link::END && lock.waiting.is_empty();
        if is_free {
            entry.remove();
        }
        !is_free
    }

    /// Releases all stripes.
    pub fn clear(&mut self) {
        self.by_stripe.clear();
    }

    /// Returns `stripe` to the first operation that waits for it, if that may start now.
    pub fn hand_over(&mut self, operations: &mut Slab<ArrayOperation>, stripe: u64) -> Option<u32> {
        let lock = self.by_stripe.get_mut(&stripe)?;
        let first = lock.waiting.first()?;
        let wanted = operations[first].range?;
        if lock.is_held(operations, &wanted) {
            return None;
        }
        lock.waiting.pop(operations, |entry| &mut entry.next);
        lock.hold(operations, first);
        Some(first)
    }
}

impl StripeLock {
    /// Whether an operation that holds the stripe excludes `range`.
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

    /// Removes the operation that was at `operation`, and linked to `next`, from the holders.
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
