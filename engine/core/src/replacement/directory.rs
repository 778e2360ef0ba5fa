//! Directory of a cache: its keys and their slots.
//!
//! ```text
//!  table   key ─► slot
//!                 │
//!  nodes   | key, newer, older | key, newer, older | ...       a slot is a place here, for as long as its key is known
//!  marks   | mark | mark | ...                                 what a policy notes of a slot
//! ```
//!
//! Looking up an unknown key costs one processor cache line, a known one three. Marks are stored from the first one set, so
//! a policy without marks does not pay for them.

use super::BLOCK;
use super::queue::{Chain, Links};
use crate::slab::Link;
use crate::slot_table::SlotTable;

#[derive(Clone, Copy, Debug)]
struct Node {
    key: u64,
    links: Links,
}

/// Keys and their slots.
#[derive(Debug)]
pub struct Directory {
    table: SlotTable,
    nodes: Vec<Node>,
    /// Marks up to the largest slot in use when one was last set.
    marks: Vec<u8>,
    /// Free slots, linked through `older`.
    free: Link,
}

impl Directory {
    /// An empty directory.
    pub fn new() -> Self {
        Self { table: SlotTable::default(), nodes: Vec::new(), marks: Vec::new(), free: Link::END }
    }

    /// Number of keys.
    #[inline]
    pub const fn len(&self) -> usize {
        self.table.len()
    }

    /// The slot of `key`, if it is known.
    #[inline]
    pub fn find(&self, key: u64) -> Option<u32> {
        self.table.find(key, |slot| self.nodes[slot as usize].key)
    }

    /// Prefetches memory for searches for `keys` and, if found, for their neighbours in the queue. Independent loads overlap,
    /// so that many take the time of one.
    pub fn expect(&self, keys: &[u64; BLOCK]) {
        let slots = keys.map(|key| self.table.at_home(key));
        let nodes =
            slots.map(|slot| self.nodes.get(slot as usize).map_or(Links::default(), |node| node.links));
        let key =
            |link: Link| link.get().and_then(|slot| self.nodes.get(slot as usize)).map_or(0, |node| node.key);
        std::hint::black_box(nodes.map(|links| key(links.newer) ^ key(links.older)));
    }

    /// Adds `key` and returns its slot, with mark 0. Precondition: it is not known.
    #[inline]
    pub fn add(&mut self, key: u64) -> u32 {
        debug_assert!(self.find(key).is_none());
        let node = Node { key, links: Links::default() };
        let slot = if let Some(slot) = self.free.get() {
            self.free = self.nodes[slot as usize].links.older;
            self.nodes[slot as usize] = node;
            if let Some(mark) = self.marks.get_mut(slot as usize) {
                *mark = 0;
            }
            slot
        } else {
            self.nodes.push(node);
            (self.nodes.len() - 1) as u32
        };
        let nodes = &self.nodes;
        self.table.insert(key, slot, |slot| nodes[slot as usize].key);
        slot
    }

    /// Removes the key in `slot`. Precondition: it has a key and is in no queue.
    #[inline]
    pub fn forget(&mut self, slot: u32) {
        self.table.remove(self.nodes[slot as usize].key, slot);
        self.nodes[slot as usize].links.older = self.free;
        self.free = Link::to(slot);
    }

    #[inline]
    pub fn key(&self, slot: u32) -> u64 {
        self.nodes[slot as usize].key
    }

    #[inline]
    pub fn mark(&self, slot: u32) -> u8 {
        self.marks.get(slot as usize).copied().unwrap_or_default()
    }

    #[inline]
    pub fn set_mark(&mut self, slot: u32, mark: u8) {
        if slot as usize >= self.marks.len() {
            self.marks.resize(self.nodes.len(), 0);
        }
        self.marks[slot as usize] = mark;
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
