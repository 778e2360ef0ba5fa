//! A cache whose entries stand in one queue, in an order that a policy keeps.
//!
//! ```text
//!  newcomer ─► newest ─ entry ─ entry ─ entry ─ oldest        note_use: a hit        choose: what is given up
//! ```

use super::{Admission, Directory, Queue, Replace, Room};

/// Keys, and the queue in which their slots stand. The marks are the policy's.
#[derive(Debug)]
pub struct Entries {
    pub directory: Directory,
    pub queue: Queue,
}

/// What a hit changes in a queue of entries, and which of them a full cache gives up.
pub trait Order: Default {
    /// Notes a hit of the entry in `slot`.
    fn note_use(&mut self, entries: &mut Entries, slot: u32);

    /// The entry that is given up; the caller takes it out. None where there is no entry.
    fn choose(&mut self, entries: &mut Entries) -> Option<u32>;

    /// The entry in `slot`, which is still in the queue, leaves it.
    #[inline]
    fn leave(&mut self, _: &mut Entries, _: u32) {}
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
    fn take_out(&mut self, slot: u32) {
        self.order.leave(&mut self.entries, slot);
        self.entries.queue.unlink(&mut self.entries.directory, slot);
        self.entries.directory.forget(slot);
    }
}

impl<O: Order> Replace for OneQueue<O> {
    fn new(room: Room) -> Self {
        let entries = Entries { directory: Directory::new(), queue: Queue::new() };
        Self { capacity: room.capacity, entries, order: O::default() }
    }

    #[inline]
    fn directory(&self) -> &Directory {
        &self.entries.directory
    }

    #[inline]
    fn access(&mut self, key: u64) -> Option<u32> {
        let slot = self.entries.directory.find(key)?;
        self.order.note_use(&mut self.entries, slot);
        Some(slot)
    }

    #[inline]
    fn admit(&mut self, key: u64) -> Admission {
        let mut evicted = None;
        if self.held() == self.capacity {
            evicted = self.order.choose(&mut self.entries);
            evicted.inspect(|&slot| self.take_out(slot));
        }
        let slot = self.entries.directory.add(key);
        self.entries.queue.push(&mut self.entries.directory, slot);
        Admission { slot, evicted }
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<u32> {
        let slot = self.entries.directory.find(key)?;
        self.take_out(slot);
        Some(slot)
    }
}
