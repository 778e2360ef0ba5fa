//! Entries of a cache in the order of arrival or last move, the newest last.
//!
//! ```text
//!  table   key ─► place: | key | slot, mark, stamp |          a stamp is the position of the key's last record in the log
//!                                           │
//!  log     | a | b | a | c | b | d |  ...   ▼                 position 0: a, but the stamp of a is 2: passed over
//!            tail ──────────────► head: the next record
//! ```
//!
//! A move writes a record and a stamp, and leaves the old record in the log, where it is recognised by its outdated stamp.
//! So an access reads one random memory line and a move no other, whereas linked lists would also touch the lines of the
//! neighbours; the log is read and written sequentially. The lookups of a search for the oldest entry are known in
//! advance from the log.
//!
//! The table is open addressing with linear probing; a removal closes its gap by moving back what may move (Knuth, The Art
//! of Computer Programming 3, 6.4, algorithm R), so a place is valid until the next removal or addition only. Unused
//! memory consists of untouched zeros.
//!
//! Cost: O(1) amortised; 16 bytes per place, of which at most five eighths are used, and 8 bytes per position, at most
//! six per entry. Not for more than 2^29 entries, whose log would exceed the stamps.

use super::BLOCK;
use crate::slot_table::tag_of;

/// A key and its packed data; 0 marks a free place. Zeroed memory comes from the system without being written.
type Place = [u64; 2];

const KEY: usize = 0;
/// From the highest bits: slot + 1, mark, stamp.
const REST: usize = 1;
const MARK: u64 = 1 << 32;
const SLOT_SHIFT: u32 = 33;

/// Initial number of places, as a power of two.
const FIRST_BITS: u32 = 4;
/// Growth factor of the table, as a power of two.
const GROWTH_BITS: u32 = 2;
/// Initial number of positions.
const FIRST_POSITIONS: usize = 64;
/// A full log with fewer positions per entry than this grows; otherwise its outdated records are removed.
const SPARSE: usize = 3;
/// Records that are prefetched ahead of a search.
const AHEAD: usize = 64;

/// Keys and their slots, in an order.
#[derive(Debug)]
pub struct Entries {
    places: Box<[Place]>,
    /// Bits of a tag beyond those of its home place.
    shift: u32,
    len: usize,
    /// Keys, at their position modulo the length, which is a power of two.
    log: Box<[u64]>,
    /// Position of the oldest possible record.
    tail: usize,
    head: usize,
    /// Position of the current search.
    reached: usize,
    /// Position up to which records are prefetched.
    looked_up: usize,
    free: Vec<u32>,
}

impl Entries {
    /// No entries.
    pub fn new() -> Self {
        Self {
            places: vec![[0; 2]; 1 << FIRST_BITS].into(),
            shift: 32 - FIRST_BITS,
            len: 0,
            log: vec![0; FIRST_POSITIONS].into(),
            tail: 0,
            head: 0,
            reached: 0,
            looked_up: 0,
            free: Vec::new(),
        }
    }

    /// Number of entries.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// The place of `key`, if it has an entry.
    #[inline]
    pub fn find(&self, key: u64) -> Option<usize> {
        let mut at = self.home(key);
        loop {
            let place = self.places[at];
            if place[REST] == 0 {
                return None;
            }
            if place[KEY] == key {
                return Some(at);
            }
            at = self.next(at);
        }
    }

    /// The key of the entry at `place`.
    #[inline]
    pub fn key(&self, place: usize) -> u64 {
        self.places[place][KEY]
    }

    /// The slot of the entry at `place`.
    #[inline]
    pub fn slot(&self, place: usize) -> u32 {
        (self.places[place][REST] >> SLOT_SHIFT) as u32 - 1
    }

    /// Whether the entry at `place` is marked; a new one is not.
    #[inline]
    pub fn is_marked(&self, place: usize) -> bool {
        self.places[place][REST] & MARK != 0
    }

    /// Sets or clears the mark of the entry at `place`.
    #[inline]
    pub fn set_mark(&mut self, place: usize, is_marked: bool) {
        let rest = &mut self.places[place][REST];
        *rest = *rest & !MARK | if is_marked { MARK } else { 0 };
    }

    /// Moves the entry at `place` to the newest end.
    #[inline]
    pub fn refresh(&mut self, place: usize) {
        let stamp = self.record(self.places[place][KEY]);
        let rest = &mut self.places[place][REST];
        *rest = *rest >> 32 << 32 | u64::from(stamp);
    }

    /// The place of the oldest entry.
    #[inline]
    pub fn oldest(&mut self) -> Option<usize> {
        let (position, place) = self.search(self.tail)?;
        self.tail = position;
        Some(place)
    }

    /// The place of the entry after the one at `place`.
    #[inline]
    pub fn newer(&mut self, place: usize) -> Option<usize> {
        let stamp = self.places[place][REST] as u32;
        let behind_tail = stamp.wrapping_sub(self.tail as u32) as usize;
        self.search(self.tail + behind_tail + 1).map(|(_, place)| place)
    }

    /// Adds `key` as the newest entry and returns its slot. Precondition: it has no entry.
    #[inline]
    pub fn add(&mut self, key: u64) -> u32 {
        debug_assert!(self.find(key).is_none());
        if (self.len + 1) * 8 > self.places.len() * 5 {
            self.grow();
        }
        let slot = self.free.pop().unwrap_or(self.len as u32);
        let stamp = self.record(key);
        self.put([key, u64::from(slot + 1) << SLOT_SHIFT | u64::from(stamp)]);
        self.len += 1;
        slot
    }

    /// Removes the entry at `place` and returns its slot.
    #[inline]
    pub fn take_out(&mut self, place: usize) -> u32 {
        let slot = self.slot(place);
        let mask = self.places.len() - 1;
        let (mut gap, mut at) = (place, place);
        loop {
            at = self.next(at);
            let place = self.places[at];
            if place[REST] == 0 {
                break;
            }
            // An entry must not move before its home place.
            if at.wrapping_sub(self.home(place[KEY])) & mask >= at.wrapping_sub(gap) & mask {
                self.places[gap] = place;
                gap = at;
            }
        }
        self.places[gap] = [0; 2];
        self.len -= 1;
        self.free.push(slot);
        slot
    }

    /// Prefetches memory for searches for `keys` and for the next evictions. Independent loads overlap, so
    /// that many take the time of one.
    #[inline]
    pub fn expect(&mut self, keys: &[u64; BLOCK]) {
        let first = |key: u64| self.places[self.home(key)][REST];
        let mut seen = keys.iter().fold(0, |seen, &key| seen ^ first(key));
        let end = (self.reached + AHEAD).min(self.head);
        for position in self.looked_up.max(self.reached)..end {
            seen ^= first(self.log[self.index(position)]);
        }
        self.looked_up = end;
        std::hint::black_box(seen);
    }

    /// The first entry at `position` or after it.
    #[inline]
    fn search(&mut self, position: usize) -> Option<(usize, usize)> {
        for position in position..self.head {
            if let Some(place) = self.find(self.log[self.index(position)])
                && self.places[place][REST] as u32 == position as u32
            {
                self.reached = position;
                return Some((position, place));
            }
        }
        None
    }

    /// Writes a record of `key` and returns its stamp.
    #[inline]
    fn record(&mut self, key: u64) -> u32 {
        if self.head - self.tail == self.log.len() {
            self.make_room();
        }
        let position = self.head;
        self.log[self.index(position)] = key;
        self.head += 1;
        position as u32
    }

    #[cold]
    fn make_room(&mut self) {
        if self.len * SPARSE < self.log.len() {
            return self.close_up();
        }
        let mut twice: Box<[u64]> = vec![0; self.log.len() * 2].into();
        for position in self.tail..self.head {
            twice[position & (twice.len() - 1)] = self.log[self.index(position)];
        }
        self.log = twice;
    }

    /// Removes outdated records from the log: each entry's position becomes the number of entries before it, computed with
    /// a small set of the valid positions. The table and the log are read sequentially.
    fn close_up(&mut self) {
        let tail = self.tail;
        let mask = self.log.len() - 1;
        let offset = |rest: u64| (rest as u32).wrapping_sub(tail as u32) as usize & mask;
        let mut is_last = vec![0_u64; self.log.len().div_ceil(64)];
        for place in &self.places {
            // About half of the places are free at random, so a branch would be mispredicted.
            let at = offset(place[REST]);
            is_last[at / 64] |= u64::from(place[REST] != 0) << (at % 64);
        }
        let mut before = Vec::with_capacity(is_last.len());
        let mut count = 0;
        for &word in &is_last {
            before.push(count);
            let mut word = word;
            let first = before.len() * 64 - 64;
            while word != 0 {
                let from = tail + first + word.trailing_zeros() as usize;
                self.log[(tail + count) & mask] = self.log[from & mask];
                count += 1;
                word &= word - 1;
            }
        }
        for place in &mut self.places {
            let at = offset(place[REST]);
            let rank = before[at / 64] + (is_last[at / 64] & ((1 << (at % 64)) - 1)).count_ones() as usize;
            let stamp = u64::from((tail + rank) as u32);
            place[REST] = place[REST] >> 32 << 32 | if place[REST] == 0 { 0 } else { stamp };
        }
        self.head = tail + count;
        (self.reached, self.looked_up) = (tail, tail);
    }

    #[inline]
    const fn home(&self, key: u64) -> usize {
        (tag_of(key) >> self.shift) as usize
    }

    #[inline]
    const fn next(&self, at: usize) -> usize {
        (at + 1) & (self.places.len() - 1)
    }

    #[inline]
    const fn index(&self, position: usize) -> usize {
        position & (self.log.len() - 1)
    }

    #[inline]
    fn put(&mut self, place: Place) {
        let mut at = self.home(place[KEY]);
        while self.places[at][REST] != 0 {
            at = self.next(at);
        }
        self.places[at] = place;
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![[0; 2]; self.places.len() << GROWTH_BITS].into();
        let before = std::mem::replace(&mut self.places, larger);
        self.shift -= GROWTH_BITS;
        before.iter().filter(|place| place[REST] != 0).for_each(|&place| self.put(place));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Few enough keys for frequent compaction of the log, enough for it to grow.
        #[test]
        fn it_agrees_with_a_list(keys in 2..90_u64, steps in prop::collection::vec((0..8_u8, any::<u64>()), 0..1500)) {
            let mut entries = Entries::new();
            // Key, slot, mark; oldest first.
            let mut list: Vec<(u64, u32, bool)> = Vec::new();
            let mut most = 0;
            for (kind, key) in steps {
                let key = (key % 3) << 48 | (key % keys);
                let known = list.iter().position(|entry| entry.0 == key);
                let found = entries.find(key);
                prop_assert_eq!(found.map(|place| entries.slot(place)), known.map(|at| list[at].1));
                match (kind, found, known) {
                    (0, Some(place), Some(at)) => {
                        prop_assert_eq!(entries.take_out(place), list.remove(at).1);
                    }
                    (1, Some(place), Some(at)) => {
                        entries.set_mark(place, !list[at].2);
                        list[at].2 = !list[at].2;
                        let newer = entries.newer(place).map(|place| entries.key(place));
                        prop_assert_eq!(newer, list.get(at + 1).map(|entry| entry.0));
                    }
                    (_, Some(place), Some(at)) => {
                        prop_assert_eq!(entries.is_marked(place), list[at].2);
                        entries.refresh(place);
                        let entry = list.remove(at);
                        list.push(entry);
                    }
                    _ => {
                        let slot = entries.add(key);
                        prop_assert!(list.iter().all(|entry| entry.1 != slot));
                        list.push((key, slot, false));
                    }
                }
                entries.expect(&[key; BLOCK]);
                let oldest = entries.oldest().map(|place| entries.key(place));
                prop_assert_eq!(oldest, list.first().map(|entry| entry.0));
                prop_assert_eq!(entries.len(), list.len());
                most = most.max(entries.len());
                prop_assert!(entries.log.len() <= (2 * SPARSE * most).max(FIRST_POSITIONS));
            }
            let mut place = entries.oldest();
            for &(key, slot, is_marked) in &list {
                let at = place.unwrap();
                prop_assert_eq!((entries.key(at), entries.slot(at), entries.is_marked(at)), (key, slot, is_marked));
                place = entries.newer(at);
            }
            prop_assert_eq!(place, None);
        }
    }
}
