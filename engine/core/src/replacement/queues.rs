//! Entries in several queues: the mark of each names its queue and counts its uses.

use super::{Directory, Queue};

/// Keys, and up to four queues of their slots.
#[derive(Debug)]
pub struct Queues<const N: usize> {
    pub directory: Directory,
    queues: [Queue; N],
}

/// Bits of a mark for the queue; the higher bits count uses.
const QUEUE: u8 = 3;
const ONE_USE: u8 = 4;

impl<const N: usize> Queues<N> {
    /// Empty queues.
    pub fn new() -> Self {
        const { assert!(N <= QUEUE as usize + 1, "a mark names four queues at most") };
        Self { directory: Directory::new(), queues: [Queue::new(); N] }
    }

    /// Number of slots in `queue`.
    #[inline]
    pub const fn len(&self, queue: usize) -> usize {
        self.queues[queue].len()
    }

    /// The oldest slot of `queue`.
    #[inline]
    pub const fn oldest(&self, queue: usize) -> Option<u32> {
        self.queues[queue].oldest()
    }

    #[inline]
    pub fn queue(&self, slot: u32) -> usize {
        usize::from(self.directory.mark(slot) & QUEUE)
    }

    /// The use count of `slot`.
    #[inline]
    pub fn uses(&self, slot: u32) -> u8 {
        self.directory.mark(slot) / ONE_USE
    }

    /// Sets the count of `slot`; at most 63.
    #[inline]
    pub fn set_uses(&mut self, slot: u32, uses: u8) {
        let queue = self.directory.mark(slot) & QUEUE;
        self.directory.set_mark(slot, queue | (uses * ONE_USE));
    }

    /// Adds `slot` at the newest end of `queue`, with no uses. Precondition: it is in no queue.
    #[inline]
    pub fn put(&mut self, slot: u32, queue: usize) {
        self.directory.set_mark(slot, queue as u8);
        self.queues[queue].push(&mut self.directory, slot);
    }

    /// Removes `slot` from its queue.
    #[inline]
    pub fn take(&mut self, slot: u32) {
        let queue = self.queue(slot);
        self.queues[queue].unlink(&mut self.directory, slot);
    }

    /// Removes and returns the oldest slot of `queue`.
    #[inline]
    pub fn pop(&mut self, queue: usize) -> Option<u32> {
        self.queues[queue].pop(&mut self.directory)
    }

    /// Moves `slot` from its queue to the newest end of another, with no uses.
    #[inline]
    pub fn transfer(&mut self, slot: u32, queue: usize) {
        self.take(slot);
        self.put(slot, queue);
    }

    /// Moves `slot` to the newest end of `queue`. Precondition: it is in it.
    #[inline]
    pub fn refresh(&mut self, slot: u32, queue: usize) {
        self.queues[queue].refresh(&mut self.directory, slot);
    }

    /// Removes `slot` from its queue, and its key.
    #[inline]
    pub fn forget(&mut self, slot: u32) {
        self.take(slot);
        self.directory.forget(slot);
    }

    /// Removes the oldest key of `queue`; returns its slot.
    #[inline]
    pub fn forget_oldest(&mut self, queue: usize) -> Option<u32> {
        let slot = self.pop(queue)?;
        self.directory.forget(slot);
        Some(slot)
    }
}
