//! Stack distances of an LRU cache of unlimited size: how many other keys were used since a key's last use.
//!
//! A hash table holds the place of each key's last use on a [`Timeline`]; the distance is the number of places that
//! count after it. When the timeline is full the places are numbered anew: O(n) for n keys, once in n uses or more.
//! Cost: one search, one count and one update of O(log n) for each use; 40 to 80 bytes a key.
//!
//! R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger: Evaluation techniques for storage hierarchies, IBM Systems
//! Journal 9(2), 1970. A tree over the times of last use: B. T. Bennett, V. J. Kruskal: LRU stack processing, IBM Journal
//! of Research and Development 19(4), 1975.

use super::timeline::Timeline;

#[derive(Clone, Copy, Debug)]
struct Cell {
    key: u64,
    place: usize,
}

const EMPTY: Cell = Cell { key: 0, place: usize::MAX };
const FEWEST_CELLS: usize = 1 << 10;
const FEWEST_PLACES: usize = 1 << 12;
/// Keys that are looked up together.
const BATCH: usize = 32;
/// Keys that differ in their lowest bits only stand in one line of the processor's cache.
const NEIGHBOURS: u32 = 2;

/// Keys in the order of their last use.
#[derive(Clone, Debug)]
pub struct StackDistances {
    cells: Vec<Cell>,
    shift: u32,
    timeline: Timeline,
}

impl Default for StackDistances {
    fn default() -> Self {
        Self {
            cells: vec![EMPTY; FEWEST_CELLS],
            shift: 64 - FEWEST_CELLS.trailing_zeros() + NEIGHBOURS,
            timeline: Timeline::new(FEWEST_PLACES),
        }
    }
}

impl StackDistances {
    /// Different keys that were used.
    pub const fn distinct(&self) -> usize {
        self.timeline.len()
    }

    /// Uses `keys` one after the other; `note` is told the distance of each, or none for a first use.
    pub fn access(&mut self, keys: impl IntoIterator<Item = u64>, mut note: impl FnMut(Option<usize>)) {
        let mut keys = keys.into_iter();
        let mut batch = [0; BATCH];
        loop {
            let mut len = 0;
            for (place, key) in batch.iter_mut().zip(keys.by_ref()) {
                *place = key;
                len += 1;
            }
            // Memory answers many independent questions in the time of one.
            std::hint::black_box(batch.map(|key| self.cells[self.home(key)].place));
            for &key in &batch[..len] {
                note(self.touch(key));
            }
            if len < BATCH {
                return;
            }
        }
    }

    /// Uses `key`; gives its distance, or none for a first use.
    #[inline]
    pub fn touch(&mut self, key: u64) -> Option<usize> {
        if self.timeline.is_full() {
            self.renumber();
        }
        let at = self.seek(key);
        let last = self.cells[at].place;
        if last == EMPTY.place {
            self.cells[at] = Cell { key, place: self.timeline.push() };
            if self.timeline.len() * 2 > self.cells.len() {
                self.grow();
            }
            return None;
        }
        let distance = self.timeline.len() - self.timeline.before(last) - 1;
        if distance > 0 {
            self.timeline.take(last);
            self.cells[at].place = self.timeline.push();
        }
        Some(distance)
    }

    #[inline]
    const fn home(&self, key: u64) -> usize {
        let group = (key >> NEIGHBOURS ^ 0x243F_6A88_85A3_08D3) as u128 * 0x9E37_79B9_7F4A_7C15;
        let hash = (group >> 64) as u64 ^ group as u64;
        ((hash >> self.shift) << NEIGHBOURS | key & ((1 << NEIGHBOURS) - 1)) as usize
    }

    /// The cell of `key`, or the empty one where it belongs.
    #[inline]
    fn seek(&self, key: u64) -> usize {
        let mask = self.cells.len() - 1;
        let mut at = self.home(key);
        while self.cells[at].place != EMPTY.place && self.cells[at].key != key {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let more = vec![EMPTY; self.cells.len() * 2];
        let cells = std::mem::replace(&mut self.cells, more);
        self.shift -= 1;
        for cell in cells.into_iter().filter(|cell| cell.place != EMPTY.place) {
            let at = self.seek(cell.key);
            self.cells[at] = cell;
        }
    }

    /// Gives the places that count the numbers from 0 on.
    fn renumber(&mut self) {
        for cell in &mut self.cells {
            if cell.place != EMPTY.place {
                cell.place = self.timeline.before(cell.place);
            }
        }
        let count = self.timeline.len();
        self.timeline = Timeline::filled((4 * count).max(FEWEST_PLACES), count);
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

    /// A list from the key used last on.
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
    fn of_the_hand_worked_string() {
        let keys: Vec<u64> = "abcbada".bytes().map(u64::from).collect();
        assert_eq!(distances(&keys), [None, None, None, Some(1), Some(2), None, Some(1)]);
    }

    #[test]
    fn places_are_numbered_anew_and_the_table_grows_many_times() {
        // 3000 keys round and round: each is at the depth of all others.
        let keys: Vec<u64> = (0..3000).cycle().take(40_000).map(|key| key * 977).collect();
        let found = distances(&keys);
        assert!(found[..3000].iter().all(Option::is_none));
        assert!(found[3000..].iter().all(|&distance| distance == Some(2999)));
    }

    proptest! {
        #[test]
        fn agree_with_a_list(
            keys in prop::collection::vec(prop_oneof![0_u64..12, 0_u64..3000, any::<u64>()], 0..7000),
        ) {
            prop_assert_eq!(distances(&keys), distances_by_list(&keys));
        }
    }
}
