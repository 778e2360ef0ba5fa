//! A cache with all entries in one queue, ordered by a policy.
//!
//! ```text
//! new entry ─► newest ─ entry ─ entry ─ entry ─ oldest        record_use: a hit        choose: what is evicted
//! ```

use super::entries::Entries;
use super::{Admission, BLOCK, Replace, Room};

/// The effect of a hit on the queue, and the choice of the evicted entry. The marks belong to the policy.
pub trait Order: Default {
    /// Records a hit of the entry at `place`.
    fn record_use(&mut self, entries: &mut Entries, place: usize);

    /// The place of the entry to evict, which the caller removes. None if there is no entry.
    fn choose(&mut self, entries: &mut Entries) -> Option<usize>;

    /// The entry at `place` is about to leave the queue.
    #[inline]
    fn leave(&mut self, _: &mut Entries, _: usize) {}
}

/// A cache with all entries in one queue.
#[derive(Debug)]
pub struct OneQueue<O> {
    capacity: usize,
    entries: Entries,
    order: O,
}

impl<O: Order> OneQueue<O> {
    #[inline]
    fn take_out(&mut self, place: usize) -> u32 {
        self.order.leave(&mut self.entries, place);
        self.entries.take_out(place)
    }
}

impl<O: Order> Replace for OneQueue<O> {
    fn new(room: Room) -> Self {
        Self { capacity: room.capacity, entries: Entries::new(), order: O::default() }
    }

    #[inline]
    fn held(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        self.entries.find(key).map(|place| self.entries.slot(place))
    }

    #[inline]
    fn expect(&mut self, keys: &[u64; BLOCK]) {
        self.entries.expect(keys);
    }

    #[inline]
    fn access(&mut self, key: u64) -> Option<u32> {
        let place = self.entries.find(key)?;
        let slot = self.entries.slot(place);
        self.order.record_use(&mut self.entries, place);
        Some(slot)
    }

    #[inline]
    fn admit(&mut self, key: u64) -> Admission {
        let mut evicted = None;
        if self.held() == self.capacity {
            evicted = self.order.choose(&mut self.entries).map(|place| self.take_out(place));
        }
        let slot = self.entries.add(key);
        Admission { slot, evicted }
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<u32> {
        let place = self.entries.find(key)?;
        Some(self.take_out(place))
    }
}
