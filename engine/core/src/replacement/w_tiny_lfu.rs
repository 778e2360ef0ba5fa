//! W-TinyLFU: a window before a main part that admits by frequency.
//!
//! ```text
//! new entry ─► window (LRU) ─► candidate ─ used more often than the victim ─► probation ─ hit ─► protected
//!                                  └─ else evicted                victim ◄─ oldest    ◄─ full ─
//! ```
//!
//! An entry that leaves the window is admitted to the main part, a segmented LRU, only if the sketch has counted more
//! uses of it than of the entry that it would evict, the oldest on probation (or the oldest protected one
//! if there is none). The sketch counts the uses of all keys, held or not, in little space: a count-min sketch of four rows
//! of counters up to 15, of which a use increments the least ones (minimal increment). After as many uses as ten times the
//! capacity all counts are halved, and so is the number of uses, so old popularity is forgotten.
//!
//! G. Einziger, R. Friedman, B. Manes: `TinyLFU`: a highly efficient cache admission policy, ACM Transactions on Storage 13(4),
//! 2017. The paper does not specify the size and hashes of the sketch: here a row has four counters per entry, at least 64,
//! rounded up to a power of two, with fixed hashes. Its doorkeeper, a Bloom filter that saves memory before the sketch,
//! is omitted.
//!
//! Parameters: `probation` \[share of the capacity\], the window, 1 %, at least one entry; four fifths of the main part are
//! protected, as in the paper. Cost: one search and four counters per access, eight more per miss.
//!
//! Not for data used in short bursts that exceed the window: it never wins against previously popular data.
//! A removal does not reduce counts.

use super::{Admission, BLOCK, Queues, Replace, Room};

const ROWS: usize = 4;
const MIN_COLUMNS: usize = 64;
const MAX_COUNT: u8 = 15;
const USES_PER_ENTRY: usize = 10;

/// Estimates use counts; never too low except for halving.
#[derive(Debug)]
struct Sketch {
    /// The counters of a column are adjacent.
    counts: Vec<[u8; ROWS]>,
    uses: usize,
    most_uses: usize,
}

/// One odd multiplier per row: the fractional parts of the square roots of 2, 3, 5 and 7.
const SEEDS: [u64; ROWS] =
    [0x6A09_E667_F3BC_C909, 0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B, 0xA54F_F53A_5F1D_36F1];

impl Sketch {
    fn new(capacity: usize) -> Self {
        let columns = (4 * capacity).max(MIN_COLUMNS).next_power_of_two();
        Self { counts: vec![[0; ROWS]; columns], uses: 0, most_uses: USES_PER_ENTRY * capacity }
    }

    /// The column of `key` in each row: the upper half of a product, folded once more.
    fn columns(&self, key: u64) -> [usize; ROWS] {
        SEEDS.map(|seed| {
            let product = (key ^ key >> 32).wrapping_add(1).wrapping_mul(seed);
            ((product >> 32 ^ product >> 52) as usize) & (self.counts.len() - 1)
        })
    }

    fn estimate(&self, key: u64) -> u8 {
        let columns = self.columns(key);
        (0..ROWS).map(|row| self.counts[columns[row]][row]).min().unwrap_or_default()
    }

    fn note(&mut self, key: u64) {
        let least = self.estimate(key);
        if least < MAX_COUNT {
            for (row, column) in self.columns(key).into_iter().enumerate() {
                let count = &mut self.counts[column][row];
                *count = (*count).max(least + 1);
            }
        }
        self.uses += 1;
        if self.uses >= self.most_uses {
            self.uses /= 2;
            self.counts.iter_mut().flatten().for_each(|count| *count /= 2);
        }
    }
}

/// W-TinyLFU.
#[derive(Debug)]
pub struct WTinyLfu {
    most_window: usize,
    most_main: usize,
    most_protected: usize,
    sketch: Sketch,
    queues: Queues<3>,
}

/// The queues.
const WINDOW: usize = 0;
const PROBATION: usize = 1;
const PROTECTED: usize = 2;

impl WTinyLfu {
    /// Moves the oldest entry of a full window to the main part if there is room or it wins; returns the evicted slot.
    fn contest(&mut self) -> Option<u32> {
        let candidate = self.queues.oldest(WINDOW)?;
        let mut loser = None;
        if self.queues.len(PROBATION) + self.queues.len(PROTECTED) == self.most_main {
            let victim = self.queues.oldest(PROBATION).or(self.queues.oldest(PROTECTED));
            let uses = |slot: u32| self.sketch.estimate(self.queues.directory.key(slot));
            loser = victim.filter(|&victim| uses(candidate) > uses(victim)).or(Some(candidate));
        }
        if loser != Some(candidate) {
            self.queues.transfer(candidate, PROBATION);
        }
        loser.inspect(|&slot| self.queues.forget(slot))
    }
}

impl Replace for WTinyLfu {
    const PROBATION: Option<f64> = Some(0.01);

    fn new(room: Room) -> Self {
        let most_window = room.part(room.probation).max(1);
        let most_main = room.capacity - most_window;
        Self {
            most_window,
            most_main,
            most_protected: most_main * 4 / 5,
            sketch: Sketch::new(room.capacity),
            queues: Queues::new(),
        }
    }

    #[inline]
    fn held(&self) -> usize {
        self.queues.directory.len()
    }

    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        self.queues.directory.find(key)
    }

    #[inline]
    fn expect(&mut self, keys: &[u64; BLOCK]) {
        self.queues.directory.expect(keys);
    }

    fn access(&mut self, key: u64) -> Option<u32> {
        let slot = self.find(key)?;
        self.sketch.note(key);
        let queue = self.queues.queue(slot);
        if queue != PROBATION {
            self.queues.refresh(slot, queue);
            return Some(slot);
        }
        self.queues.transfer(slot, PROTECTED);
        if self.queues.len(PROTECTED) > self.most_protected
            && let Some(fallen) = self.queues.oldest(PROTECTED)
        {
            self.queues.transfer(fallen, PROBATION);
        }
        Some(slot)
    }

    fn admit(&mut self, key: u64) -> Admission {
        self.sketch.note(key);
        let evicted = if self.queues.len(WINDOW) == self.most_window { self.contest() } else { None };
        let slot = self.queues.directory.add(key);
        self.queues.put(slot, WINDOW);
        Admission { slot, evicted }
    }

    fn remove(&mut self, key: u64) -> Option<u32> {
        let slot = self.find(key)?;
        self.queues.forget(slot);
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::{Naive, check, hits};
    use super::*;

    /// Lists, oldest first. The sketch is the policy's own; `tests/validation/test_w_tiny_lfu.py` has another.
    struct Model {
        most_window: usize,
        most_main: usize,
        sketch: Sketch,
        window: Vec<u64>,
        probation: Vec<u64>,
        protected: Vec<u64>,
    }

    impl Naive for Model {
        fn new(room: Room) -> Self {
            let most_window = room.part(room.probation).max(1);
            Self {
                most_window,
                most_main: room.capacity - most_window,
                sketch: Sketch::new(room.capacity),
                window: Vec::new(),
                probation: Vec::new(),
                protected: Vec::new(),
            }
        }

        fn access(&mut self, key: u64) -> bool {
            self.sketch.note(key);
            if let Some(place) = self.window.iter().position(|&other| other == key) {
                self.window[place..].rotate_left(1);
                return true;
            }
            if self.probation.contains(&key) || self.protected.contains(&key) {
                self.probation.retain(|&other| other != key);
                self.protected.retain(|&other| other != key);
                self.protected.push(key);
                if self.protected.len() > self.most_main * 4 / 5 {
                    self.probation.push(self.protected.remove(0));
                }
                return true;
            }
            self.window.push(key);
            if self.window.len() > self.most_window {
                let candidate = self.window.remove(0);
                let has_room = self.probation.len() + self.protected.len() < self.most_main;
                let list = if self.probation.is_empty() { &mut self.protected } else { &mut self.probation };
                if has_room {
                    self.probation.push(candidate);
                } else if let Some(&victim) = list.first()
                    && self.sketch.estimate(candidate) > self.sketch.estimate(victim)
                {
                    list.remove(0);
                    self.probation.push(candidate);
                }
            }
            false
        }

        fn remove(&mut self, key: u64) {
            for list in [&mut self.window, &mut self.probation, &mut self.protected] {
                list.retain(|&other| other != key);
            }
        }

        fn held(&self) -> Vec<u64> {
            [self.window.as_slice(), &self.probation, &self.protected].concat()
        }
    }

    #[test]
    fn agrees_with_lists() {
        check::<WTinyLfu, Model>();
    }

    #[test]
    fn entries_used_once_do_not_evict_popular_ones() {
        // 3 entries: window 1, main 2, of which 1 protected. a a and b b b enter the main part (room); c d e f pass through
        // the window: each has one use, a two. a (9) and b (10) are still there.
        assert_eq!(hits::<WTinyLfu>(3, "aabbbcdefab"), [1, 3, 4, 9, 10]);
        // c is used three times in the window, so it beats a (two uses) as candidate when d comes, and a is gone.
        assert_eq!(hits::<WTinyLfu>(3, "aabbbcccdcab"), [1, 3, 4, 6, 7, 9, 11]);
    }

    #[test]
    fn counts_are_halved_after_ten_uses_per_entry() {
        let mut sketch = Sketch::new(2);
        (0..12).for_each(|_| sketch.note(7));
        assert_eq!((sketch.estimate(7), sketch.uses), (12, 12));
        (0..7).for_each(|_| sketch.note(8));
        assert_eq!((sketch.estimate(7), sketch.estimate(8), sketch.uses), (12, 7, 19));
        // The twentieth use of 2 x 10.
        sketch.note(9);
        assert_eq!((sketch.estimate(7), sketch.estimate(8), sketch.estimate(9)), (6, 3, 0));
        assert_eq!(sketch.uses, 10);
        (0..9).for_each(|_| sketch.note(7));
        assert_eq!(sketch.estimate(7), MAX_COUNT);
    }
}
