//! A cache whose entries stand in one queue, in an order that a policy keeps.
//!
//! ```text
//!  newcomer ─► newest ─ entry ─ entry ─ entry ─ oldest        note_use: a hit        choose: what is given up
//! ```

use super::entries::Entries;
use super::{Admission, BLOCK, Replace, Room};

/// What a hit changes in a queue of entries, and which of them a full cache gives up. The marks are the policy's.
pub trait Order: Default {
    /// Notes a hit of the entry at `place`.
    fn note_use(&mut self, entries: &mut Entries, place: usize);

    /// The place of the entry that is given up; the caller takes it out. None where there is no entry.
    fn choose(&mut self, entries: &mut Entries) -> Option<usize>;

    /// The entry at `place`, which is still in the queue, leaves it.
    #[inline]
    fn leave(&mut self, _: &mut Entries, _: usize) {}
}

/// A cache of entries in one queue, under a policy.
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
        self.order.note_use(&mut self.entries, place);
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
