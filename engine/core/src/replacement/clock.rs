//! CLOCK, or second chance.
//!
//! Entries are on a ring in order of arrival, and a hit sets an entry's bit. The hand evicts the first entry whose bit is
//! clear; it clears the bits that it passes, which is equivalent to moving those entries to the new end of a queue. The
//! new entry is placed behind the hand with a clear bit.
//!
//! F. J. Corbató: A paging experiment with the Multics system, MIT Project MAC report MAC-M-384, 1968.
//!
//! Parameters: none (one bit per entry). Cost: one search and one bit per hit; the hand passes as many entries as had
//! hits since its last pass.
//!
//! Not for loops longer than the cache, where it misses as LRU does.

use super::entries::Entries;
use super::one_queue::Order;

/// CLOCK. The queue is the ring, from behind the hand to the hand.
#[derive(Debug, Default)]
pub struct Clock;

impl Order for Clock {
    #[inline]
    fn record_use(&mut self, entries: &mut Entries, place: usize) {
        entries.set_mark(place, true);
    }

    #[inline]
    fn choose(&mut self, entries: &mut Entries) -> Option<usize> {
        loop {
            let place = entries.oldest()?;
            if !entries.is_marked(place) {
                return Some(place);
            }
            entries.set_mark(place, false);
            entries.refresh(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
    use super::super::{OneQueue, Room};
    use super::*;

    /// Keys and bits from the hand on.
    struct Model(usize, Vec<(u64, bool)>);

    impl Naive for Model {
        fn new(room: Room) -> Self {
            Self(room.capacity, Vec::new())
        }

        fn access(&mut self, key: u64) -> bool {
            if let Some(entry) = self.1.iter_mut().find(|entry| entry.0 == key) {
                entry.1 = true;
                return true;
            }
            if self.1.len() == self.0 {
                let passed = self.1.iter().position(|entry| !entry.1).unwrap_or(self.0);
                self.1.rotate_left(passed % self.0);
                let len = self.1.len();
                let first = if passed == self.0 { 0 } else { len - passed };
                for entry in &mut self.1[first..] {
                    entry.1 = false;
                }
                self.1.remove(0);
            }
            self.1.push((key, false));
            false
        }

        fn remove(&mut self, key: u64) {
            self.1.retain(|entry| entry.0 != key);
        }

        fn held(&self) -> Vec<u64> {
            self.1.iter().map(|entry| entry.0).collect()
        }
    }

    #[test]
    fn agrees_with_a_list() {
        check::<OneQueue<Clock>, Model>();
    }

    #[test]
    fn a_used_entry_gets_a_second_chance() {
        // 3 entries. a b c, a is used (3). d: the hand passes a, evicts b: c a' d with a's bit cleared. a is used (5).
        // e: evicts c. b: passes a, evicts d, so that a is still there (8) and d is not (9).
        assert_eq!(hits::<OneQueue<Clock>>(3, "abcadaebad"), [3, 5, 8]);
    }
}
