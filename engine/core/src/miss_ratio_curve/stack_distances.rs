//! LRU stack distances: the number of other keys used since the last use of a key.
//!
//! A hash table holds the slot of the last use of each key; the distance is the number of slots in use after it. When the
//! slots are full they are renumbered: O(n) for n keys, once in n uses or more. Cost: one lookup, one rank and one update
//! of O(log n) per use; 40 to 80 bytes per key.
//!
//! R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger: Evaluation techniques for storage hierarchies, IBM Systems
//! Journal 9(2), 1970. A tree over the times of last use: B. T. Bennett, V. J. Kruskal: LRU stack processing, IBM Journal
//! of Research and Development 19(4), 1975.

use crate::ranked_slots::RankedSlots;

#[derive(Clone, Copy, Debug)]
struct LastUse {
    key: u64,
    slot: usize,
}

const EMPTY: LastUse = LastUse { key: 0, slot: usize::MAX };
/// Minimum length of the hash table.
const TABLE: usize = 1 << 10;
/// Minimum slots.
const SLOTS: usize = 1 << 12;
/// Keys that are looked up together.
const BATCH: usize = 32;
/// Keys that differ only in this many lowest bits share a cache line.
const NEIGHBOURS: u32 = 2;

/// Keys in the order of their last use.
#[derive(Clone, Debug)]
pub struct StackDistances {
    table: Vec<LastUse>,
    shift: u32,
    slots: RankedSlots,
}

impl Default for StackDistances {
    fn default() -> Self {
        Self {
            table: vec![EMPTY; TABLE],
            shift: 64 - TABLE.trailing_zeros() + NEIGHBOURS,
            slots: RankedSlots::new(SLOTS),
        }
    }
}

impl StackDistances {
    /// The number of distinct keys used.
    pub const fn distinct(&self) -> usize {
        self.slots.len()
    }

    /// Uses `keys` one after the other; calls `visit` with the distance of each, none for a first use.
    pub fn access(&mut self, keys: impl IntoIterator<Item = u64>, mut visit: impl FnMut(Option<usize>)) {
        let mut keys = keys.into_iter();
        let mut batch = [0; BATCH];
        loop {
            let mut len = 0;
            for (entry, key) in batch.iter_mut().zip(keys.by_ref()) {
                *entry = key;
                len += 1;
            }
            // Independent loads from memory overlap.
            std::hint::black_box(batch.map(|key| self.table[self.home(key)].slot));
            for &key in &batch[..len] {
                visit(self.touch(key));
            }
            if len < BATCH {
                return;
            }
        }
    }

    /// Uses `key`; returns its distance, none for a first use.
    #[inline]
    pub fn touch(&mut self, key: u64) -> Option<usize> {
        if self.slots.is_full() {
            self.renumber();
        }
        let at = self.seek(key);
        let last = self.table[at].slot;
        if last == EMPTY.slot {
            self.table[at] = LastUse { key, slot: self.slots.push() };
            if self.slots.len() * 2 > self.table.len() {
                self.grow();
            }
            return None;
        }
        let distance = self.slots.len() - self.slots.rank(last) - 1;
        if distance > 0 {
            self.slots.remove(last);
            self.table[at].slot = self.slots.push();
        }
        Some(distance)
    }

    #[inline]
    const fn home(&self, key: u64) -> usize {
        let group = (key >> NEIGHBOURS ^ 0x243F_6A88_85A3_08D3) as u128 * 0x9E37_79B9_7F4A_7C15;
        let hash = (group >> 64) as u64 ^ group as u64;
        ((hash >> self.shift) << NEIGHBOURS | key & ((1 << NEIGHBOURS) - 1)) as usize
    }

    /// The entry of `key`, or the empty one for it.
    #[inline]
    fn seek(&self, key: u64) -> usize {
        let mask = self.table.len() - 1;
        let mut at = self.home(key);
        while self.table[at].slot != EMPTY.slot && self.table[at].key != key {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let more = vec![EMPTY; self.table.len() * 2];
        let table = std::mem::replace(&mut self.table, more);
        self.shift -= 1;
        for entry in table.into_iter().filter(|entry| entry.slot != EMPTY.slot) {
            let at = self.seek(entry.key);
            self.table[at] = entry;
        }
    }

    /// Renumbers the slots in use from 0 on.
    fn renumber(&mut self) {
        for entry in &mut self.table {
            if entry.slot != EMPTY.slot {
                entry.slot = self.slots.rank(entry.slot);
            }
        }
        let count = self.slots.len();
        self.slots = RankedSlots::filled((4 * count).max(SLOTS), count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distances(keys: &[u64]) -> Vec<Option<usize>> {
        let mut found = Vec::new();
        StackDistances::default().access(keys.iter().copied(), |distance| found.push(distance));
        found
    }

    /// Distances in a list of keys, most recently used first.
    fn distances_by_list(keys: &[u64]) -> Vec<Option<usize>> {
        let mut stack: Vec<u64> = Vec::new();
        keys.iter()
            .map(|&key| {
                let distance = stack.iter().position(|&other| other == key);
                distance.inspect(|&at| {
                    stack.remove(at);
                });
                stack.insert(0, key);
                distance
            })
            .collect()
    }

    #[test]
    fn a_short_string_by_hand() {
        let keys: Vec<u64> = "abcbada".bytes().map(u64::from).collect();
        assert_eq!(distances(&keys), [None, None, None, Some(1), Some(2), None, Some(1)]);
    }

    #[test]
    fn slots_are_renumbered_and_the_table_grows() {
        // 3000 keys in a cycle: each is at the depth of all others.
        let keys: Vec<u64> = (0..3000).cycle().take(40_000).map(|key| key * 977).collect();
        let found = distances(&keys);
        assert!(found[..3000].iter().all(Option::is_none));
        assert!(found[3000..].iter().all(|&distance| distance == Some(2999)));
    }

    proptest! {
        #[test]
        fn distances_are_those_of_a_list(
            keys in prop::collection::vec(prop_oneof![0_u64..12, 0_u64..3000, any::<u64>()], 0..7000),
        ) {
            prop_assert_eq!(distances(&keys), distances_by_list(&keys));
        }
    }
}
