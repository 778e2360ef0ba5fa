//! 2Q, the full version.
//!
//! ```text
//! new entry ─► A1in (fifo) ─► A1out (ghosts, fifo) ─► forgotten
//!                                 └─ used again ─► Am (LRU) ─► forgotten
//! ```
//!
//! An entry is evicted from A1in while that exceeds its share, else from Am. A hit in A1in changes nothing, since
//! it may belong to a burst of correlated uses.
//!
//! T. Johnson, D. Shasha: 2Q: a low overhead high performance buffer management replacement algorithm, VLDB 1994.
//!
//! Parameters: `probation` \[share of the capacity\], the paper's Kin, 25 %; `ghosts` \[share of the capacity\], its Kout, 50 %.
//! Both are rounded down. Cost: one search per access; a hit in Am moves it.
//!
//! Not for loops slightly longer than the cache, of which A1in holds a quarter in vain, nor for small caches with short
//! reuse distances, where the quarter for new entries is missing in Am.

use super::probation::{MAIN, NEW, Parts, Promote};

/// 2Q. A1in is the queue of new entries, A1out the ghosts, Am the main part.
#[derive(Debug, Default)]
pub struct TwoQ;

impl Promote for TwoQ {
    const PROBATION: f64 = 0.25;
    const GHOSTS: f64 = 0.5;

    #[inline]
    fn record_use(&mut self, parts: &mut Parts, slot: u32) {
        if parts.queues.queue(slot) == MAIN {
            parts.queues.refresh(slot, MAIN);
        }
    }

    #[inline]
    fn evict(&mut self, parts: &mut Parts) -> Option<u32> {
        if parts.queues.len(NEW) > parts.most_new || parts.queues.len(MAIN) == 0 {
            parts.evict_new()
        } else {
            parts.queues.forget_oldest(MAIN)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
    use super::super::{Probation, Room};
    use super::*;

    struct Model {
        room: Room,
        a1in: Vec<u64>,
        a1out: Vec<u64>,
        am: Vec<u64>,
    }

    impl Naive for Model {
        fn new(room: Room) -> Self {
            Self { room, a1in: Vec::new(), a1out: Vec::new(), am: Vec::new() }
        }

        fn access(&mut self, key: u64) -> bool {
            if self.a1in.contains(&key) {
                return true;
            }
            if let Some(place) = self.am.iter().position(|&other| other == key) {
                self.am[place..].rotate_left(1);
                return true;
            }
            let is_ghost = self.a1out.contains(&key);
            self.a1out.retain(|&other| other != key);
            if self.held().len() == self.room.capacity {
                if self.a1in.len() > self.room.part(self.room.probation) || self.am.is_empty() {
                    self.a1out.push(self.a1in.remove(0));
                } else {
                    self.am.remove(0);
                }
                while self.a1out.len() > self.room.part(self.room.ghosts) {
                    self.a1out.remove(0);
                }
            }
            if is_ghost { &mut self.am } else { &mut self.a1in }.push(key);
            false
        }

        fn remove(&mut self, key: u64) {
            for list in [&mut self.a1in, &mut self.a1out, &mut self.am] {
                list.retain(|&other| other != key);
            }
        }

        fn held(&self) -> Vec<u64> {
            [self.a1in.as_slice(), &self.am].concat()
        }
    }

    #[test]
    fn agrees_with_lists() {
        check::<Probation<TwoQ>, Model>();
    }

    #[test]
    fn returning_entries_stay() {
        // 4 entries, of which A1in keeps 1, and 2 ghosts. a b c d fill A1in. e: a becomes a ghost; a returns into Am,
        // b becomes a ghost. f g: c and d become ghosts, b is forgotten: A1in e f g, Am a. a hits (8), e hits (9).
        // b is new again: e leaves.
        assert_eq!(hits::<Probation<TwoQ>>(4, "abcdeafgaebe"), [8, 9]);
    }
}
