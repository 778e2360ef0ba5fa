//! SIEVE.
//!
//! ```text
//!  newcomer ─► newest ─ entry ─ entry ─ entry ─ entry ─ oldest
//!                               ▲
//!                              hand, moving towards the newest
//! ```
//!
//! Entries stand in the order in which they came, and a hit sets an entry's bit. The hand gives up the first entry whose
//! bit is not set and clears the bits that it passes; it goes on from where it stopped, and from the newest back to the
//! oldest. Unlike CLOCK, an entry that it passes keeps its place, so newcomers are sifted at once while the old stay behind.
//!
//! Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson, K. V. Rashmi: SIEVE is simpler than LRU: an efficient turn-key eviction algorithm
//! for web caches, NSDI 2024.
//!
//! Parameters: none (one bit for each entry). Cost: one search and one bit for each hit; the hand passes as many entries as
//! had hits since it last came by.
//!
//! Not for loops and scans of block data, which the paper says it does not resist: between two passes of the hand all
//! newcomers look alike.

use super::queue::Chain;
use super::{Admission, Directory, Queue, Replace, Room};
use crate::slab::Link;

/// SIEVE.
#[derive(Debug)]
pub struct Sieve {
    capacity: usize,
    directory: Directory,
    queue: Queue,
    /// The entry that is looked at next; at the end the oldest is.
    hand: Link,
}

const USED: u8 = 1;

impl Sieve {
    fn evict(&mut self) -> Option<u32> {
        let mut slot = self.hand.get().or(self.queue.oldest())?;
        while self.directory.mark(slot) == USED {
            self.directory.set_mark(slot, 0);
            slot = self.directory.links(slot).newer.get().or(self.queue.oldest())?;
        }
        self.hand = Link::to(slot);
        self.take_out(slot);
        Some(slot)
    }

    /// Takes the entry in `slot` out; a hand that is there moves on.
    fn take_out(&mut self, slot: u32) {
        if self.hand == Link::to(slot) {
            self.hand = self.directory.links(slot).newer;
        }
        self.queue.unlink(&mut self.directory, slot);
        self.directory.forget(slot);
    }
}

impl Replace for Sieve {
    fn new(room: Room) -> Self {
        Self { capacity: room.capacity, directory: Directory::new(), queue: Queue::new(), hand: Link::END }
    }

    #[inline]
    fn directory(&self) -> &Directory {
        &self.directory
    }

    #[inline]
    fn held(&self) -> usize {
        self.directory.len()
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        self.directory.find(key)
    }

    #[inline]
    fn access(&mut self, key: u64) -> Option<u32> {
        let slot = self.directory.find(key)?;
        self.directory.set_mark(slot, USED);
        Some(slot)
    }

    #[inline]
    fn admit(&mut self, key: u64) -> Admission {
        let evicted = if self.held() == self.capacity { self.evict() } else { None };
        let slot = self.directory.add(key);
        self.queue.push(&mut self.directory, slot);
        Admission { slot, evicted }
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<u32> {
        let slot = self.directory.find(key)?;
        self.take_out(slot);
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
    use super::*;

    /// Keys and bits from the oldest on, and the place of the hand.
    struct Model(usize, Vec<(u64, bool)>, usize);

    impl Model {
        fn take_out(&mut self, place: usize) {
            self.1.remove(place);
            if self.2 > place {
                self.2 -= 1;
            }
            // Past the newest it starts again, before a newcomer can stand there.
            if self.2 == self.1.len() {
                self.2 = 0;
            }
        }
    }

    impl Naive for Model {
        fn new(room: Room) -> Self {
            Self(room.capacity, Vec::new(), 0)
        }

        fn access(&mut self, key: u64) -> bool {
            if let Some(entry) = self.1.iter_mut().find(|entry| entry.0 == key) {
                entry.1 = true;
                return true;
            }
            if self.1.len() == self.0 {
                while std::mem::take(&mut self.1[self.2].1) {
                    self.2 = (self.2 + 1) % self.0;
                }
                self.take_out(self.2);
            }
            self.1.push((key, false));
            false
        }

        fn remove(&mut self, key: u64) {
            if let Some(place) = self.1.iter().position(|entry| entry.0 == key) {
                self.take_out(place);
            }
        }

        fn held(&self) -> Vec<u64> {
            self.1.iter().map(|entry| entry.0).collect()
        }
    }

    #[test]
    fn agrees_with_a_list() {
        check::<Sieve, Model>();
    }

    #[test]
    fn what_was_used_keeps_its_place_and_newcomers_are_sifted() {
        // 3 places, from the oldest: a b c, a is used (3). d: the hand clears a and gives up b; it stands at c: a c d.
        // e: c goes, the hand stands at d: a d e. f: d goes, the hand stands at e: a e f. a hits (7) though its bit was
        // clear: CLOCK would have come back to it. c is gone (8) and takes e's place.
        assert_eq!(hits::<Sieve>(3, "abcadefac"), [3, 7]);
    }
}
