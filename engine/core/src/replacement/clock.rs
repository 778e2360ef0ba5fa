//! CLOCK, or second chance.
//!
//! Entries stand on a ring in the order in which they came, and a hit sets an entry's bit. The hand gives up the first
//! entry whose bit is not set; it clears the bits that it passes, which is as good as moving those entries to the young
//! end of a queue. The new entry takes the place behind the hand, with its bit not set.
//!
//! F. J. Corbató: A paging experiment with the Multics system, MIT Project MAC report MAC-M-384, 1968.
//!
//! Parameters: none (one bit for each entry). Cost: one search and one bit for each hit; the hand passes as many entries
//! as had hits since it last came by.
//!
//! Not for loops longer than the cache, which defeat it as they do LRU, which it approximates.

use super::{Admission, Directory, Queue, Replace, Room};

/// CLOCK.
#[derive(Debug)]
pub struct Clock {
    capacity: usize,
    directory: Directory,
    /// The ring, from the hand on.
    ring: Queue,
}

const USED: u8 = 1;

impl Clock {
    fn evict(&mut self) -> Option<u32> {
        while let Some(slot) = self.ring.pop(&mut self.directory) {
            if self.directory.mark(slot) != USED {
                self.directory.forget(slot);
                return Some(slot);
            }
            self.directory.set_mark(slot, 0);
            self.ring.push(&mut self.directory, slot);
        }
        None
    }
}

impl Replace for Clock {
    fn new(room: Room) -> Self {
        Self { capacity: room.capacity, directory: Directory::new(), ring: Queue::new() }
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
        self.ring.push(&mut self.directory, slot);
        Admission { slot, evicted }
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<u32> {
        let slot = self.directory.find(key)?;
        self.ring.unlink(&mut self.directory, slot);
        self.directory.forget(slot);
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
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
        check::<Clock, Model>();
    }

    #[test]
    fn an_entry_that_was_used_gets_a_second_chance() {
        // 3 places. a b c, a is used (3). d: the hand passes a, gives up b: c a' d with a's bit cleared. a is used (5).
        // e: gives up c. b: passes a, gives up d, so that a is still there (8) and d is not (9).
        assert_eq!(hits::<Clock>(3, "abcadaebad"), [3, 5, 8]);
    }
}
