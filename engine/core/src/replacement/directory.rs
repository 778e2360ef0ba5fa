//! The directory of a cache: which keys it knows, and in which slot each of them is.
//!
//! ```text
//!  cells   | tag, slot | - | tag, slot | tag, slot | -        open addressing, at most half full
//!                 │                │
//!  nodes   | key, newer, older | key, newer, older | ...       a slot is a place here, for as long as its key is known
//!  marks   | mark | mark | ...                                 what a policy notes of a slot
//! ```
//!
//! A cell holds the upper half of its key's hash, from which its home place follows, so that neither growing nor closing
//! the gap that a removed cell leaves has to look at a key. A search looks at a key only where the whole tag agrees: a
//! key that is not known costs one line of the processor's cache, one that is known costs two.

use super::queue::{Chain, Links};
use crate::slab::Link;

#[derive(Clone, Copy, Debug)]
struct Node {
    key: u64,
    links: Links,
}

/// Keys and their slots.
#[derive(Debug)]
pub struct Directory {
    cells: Vec<u64>,
    /// Tag bits beyond those that give the home place.
    shift: u32,
    nodes: Vec<Node>,
    marks: Vec<u8>,
    /// Slots that are free, linked through `older`.
    free: Link,
    len: usize,
}

const EMPTY: u64 = u64::MAX;
const FEWEST_CELLS: usize = 16;
/// Keys that are expected at a time.
pub const BLOCK: usize = 32;

/// The upper half of a key's hash: both halves of a 128-bit product, folded.
#[inline]
const fn tag(key: u64) -> u32 {
    let product = (key ^ 0x243F_6A88_85A3_08D3) as u128 * 0x9E37_79B9_7F4A_7C15;
    (((product >> 64) as u64 ^ product as u64) >> 32) as u32
}

impl Directory {
    /// An empty directory.
    pub fn new() -> Self {
        Self {
            cells: vec![EMPTY; FEWEST_CELLS],
            shift: 32 - FEWEST_CELLS.trailing_zeros(),
            nodes: Vec::new(),
            marks: Vec::new(),
            free: Link::END,
            len: 0,
        }
    }

    /// Number of keys that are known.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// The slot of `key`, where it is known.
    #[inline]
    pub fn find(&self, key: u64) -> Option<u32> {
        let tag = tag(key);
        let mask = self.cells.len() - 1;
        let mut place = (tag >> self.shift) as usize;
        loop {
            let cell = self.cells[place & mask];
            if cell == EMPTY {
                return None;
            }
            if (cell >> 32) as u32 == tag && self.nodes[cell as u32 as usize].key == key {
                return Some(cell as u32);
            }
            place += 1;
        }
    }

    /// Brings what searches for `keys` will look at near the processor, and where they are found the neighbours in the
    /// queue as well; changes nothing. Memory answers many independent questions in the time of one.
    pub fn expect(&self, keys: &[u64; BLOCK]) {
        let cells = keys.map(|key| self.cells[(tag(key) >> self.shift) as usize]);
        let nodes = cells
            .map(|cell| self.nodes.get(cell as u32 as usize).map_or(Links::default(), |node| node.links));
        let key =
            |link: Link| link.get().and_then(|slot| self.nodes.get(slot as usize)).map_or(0, |node| node.key);
        std::hint::black_box(nodes.map(|links| key(links.newer) ^ key(links.older)));
    }

    /// Takes `key` in; gives its slot, whose mark is 0. Precondition: it is not known.
    #[inline]
    pub fn add(&mut self, key: u64) -> u32 {
        debug_assert!(self.find(key).is_none());
        if (self.len + 1) * 2 > self.cells.len() {
            self.grow();
        }
        let node = Node { key, links: Links::default() };
        let slot = if let Some(slot) = self.free.get() {
            self.free = self.nodes[slot as usize].links.older;
            self.nodes[slot as usize] = node;
            self.marks[slot as usize] = 0;
            slot
        } else {
            self.nodes.push(node);
            self.marks.push(0);
            (self.nodes.len() - 1) as u32
        };
        let tag = tag(key);
        self.put(u64::from(tag) << 32 | u64::from(slot));
        self.len += 1;
        slot
    }

    /// Forgets the key in `slot`. Precondition: there is one, and it is in no queue.
    #[inline]
    pub fn forget(&mut self, slot: u32) {
        let tag = tag(self.nodes[slot as usize].key);
        let sought = u64::from(tag) << 32 | u64::from(slot);
        let mask = self.cells.len() - 1;
        let mut gap = (tag >> self.shift) as usize;
        while self.cells[gap & mask] != sought {
            gap += 1;
        }
        // Cells behind the gap move up, unless that would put them before their home place.
        let mut place = gap + 1;
        loop {
            let cell = self.cells[place & mask];
            if cell == EMPTY {
                break;
            }
            let home = (cell >> 32) as usize >> self.shift;
            if place.wrapping_sub(home) & mask >= place - gap {
                self.cells[gap & mask] = cell;
                gap = place;
            }
            place += 1;
        }
        self.cells[gap & mask] = EMPTY;
        self.nodes[slot as usize].links.older = self.free;
        self.free = Link::to(slot);
        self.len -= 1;
    }

    /// The key in `slot`.
    #[inline]
    pub fn key(&self, slot: u32) -> u64 {
        self.nodes[slot as usize].key
    }

    /// The mark of `slot`.
    #[inline]
    pub fn mark(&self, slot: u32) -> u8 {
        self.marks[slot as usize]
    }

    /// Marks `slot`.
    #[inline]
    pub fn set_mark(&mut self, slot: u32, mark: u8) {
        self.marks[slot as usize] = mark;
    }

    fn put(&mut self, cell: u64) {
        let mask = self.cells.len() - 1;
        let mut place = (cell >> 32) as usize >> self.shift;
        while self.cells[place & mask] != EMPTY {
            place += 1;
        }
        self.cells[place & mask] = cell;
    }

    fn grow(&mut self) {
        let more = vec![EMPTY; self.cells.len() * 2];
        let cells = std::mem::replace(&mut self.cells, more);
        self.shift -= 1;
        for cell in cells.into_iter().filter(|&cell| cell != EMPTY) {
            self.put(cell);
        }
    }
}

impl Chain for Directory {
    #[inline]
    fn links(&mut self, slot: u32) -> &mut Links {
        &mut self.nodes[slot as usize].links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn agrees_with_a_map(operations in prop::collection::vec((any::<bool>(), 0_u64..200), 0..600)) {
            let (mut directory, mut map) = (Directory::new(), BTreeMap::new());
            for (is_in, key) in operations {
                // Keys that differ only in their high bits, as those of two arrays do.
                let key = (key % 3) << 48 | key;
                match (is_in, map.get(&key)) {
                    (true, None) => {
                        map.insert(key, directory.add(key));
                    }
                    (false, Some(&slot)) => {
                        directory.forget(slot);
                        map.remove(&key);
                    }
                    _ => {}
                }
                prop_assert_eq!(directory.len(), map.len());
                for key in 0..200 {
                    let key = (key % 3) << 48 | key;
                    prop_assert_eq!(directory.find(key), map.get(&key).copied());
                }
            }
        }
    }
}
