//! A hash table of slots, for entries that store their keys themselves.
//!
//! ```text
//!   hash(key) ─► tag, 32 bits ─► its first bits: home        [ tag│slot ][ tag│slot ][ empty ] ...
//!                                                              home ──► next ──► next: free
//! ```
//!
//! Open addressing with linear probing; a removal closes its gap by moving entries back (Knuth, The Art of Computer
//! Programming 3, 6.4, algorithm R). A place takes 8 bytes, so a search usually reads one cache line, where a table of
//! keys and values reads two; tables outgrow the processor's caches. If the tag of a key matches, the key itself is
//! compared in its entry.
//!
//! Cost: O(1); at most five eighths of the places are used, so an unsuccessful search visits four or fewer places on
//! average.

/// No slot.
const EMPTY: u64 = u64::MAX;
/// Initial number of places, as a power of two.
const FIRST_BITS: u32 = 4;

/// Slots by key.
#[derive(Debug)]
pub(crate) struct SlotTable {
    /// Tag in the upper half, slot in the lower.
    places: Box<[u64]>,
    /// Bits of a tag beyond those of its home place.
    shift: u32,
    len: usize,
}

impl Default for SlotTable {
    fn default() -> Self {
        Self { places: vec![EMPTY; 1 << FIRST_BITS].into(), shift: 32 - FIRST_BITS, len: 0 }
    }
}

/// The hash of a key: both halves of its product with an odd constant, folded.
#[inline]
pub(crate) const fn tag_of(key: u64) -> u64 {
    let product = (key ^ 0x243F_6A88_85A3_08D3) as u128 * 0x9E37_79B9_7F4A_7C15;
    ((product >> 64) as u64 ^ product as u64) >> 32
}

impl SlotTable {
    /// Number of slots.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Removes all slots; keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.places.fill(EMPTY);
        self.len = 0;
    }

    /// The slot of `key`; `holds` returns whether the entry of a slot has that key.
    #[inline]
    pub(crate) fn find(&self, key: u64, holds: impl Fn(u32) -> bool) -> Option<u32> {
        let tag = tag_of(key);
        let mut at = self.home(tag);
        loop {
            let place = self.places[at];
            if place >> 32 == tag && place != EMPTY && holds(place as u32) {
                return Some(place as u32);
            }
            if place == EMPTY {
                return None;
            }
            at = self.next(at);
        }
    }

    /// The slot in the home place of `key`, of any key; no valid slot if it is empty.
    #[inline]
    pub(crate) fn at_home(&self, key: u64) -> u32 {
        self.places[self.home(tag_of(key))] as u32
    }

    /// Adds the slot of `key`. Precondition: `key` is absent, and `slot` is less than `u32::MAX`.
    #[inline]
    pub(crate) fn insert(&mut self, key: u64, slot: u32) {
        if (self.len + 1) * 8 > self.places.len() * 5 {
            self.grow();
        }
        self.put(tag_of(key) << 32 | u64::from(slot));
        self.len += 1;
    }

    /// Removes the slot of `key`. Precondition: it is present.
    #[inline]
    pub(crate) fn remove(&mut self, key: u64, slot: u32) {
        let tag = tag_of(key);
        let place = tag << 32 | u64::from(slot);
        let mut gap = self.home(tag);
        while self.places[gap] != place {
            debug_assert!(self.places[gap] != EMPTY, "the slot is not in");
            gap = self.next(gap);
        }
        let mut at = gap;
        loop {
            at = self.next(at);
            let place = self.places[at];
            if place == EMPTY {
                break;
            }
            // An entry must not move before its home place.
            let mask = self.places.len() - 1;
            if at.wrapping_sub(self.home(place >> 32)) & mask >= at.wrapping_sub(gap) & mask {
                self.places[gap] = place;
                gap = at;
            }
        }
        self.places[gap] = EMPTY;
        self.len -= 1;
    }

    #[inline]
    const fn home(&self, tag: u64) -> usize {
        (tag >> self.shift) as usize
    }

    #[inline]
    const fn next(&self, at: usize) -> usize {
        (at + 1) & (self.places.len() - 1)
    }

    #[inline]
    fn put(&mut self, place: u64) {
        let mut at = self.home(place >> 32);
        while self.places[at] != EMPTY {
            at = self.next(at);
        }
        self.places[at] = place;
    }

    #[cold]
    fn grow(&mut self) {
        let twice = vec![EMPTY; self.places.len() * 2].into();
        let before = std::mem::replace(&mut self.places, twice);
        self.shift -= 1;
        before.iter().filter(|&&place| place != EMPTY).for_each(|&place| self.put(place));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Keys whose home is the last or first place of the first table, so that runs wrap.
    fn crowded() -> Vec<u64> {
        let bits = 32 - FIRST_BITS;
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
                    table.insert(key, slot);
                    map.insert(key, slot);
                } else if !enters && map.remove(&key).is_some() {
                    table.remove(key, slot);
                }
                for (index, &key) in keys[..keep].iter().enumerate() {
                    let found = table.find(key, |slot| slot == index as u32);
                    prop_assert_eq!(found, map.get(&key).copied());
                }
                prop_assert_eq!(table.len(), map.len());
            }
        }
    }

    #[test]
    fn a_tag_alone_finds_nothing() {
        let mut table = SlotTable::default();
        table.insert(7, 3);
        assert_eq!((table.find(7, |slot| slot == 3), table.find(7, |_| false)), (Some(3), None));
        table.clear();
        assert_eq!((table.find(7, |_| true), table.len()), (None, 0));
    }
}
