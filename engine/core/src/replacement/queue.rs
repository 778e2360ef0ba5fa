//! Queues of slots: linked lists by index, from the newest to the oldest.

use crate::slab::Link;

/// A slot's neighbours in its queue.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    /// Towards the newest end.
    pub newer: Link,
    /// Towards the oldest end.
    pub older: Link,
}

impl Default for Links {
    fn default() -> Self {
        Self { newer: Link::END, older: Link::END }
    }
}

/// Storage of the links of slots; a slot is in at most one queue of each chain.
pub trait Chain {
    fn links(&mut self, slot: u32) -> &mut Links;
}

impl Chain for Vec<Links> {
    #[inline]
    fn links(&mut self, slot: u32) -> &mut Links {
        &mut self[slot as usize]
    }
}

/// A queue of slots.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    newest: Link,
    oldest: Link,
    len: usize,
}

impl Queue {
    /// An empty queue.
    pub const fn new() -> Self {
        Self { newest: Link::END, oldest: Link::END, len: 0 }
    }

    /// Number of slots.
    #[inline]
    pub const fn len(self) -> usize {
        self.len
    }

    /// The oldest slot.
    #[inline]
    pub const fn oldest(self) -> Option<u32> {
        self.oldest.get()
    }

    /// Appends `slot` at the newest end. Precondition: it is in no queue of this chain.
    #[inline]
    pub fn push(&mut self, chain: &mut impl Chain, slot: u32) {
        *chain.links(slot) = Links { newer: Link::END, older: self.newest };
        match self.newest.get() {
            Some(newest) => chain.links(newest).newer = Link::to(slot),
            None => self.oldest = Link::to(slot),
        }
        self.newest = Link::to(slot);
        self.len += 1;
    }

    /// Removes `slot`. Precondition: it is in this queue.
    #[inline]
    pub fn unlink(&mut self, chain: &mut impl Chain, slot: u32) {
        let Links { newer, older } = *chain.links(slot);
        match newer.get() {
            Some(newer) => chain.links(newer).older = older,
            None => self.newest = older,
        }
        match older.get() {
            Some(older) => chain.links(older).newer = newer,
            None => self.oldest = newer,
        }
        self.len -= 1;
    }

    /// Moves `slot` to the newest end. Precondition: it is in this queue.
    #[inline]
    pub fn refresh(&mut self, chain: &mut impl Chain, slot: u32) {
        if self.newest != Link::to(slot) {
            self.unlink(chain, slot);
            self.push(chain, slot);
        }
    }

    /// Removes and returns the oldest slot.
    #[inline]
    pub fn pop(&mut self, chain: &mut impl Chain) -> Option<u32> {
        let slot = self.oldest.get()?;
        self.unlink(chain, slot);
        Some(slot)
    }
}
