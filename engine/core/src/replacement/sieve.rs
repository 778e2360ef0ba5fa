//! SIEVE.
//!
//! ```text
//! new entry ─► newest ─ entry ─ entry ─ entry ─ entry ─ oldest
//!                               ▲
//!                              hand, moving towards the newest
//! ```
//!
//! Entries are in order of arrival, and a hit sets an entry's bit. The hand evicts the first entry whose bit is clear and
//! clears the bits that it passes; it continues from where it stopped, and from the newest back to the oldest. Unlike with
//! CLOCK, an entry that it passes keeps its position, so new entries are filtered quickly.
//!
//! Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson, K. V. Rashmi: SIEVE is simpler than LRU: an efficient turn-key eviction algorithm
//! for web caches, NSDI 2024.
//!
//! Parameters: none (one bit per entry). Cost: one search and one bit per hit; the hand passes as many entries as
//! had hits since its last pass.
//!
//! Not for loops and scans of block data, which it does not resist, according to the paper: between two passes of the hand all
//! new entries look alike.

use super::entries::Entries;
use super::one_queue::Order;

/// SIEVE.
#[derive(Debug, Default)]
pub struct Sieve {
    /// The key of the next entry to examine (default: the oldest).
    hand: Option<u64>,
}

impl Order for Sieve {
    #[inline]
    fn record_use(&mut self, entries: &mut Entries, place: usize) {
        entries.set_mark(place, true);
    }

    #[inline]
    fn choose(&mut self, entries: &mut Entries) -> Option<usize> {
        let mut place = self.hand.and_then(|key| entries.find(key)).or_else(|| entries.oldest())?;
        while entries.is_marked(place) {
            entries.set_mark(place, false);
            place = entries.newer(place).or_else(|| entries.oldest())?;
        }
        self.hand = Some(entries.key(place));
        Some(place)
    }

    /// If the hand is at an entry that leaves, it moves on.
    #[inline]
    fn leave(&mut self, entries: &mut Entries, place: usize) {
        if self.hand == Some(entries.key(place)) {
            self.hand = entries.newer(place).map(|place| entries.key(place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
    use super::super::{OneQueue, Room};
    use super::*;

    /// Keys and bits, oldest first, and the position of the hand.
    struct Model(usize, Vec<(u64, bool)>, usize);

    impl Model {
        fn take_out(&mut self, place: usize) {
            self.1.remove(place);
            if self.2 > place {
                self.2 -= 1;
            }
            // After the newest it wraps, before a new entry can be added there.
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
        check::<OneQueue<Sieve>, Model>();
    }

    #[test]
    fn used_entries_stay_and_new_ones_are_filtered() {
        // 3 entries, from the oldest: a b c, a is used (3). d: the hand clears a and evicts b; it is at c: a c d.
        // e: evicts c, the hand is at d: a d e. f: evicts d, the hand is at e: a e f. a hits (7) though its bit was
        // clear: CLOCK would have come back to it. c is gone (8) and takes e's place.
        assert_eq!(hits::<OneQueue<Sieve>>(3, "abcadefac"), [3, 7]);
    }
}
