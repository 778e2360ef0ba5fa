//! Least recently used replacement over unit-size entries.
//!
//! Mattson, Gecsei, Slutz, Traiger: Evaluation techniques for storage hierarchies, IBM Systems Journal 9(2), 1970.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::slab::Link;

#[derive(Clone, Copy, Debug)]
struct Entry<V> {
    key: u64,
    value: V,
    newer: Link,
    older: Link,
}

/// A cache of at most `capacity` entries; the one not used for longest leaves first.
#[derive(Debug)]
pub struct Lru<V> {
    capacity: usize,
    index: HashMap<u64, u32, FxBuildHasher>,
    entries: Vec<Entry<V>>,
    free: Vec<u32>,
    newest: Link,
    oldest: Link,
}

impl<V: Copy> Lru<V> {
    /// An empty cache.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            index: HashMap::default(),
            entries: Vec::new(),
            free: Vec::new(),
            newest: Link::END,
            oldest: Link::END,
        }
    }

    /// Most entries that it holds.
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Entries that it holds.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The value of `key`, which becomes the most recently used.
    #[inline]
    pub fn touch(&mut self, key: u64) -> Option<&mut V> {
        let slot = *self.index.get(&key)?;
        if self.newest != Link::to(slot) {
            self.unlink(slot);
            self.link_newest(slot);
        }
        Some(&mut self.entries[slot as usize].value)
    }

    /// The value of `key`; its age stays.
    #[inline]
    pub fn peek(&mut self, key: u64) -> Option<&mut V> {
        let slot = *self.index.get(&key)?;
        Some(&mut self.entries[slot as usize].value)
    }

    /// Puts `key` in as the most recently used; gives what had to leave. Precondition: `key` is not in.
    #[inline]
    pub fn insert(&mut self, key: u64, value: V) -> Option<(u64, V)> {
        if self.capacity == 0 {
            return Some((key, value));
        }
        let evicted = if self.index.len() == self.capacity { self.evict() } else { None };
        let entry = Entry { key, value, newer: Link::END, older: Link::END };
        let slot = if let Some(slot) = self.free.pop() {
            self.entries[slot as usize] = entry;
            slot
        } else {
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        };
        self.index.insert(key, slot);
        self.link_newest(slot);
        evicted
    }

    /// Takes `key` out, where it is in.
    #[inline]
    pub fn remove(&mut self, key: u64) -> Option<V> {
        let slot = self.index.remove(&key)?;
        self.unlink(slot);
        self.free.push(slot);
        Some(self.entries[slot as usize].value)
    }

    fn evict(&mut self) -> Option<(u64, V)> {
        let slot = self.oldest.get()?;
        let Entry { key, value, .. } = self.entries[slot as usize];
        self.remove(key);
        Some((key, value))
    }

    fn unlink(&mut self, slot: u32) {
        let Entry { newer, older, .. } = self.entries[slot as usize];
        match newer.get() {
            Some(newer) => self.entries[newer as usize].older = older,
            None => self.newest = older,
        }
        match older.get() {
            Some(older) => self.entries[older as usize].newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link_newest(&mut self, slot: u32) {
        let old = self.newest;
        let entry = &mut self.entries[slot as usize];
        entry.newer = Link::END;
        entry.older = old;
        match old.get() {
            Some(old) => self.entries[old as usize].newer = Link::to(slot),
            None => self.oldest = Link::to(slot),
        }
        self.newest = Link::to(slot);
    }
}

/// Hits of an LRU cache of `capacity` unit-size entries over the accesses `keys`.
pub fn count_hits(capacity: usize, keys: impl IntoIterator<Item = u64>) -> u64 {
    let mut cache = Lru::new(capacity);
    let mut hits = 0;
    for key in keys {
        if cache.touch(key).is_some() {
            hits += 1;
        } else {
            cache.insert(key, ());
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stack_distances_of_the_hand_worked_string() {
        // a b c b a d a: distances -, -, -, 1, 2, -, 1, so the hits by capacity are:
        let keys = [0, 1, 2, 1, 0, 3, 0];
        let hits: Vec<u64> = (1..=4).map(|capacity| count_hits(capacity, keys)).collect();
        assert_eq!(hits, [0, 2, 3, 3]);
    }

    #[test]
    fn a_cyclic_scan_defeats_lru_until_it_fits() {
        let keys = || (0..10_u64).cycle().take(100);
        assert_eq!(count_hits(9, keys()), 0);
        assert_eq!(count_hits(10, keys()), 90);
    }

    proptest! {
        #[test]
        fn agrees_with_a_list(capacity in 1_usize..12, keys in prop::collection::vec(0_u64..20, 0..300)) {
            let mut list: Vec<u64> = Vec::new();
            let mut hits = 0;
            for &key in &keys {
                if let Some(place) = list.iter().position(|&other| other == key) {
                    list.remove(place);
                    hits += 1;
                } else if list.len() == capacity {
                    list.remove(0);
                }
                list.push(key);
            }
            prop_assert_eq!(count_hits(capacity, keys), hits);
        }
    }
}
