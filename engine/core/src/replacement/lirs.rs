//! LIRS: low inter-reference recency set.
//!
//! ```text
//!  stack S   newest ─ LIR ─ HIR ─ ghost ─ LIR ─ HIR ─ … ─ LIR     ordered by last use; the oldest is always LIR
//!  queue Q   newest ─ HIR ─ HIR ─ … ─ HIR ─► evicted              all HIR entries that are held
//! ```
//!
//! The inter-reference recency of an entry is the number of other entries used between its last two uses. Entries of low
//! recency (LIR) fill most of the cache and are never evicted; the others (HIR) share a small queue. An HIR entry that
//! is used while it is in S has a lower recency than the oldest LIR entry, so they exchange roles. Entries below the
//! oldest LIR entry in S are removed from it (pruning).
//!
//! S. Jiang, X. Zhang: LIRS: an efficient low inter-reference recency set replacement policy to improve buffer cache
//! performance, SIGMETRICS 2002. The paper leaves open how many ghosts S may hold: here S holds at most twice the
//! capacity, and the ghost that was evicted first leaves it. The first entries, until the LIR part is full, become LIR.
//!
//! Parameters: `probation` \[share of the capacity\], the HIR part, 1 %, at least one entry. Cost: one search for each
//! access; pruning removes no more than was added.
//!
//! Not for quickly changing popularity: an LIR entry leaves only when two uses of another entry fall between its last use
//! and now.

use super::{Admission, BLOCK, Directory, Links, Queue, Replace, Room};

/// LIRS.
#[derive(Debug)]
pub struct Lirs {
    capacity: usize,
    most_low: usize,
    low: usize,
    /// Keys and the stack S.
    directory: Directory,
    stack: Queue,
    /// Links of HIR entries that are held, and of ghosts, by slot.
    links: Vec<Links>,
    high: Queue,
    /// Ghosts, from the last evicted to the first.
    ghosts: Queue,
}

/// Marks: the kind of an entry, and whether it is in S.
const LOW: u8 = 0;
const HIGH: u8 = 1;
const GHOST: u8 = 2;
const KIND: u8 = 3;
const STACKED: u8 = 4;

impl Lirs {
    fn kind(&self, slot: u32) -> u8 {
        self.directory.mark(slot) & KIND
    }

    fn is_stacked(&self, slot: u32) -> bool {
        self.directory.mark(slot) & STACKED != 0
    }

    /// Removes entries that are not LIR from the bottom of the stack.
    fn prune(&mut self) {
        while let Some(slot) = self.stack.oldest()
            && self.kind(slot) != LOW
        {
            self.unstack(slot);
        }
    }

    /// Removes a slot that is not LIR from the stack; a ghost is then forgotten.
    fn unstack(&mut self, slot: u32) {
        self.stack.unlink(&mut self.directory, slot);
        if self.kind(slot) == GHOST {
            self.ghosts.unlink(&mut self.links, slot);
            self.directory.forget(slot);
        } else {
            self.directory.set_mark(slot, HIGH);
        }
    }

    /// Puts a slot on top of the stack, as an entry of `kind`.
    fn stack(&mut self, slot: u32, kind: u8) {
        if self.is_stacked(slot) {
            self.stack.refresh(&mut self.directory, slot);
        } else {
            self.stack.push(&mut self.directory, slot);
        }
        self.directory.set_mark(slot, kind | STACKED);
    }

    /// Restores the invariants after a use: no excess LIR entries, a LIR entry at the bottom, no excess ghosts.
    fn settle(&mut self) {
        if self.low > self.most_low
            && let Some(slot) = self.stack.pop(&mut self.directory)
        {
            self.low -= 1;
            self.directory.set_mark(slot, HIGH);
            self.high.push(&mut self.links, slot);
        }
        self.prune();
        while self.stack.len() > 2 * self.capacity
            && let Some(ghost) = self.ghosts.oldest()
        {
            self.unstack(ghost);
        }
    }

    /// Evicts the oldest HIR entry; if it is in the stack, it stays there as a ghost.
    fn evict(&mut self) -> Option<u32> {
        // An HIR entry exists, since the LIR part is smaller than the cache.
        let slot = self.high.pop(&mut self.links)?;
        if self.is_stacked(slot) {
            self.directory.set_mark(slot, GHOST | STACKED);
            self.ghosts.push(&mut self.links, slot);
        } else {
            self.directory.forget(slot);
        }
        Some(slot)
    }
}

impl Replace for Lirs {
    const PROBATION: Option<f64> = Some(0.01);

    fn new(room: Room) -> Self {
        Self {
            capacity: room.capacity,
            most_low: room.capacity - room.part(room.probation).max(1),
            low: 0,
            directory: Directory::new(),
            stack: Queue::new(),
            links: Vec::new(),
            high: Queue::new(),
            ghosts: Queue::new(),
        }
    }

    #[inline]
    fn expect(&mut self, keys: &[u64; BLOCK]) {
        self.directory.expect(keys);
    }

    #[inline]
    fn held(&self) -> usize {
        self.low + self.high.len()
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        self.directory.find(key).filter(|&slot| self.kind(slot) != GHOST)
    }

    #[inline]
    fn access(&mut self, key: u64) -> Option<u32> {
        let slot = self.find(key)?;
        if self.kind(slot) == LOW {
            self.stack(slot, LOW);
        } else if self.is_stacked(slot) {
            self.high.unlink(&mut self.links, slot);
            self.stack(slot, LOW);
            self.low += 1;
        } else {
            self.stack(slot, HIGH);
            self.high.refresh(&mut self.links, slot);
        }
        self.settle();
        Some(slot)
    }

    fn admit(&mut self, key: u64) -> Admission {
        let evicted = if self.held() == self.capacity { self.evict() } else { None };
        let known = self.directory.find(key);
        let slot = if let Some(slot) = known {
            self.ghosts.unlink(&mut self.links, slot);
            slot
        } else {
            let slot = self.directory.add(key);
            if self.links.len() <= slot as usize {
                self.links.push(Links::default());
            }
            slot
        };
        if known.is_some() || self.low < self.most_low {
            self.stack(slot, LOW);
            self.low += 1;
        } else {
            self.stack(slot, HIGH);
            self.high.push(&mut self.links, slot);
        }
        self.settle();
        Admission { slot, evicted }
    }

    fn remove(&mut self, key: u64) -> Option<u32> {
        let slot = self.directory.find(key)?;
        let kind = self.kind(slot);
        match kind {
            LOW => self.low -= 1,
            HIGH => self.high.unlink(&mut self.links, slot),
            _ => self.ghosts.unlink(&mut self.links, slot),
        }
        if self.is_stacked(slot) {
            self.stack.unlink(&mut self.directory, slot);
        }
        self.directory.forget(slot);
        self.prune();
        (kind != GHOST).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
    use super::*;

    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Low,
        High,
        Ghost,
    }

    struct Model {
        capacity: usize,
        most_low: usize,
        /// Oldest first.
        s: Vec<(u64, Kind)>,
        q: Vec<u64>,
        ghosts: Vec<u64>,
    }

    impl Model {
        fn lows(&self) -> usize {
            self.s.iter().filter(|entry| entry.1 == Kind::Low).count()
        }

        fn put_on_top(&mut self, key: u64, kind: Kind) {
            self.s.retain(|entry| entry.0 != key);
            self.s.push((key, kind));
            if self.lows() > self.most_low {
                self.q.push(self.s.remove(0).0);
            }
            self.tidy();
            while self.s.len() > 2 * self.capacity && !self.ghosts.is_empty() {
                let ghost = self.ghosts.remove(0);
                self.s.retain(|entry| entry.0 != ghost);
            }
        }

        fn tidy(&mut self) {
            let bottom = self.s.iter().position(|entry| entry.1 == Kind::Low).unwrap_or(self.s.len());
            self.s.drain(..bottom);
            let s = &self.s;
            self.ghosts.retain(|&ghost| s.contains(&(ghost, Kind::Ghost)));
        }
    }

    impl Naive for Model {
        fn new(room: Room) -> Self {
            let most_low = room.capacity - room.part(room.probation).max(1);
            Self { capacity: room.capacity, most_low, s: Vec::new(), q: Vec::new(), ghosts: Vec::new() }
        }

        fn access(&mut self, key: u64) -> bool {
            let kind = self.s.iter().find(|entry| entry.0 == key).map(|entry| entry.1);
            if let Some(place) = self.q.iter().position(|&other| other == key) {
                self.q.remove(place);
                if kind.is_none() {
                    self.q.push(key);
                }
                self.put_on_top(key, if kind.is_some() { Kind::Low } else { Kind::High });
                return true;
            }
            if kind == Some(Kind::Low) {
                self.put_on_top(key, Kind::Low);
                return true;
            }
            if self.held().len() == self.capacity {
                let given_up = self.q.remove(0);
                if let Some(entry) = self.s.iter_mut().find(|entry| entry.0 == given_up) {
                    entry.1 = Kind::Ghost;
                    self.ghosts.push(given_up);
                }
            }
            if kind == Some(Kind::Ghost) || self.lows() < self.most_low {
                self.ghosts.retain(|&ghost| ghost != key);
                self.put_on_top(key, Kind::Low);
            } else {
                self.q.push(key);
                self.put_on_top(key, Kind::High);
            }
            false
        }

        fn remove(&mut self, key: u64) {
            self.s.retain(|entry| entry.0 != key);
            self.q.retain(|&other| other != key);
            self.tidy();
        }

        fn held(&self) -> Vec<u64> {
            let low = self.s.iter().filter(|entry| entry.1 == Kind::Low).map(|entry| entry.0);
            low.chain(self.q.iter().copied()).collect()
        }
    }

    #[test]
    fn agrees_with_lists() {
        check::<Lirs, Model>();
    }

    #[test]
    fn entries_of_low_recency_survive_a_loop() {
        // 3 entries, 2 of them LIR: a and b. c and d take turns in the third; LRU would never hit.
        assert_eq!(hits::<Lirs>(3, "abcdabcdabcd"), [4, 5, 8, 9]);
    }

    #[test]
    fn a_returning_ghost_replaces_the_oldest_lir_entry() {
        // LIR a b, HIR c, which d turns into a ghost: S a b c' d. c (4) returns as LIR: d is a ghost, a becomes HIR,
        // S b d' c, Q a. a hits (5): S b d' c a. It hits again while in S (6) and is LIR: b becomes HIR, d' is pruned:
        // S c a, Q b. So d is new (7) and costs b, which is new at the end (8).
        assert_eq!(hits::<Lirs>(3, "abcdcaadb"), [5, 6]);
    }
}
