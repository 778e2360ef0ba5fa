//! ARC, the adaptive replacement cache.
//!
//! ```text
//!            ghosts           held            held            ghosts
//!  used once   B1 ◄─ oldest ─ T1 ─ hit ─► T2 ─ oldest ─► B2   used more than once
//!               └─ used again: p grows ─► T2 ◄─ p shrinks ─┘
//! ```
//!
//! All four are LRU lists. `p` \[entries\] is the target size of T1: a full cache evicts from T1 if that is larger, else
//! from T2. A hit of a ghost shows which list should have been larger, and moves p by
//! max(1, other ghosts / own ghosts), a real number. T1 and B1 together hold at most the capacity, all four twice that.
//!
//! N. Megiddo, D. S. Modha: ARC: a self-tuning, low overhead replacement cache, FAST 2003.
//!
//! Parameters: none. Cost: one search per access; a hit moves an entry.
//!
//! Not for loops longer than the cache, where it equals LRU.

use super::{Admission, BLOCK, Queues, Replace, Room};

/// ARC.
#[derive(Debug)]
pub struct Arc {
    capacity: usize,
    /// Target size of T1.
    target: f64,
    lists: Queues<4>,
}

/// The lists.
const T1: usize = 0;
const T2: usize = 1;
const B1: usize = 2;
const B2: usize = 3;

impl Arc {
    /// Turns an entry of T1 or T2 into a ghost.
    fn replace(&mut self, is_in_b2: bool) -> Option<u32> {
        let held = self.lists.len(T1) as f64;
        // T1 may not exceed the target, and may not equal it for a ghost of B2.
        let is_over = if is_in_b2 { held >= self.target } else { held > self.target };
        let is_from_t1 = held > 0.0 && (is_over || self.lists.len(T2) == 0);
        let (from, to) = if is_from_t1 { (T1, B1) } else { (T2, B2) };
        let slot = self.lists.oldest(from)?;
        self.lists.transfer(slot, to);
        Some(slot)
    }

    /// Adapts the target to a hit of a ghost.
    fn adapt(&mut self, list: usize) {
        let (ones, twos) = (self.lists.len(B1) as f64, self.lists.len(B2) as f64);
        if list == B1 {
            self.target = (self.target + (twos / ones).max(1.0)).min(self.capacity as f64);
        } else {
            self.target = (self.target - (ones / twos).max(1.0)).max(0.0);
        }
    }
}

impl Replace for Arc {
    fn new(room: Room) -> Self {
        Self { capacity: room.capacity, target: 0.0, lists: Queues::new() }
    }

    #[inline]
    fn expect(&mut self, keys: &[u64; BLOCK]) {
        self.lists.directory.expect(keys);
    }

    #[inline]
    fn held(&self) -> usize {
        self.lists.len(T1) + self.lists.len(T2)
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        self.lists.directory.find(key).filter(|&slot| self.lists.queue(slot) <= T2)
    }

    #[inline]
    fn access(&mut self, key: u64) -> Option<u32> {
        let slot = self.find(key)?;
        if self.lists.queue(slot) == T2 {
            self.lists.refresh(slot, T2);
        } else {
            self.lists.transfer(slot, T2);
        }
        Some(slot)
    }

    fn admit(&mut self, key: u64) -> Admission {
        let is_full = self.held() == self.capacity;
        if let Some(slot) = self.lists.directory.find(key) {
            let list = self.lists.queue(slot);
            self.adapt(list);
            let evicted = if is_full { self.replace(list == B2) } else { None };
            self.lists.transfer(slot, T2);
            return Admission { slot, evicted };
        }
        let mut evicted = None;
        if self.lists.len(T1) + self.lists.len(B1) >= self.capacity {
            if self.lists.len(T1) < self.capacity {
                self.lists.forget_oldest(B1);
                if is_full {
                    evicted = self.replace(false);
                }
            } else {
                evicted = self.lists.forget_oldest(T1);
            }
        } else {
            if self.lists.directory.len() >= 2 * self.capacity {
                self.lists.forget_oldest(B2);
            }
            if is_full {
                evicted = self.replace(false);
            }
        }
        let slot = self.lists.directory.add(key);
        self.lists.put(slot, T1);
        Admission { slot, evicted }
    }

    fn remove(&mut self, key: u64) -> Option<u32> {
        let slot = self.lists.directory.find(key)?;
        let list = self.lists.queue(slot);
        self.lists.forget(slot);
        (list <= T2).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
    use super::*;

    /// The cases I to IV of the paper's figure 4, over lists from the least recently used on.
    #[derive(Default)]
    struct Model {
        c: usize,
        p: f64,
        t1: Vec<u64>,
        t2: Vec<u64>,
        b1: Vec<u64>,
        b2: Vec<u64>,
    }

    fn take(list: &mut Vec<u64>, key: u64) -> bool {
        let before = list.len();
        list.retain(|&other| other != key);
        list.len() < before
    }

    impl Model {
        fn replace(&mut self, is_in_b2: bool) {
            // A removal may have made room.
            if self.t1.len() + self.t2.len() < self.c {
                return;
            }
            let length = self.t1.len() as f64;
            let from_t1 = length > self.p || (length >= self.p && is_in_b2);
            if !self.t1.is_empty() && (from_t1 || self.t2.is_empty()) {
                self.b1.push(self.t1.remove(0));
            } else {
                self.b2.push(self.t2.remove(0));
            }
        }
    }

    impl Naive for Model {
        fn new(room: Room) -> Self {
            Self { c: room.capacity, ..Self::default() }
        }

        fn access(&mut self, key: u64) -> bool {
            if take(&mut self.t1, key) || take(&mut self.t2, key) {
                self.t2.push(key);
                return true;
            }
            if self.b1.contains(&key) {
                let more = f64::max(1.0, self.b2.len() as f64 / self.b1.len() as f64);
                self.p = f64::min(self.p + more, self.c as f64);
                self.replace(false);
                take(&mut self.b1, key);
                self.t2.push(key);
                return false;
            }
            if self.b2.contains(&key) {
                let less = f64::max(1.0, self.b1.len() as f64 / self.b2.len() as f64);
                self.p = f64::max(self.p - less, 0.0);
                self.replace(true);
                take(&mut self.b2, key);
                self.t2.push(key);
                return false;
            }
            let (ones, twos) = (self.t1.len() + self.b1.len(), self.t2.len() + self.b2.len());
            if ones == self.c {
                if self.b1.is_empty() {
                    self.t1.remove(0);
                } else {
                    self.b1.remove(0);
                    self.replace(false);
                }
            } else {
                if ones + twos == 2 * self.c {
                    self.b2.remove(0);
                }
                self.replace(false);
            }
            self.t1.push(key);
            false
        }

        fn remove(&mut self, key: u64) {
            for list in [&mut self.t1, &mut self.t2, &mut self.b1, &mut self.b2] {
                take(list, key);
            }
        }

        fn held(&self) -> Vec<u64> {
            [self.t1.as_slice(), &self.t2].concat()
        }
    }

    #[test]
    fn agrees_with_lists() {
        check::<Arc, Model>();
    }

    #[test]
    fn a_scan_keeps_entries_used_twice() {
        // 3 entries. a a: T2 a. b c: T1 b c. d: p is 0, so b becomes a ghost: T1 c d, and e f in the same way.
        // a hits (7): LRU would have lost it to the scan. f hits (8) and moves to T2: T1 e, T2 a f.
        // d is a ghost: p becomes 1 (B2 is empty), and T1 has no more than that, so a leaves T2 for B2: T2 f d.
        // a is a ghost of B2: p falls by 1 to 0, and e leaves T1: e misses (11).
        assert_eq!(hits::<Arc>(3, "aabcdefafdae"), [1, 7, 8]);
    }
}
