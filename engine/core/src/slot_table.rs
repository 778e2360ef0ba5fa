//! A hash table of slots, for entries that store their keys themselves.
//!
//! ```text
//!   hash(key) ─► home, tag        marks  [ 1│tag ][ 2│tag ][ 1│tag ][ 0 ] ...      distance from home + 1, and the tag
//!                                 slots  [ slot  ][ slot  ][ slot  ][   ] ...
//!                                          home ──► next ──► next ──► free
//! ```
//!
//! Open addressing with linear probing; a removal closes its gap by moving entries back (Knuth, The Art of Computer
//! Programming 3, 6.4, algorithm R). Tables outgrow the processor's caches, so places are small: a search for an absent key
//! reads marks only, of two bytes each. If the distance and the tag of a key match, the key itself is compared in its entry.
//!
//! Cost: O(1); at most five eighths of the places are used, so an unsuccessful search visits four or fewer places on
//! average.

/// The mark of a free place.
const EMPTY: u16 = 0;
/// Bits of a mark for the tag; the rest are for the distance from home + 1.
const TAG_BITS: u32 = 8;
/// Initial number of places, as a power of two.
const FIRST_BITS: u32 = 4;
/// Bits of a hash.
const HASH_BITS: u32 = 32;

/// Slots by key.
#[derive(Debug)]
pub(crate) struct SlotTable {
    marks: Box<[u16]>,
    slots: Box<[u32]>,
    /// Bits of a hash beyond those of its home place.
    shift: u32,
    len: usize,
}

impl Default for SlotTable {
    fn default() -> Self {
        Self::with_bits(FIRST_BITS)
    }
}

/// The hash of a key: both halves of its product with an odd constant, folded.
#[inline]
pub(crate) const fn tag_of(key: u64) -> u64 {
    let product = (key ^ 0x243F_6A88_85A3_08D3) as u128 * 0x9E37_79B9_7F4A_7C15;
    ((product >> 64) as u64 ^ product as u64) >> 32
}

impl SlotTable {
    /// An empty table of two to the power of `bits` places.
    fn with_bits(bits: u32) -> Self {
        let (marks, slots) = (vec![EMPTY; 1 << bits], vec![0; 1 << bits]);
        Self { marks: marks.into(), slots: slots.into(), shift: HASH_BITS - bits, len: 0 }
    }

    /// Number of slots.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Removes all slots; keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.marks.fill(EMPTY);
        self.len = 0;
    }

    /// The slot of `key`; `key_of` returns the key of the entry of a slot.
    #[inline]
    pub(crate) fn find(&self, key: u64, key_of: impl Fn(u32) -> u64) -> Option<u32> {
        let (mut at, mut wanted) = self.home(key);
        loop {
            let mark = self.marks[at];
            if u32::from(mark) == wanted && key_of(self.slots[at]) == key {
                return Some(self.slots[at]);
            }
            if mark == EMPTY {
                return None;
            }
            at = self.next(at);
            wanted += 1 << TAG_BITS;
        }
    }

    /// The slot in the home place of `key`, of any key; no valid slot if it is empty.
    #[inline]
    pub(crate) fn at_home(&self, key: u64) -> u32 {
        let (home, _) = self.home(key);
        std::hint::select_unpredictable(self.marks[home] == EMPTY, u32::MAX, self.slots[home])
    }

    /// Prefetches memory for a search for `key`: independent loads overlap.
    #[inline]
    pub(crate) fn expect(&self, key: u64) {
        let (home, _) = self.home(key);
        std::hint::black_box(self.marks[home]);
    }

    /// Adds the slot of `key`; `key_of` returns the key of the entry of a slot. Precondition: `key` is absent.
    #[inline]
    pub(crate) fn insert(&mut self, key: u64, slot: u32, key_of: impl Fn(u32) -> u64) {
        if (self.len + 1) * 8 > self.marks.len() * 5 {
            self.grow(&key_of);
        }
        while !self.put(key, slot) {
            self.grow(&key_of);
        }
    }

    /// Removes the slot of `key`. Precondition: it is present.
    #[inline]
    pub(crate) fn remove(&mut self, key: u64, slot: u32) {
        let (mut gap, _) = self.home(key);
        while self.slots[gap] != slot {
            debug_assert!(self.marks[gap] != EMPTY, "the slot is not in");
            gap = self.next(gap);
        }
        let mut at = gap;
        loop {
            at = self.next(at);
            let mark = self.marks[at];
            if mark == EMPTY {
                break;
            }
            // An entry must not move before its home place.
            let back = at.wrapping_sub(gap) & (self.marks.len() - 1);
            if usize::from(mark >> TAG_BITS) > back {
                self.marks[gap] = mark - ((back as u16) << TAG_BITS);
                self.slots[gap] = self.slots[at];
                gap = at;
            }
        }
        self.marks[gap] = EMPTY;
        self.len -= 1;
    }

    /// The home place of `key`, and its mark there.
    #[inline]
    const fn home(&self, key: u64) -> (usize, u32) {
        let hash = tag_of(key);
        let tag = hash as u32 & ((1 << TAG_BITS) - 1);
        ((hash >> self.shift) as usize, 1 << TAG_BITS | tag)
    }

    #[inline]
    const fn next(&self, at: usize) -> usize {
        (at + 1) & (self.marks.len() - 1)
    }

    /// Puts a slot into the first free place from the home of `key`; returns false if that is too far for its mark.
    #[inline]
    fn put(&mut self, key: u64, slot: u32) -> bool {
        let (mut at, mut mark) = self.home(key);
        while self.marks[at] != EMPTY {
            at = self.next(at);
            mark += 1 << TAG_BITS;
        }
        let Ok(mark) = u16::try_from(mark) else { return false };
        (self.marks[at], self.slots[at]) = (mark, slot);
        self.len += 1;
        true
    }

    /// Doubles the places until every slot is near its home; once suffices but for rare runs of full places.
    #[cold]
    fn grow(&mut self, key_of: &impl Fn(u32) -> u64) {
        let used = self.marks.iter().zip(&self.slots).filter(|&(&mark, _)| mark != EMPTY);
        let slots: Vec<u32> = used.map(|(_, &slot)| slot).collect();
        loop {
            *self = Self::with_bits(HASH_BITS - self.shift + 1);
            if slots.iter().all(|&slot| self.put(key_of(slot), slot)) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Keys whose home is the last or first place of the first table, so that runs wrap.
    fn crowded() -> Vec<u64> {
        let bits = HASH_BITS - FIRST_BITS;
        (0..).filter(|&key| matches!(tag_of(key) >> bits, 0 | 15)).take(10).collect()
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_map(steps in prop::collection::vec((0..60_usize, any::<bool>()), 1..300), keep in 5..60_usize) {
            let mut keys = crowded();
            keys.extend((1..51).map(|key| (key << 48) | (key * 7)));
            let mut table = SlotTable::default();
            let mut map: BTreeMap<u64, u32> = BTreeMap::new();
            for (index, enters) in steps {
                let (key, slot) = (keys[index % keep], index as u32 % keep as u32);
                if enters && !map.contains_key(&key) {
                    table.insert(key, slot, |slot| keys[slot as usize]);
                    map.insert(key, slot);
                } else if !enters && map.remove(&key).is_some() {
                    table.remove(key, slot);
                }
                for (index, &key) in keys[..keep].iter().enumerate() {
                    let found = table.find(key, |slot| keys[slot as usize]);
                    prop_assert_eq!(found, map.get(&key).copied(), "key {}", index);
                }
                prop_assert_eq!(table.len(), map.len());
            }
        }
    }

    #[test]
    fn a_crowd_too_far_from_home_makes_the_table_grow() {
        let keys: Vec<u64> = (0..).filter(|&key| tag_of(key) >> 20 == 0).take(300).collect();
        let mut table = SlotTable::default();
        for (slot, &key) in (0..).zip(&keys) {
            table.insert(key, slot, |slot| keys[slot as usize]);
        }
        assert!(table.marks.len() > 4096, "{} places", table.marks.len());
        for (slot, &key) in (0..).zip(&keys) {
            assert_eq!(table.find(key, |slot| keys[slot as usize]), Some(slot));
            table.remove(key, slot);
        }
        assert_eq!((table.len(), table.find(keys[0], |_| keys[0])), (0, None));
    }

    #[test]
    fn a_tag_alone_finds_nothing() {
        let mut table = SlotTable::default();
        table.insert(7, 3, |_| 7);
        assert_eq!((table.find(7, |_| 7), table.find(7, |_| 8)), (Some(3), None));
        table.clear();
        assert_eq!((table.find(7, |_| 7), table.len()), (None, 0));
    }
}
