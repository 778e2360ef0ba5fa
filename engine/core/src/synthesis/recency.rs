//! LRU stacks of blocks: the depth of a block, and the block at a depth.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::ranked_slots::RankedSlots;

/// Minimum slots of a stack.
const SLOTS: usize = 1 << 12;

/// The stacks of a trace.
#[derive(Debug)]
pub struct Stacks {
    /// The stack of reads and that of writes.
    pub own: [RecencyStack; 2],
    /// The stack of both together.
    pub common: RecencyStack,
}

impl Stacks {
    /// Empty stacks.
    pub fn new() -> Self {
        Self { own: [RecencyStack::new(), RecencyStack::new()], common: RecencyStack::new() }
    }

    /// Uses `block`: a read if `op` is 0, a write if it is 1.
    pub fn touch(&mut self, op: usize, block: u64) {
        self.own[op].touch(block);
        self.common.touch(block);
    }
}

/// An LRU stack of blocks.
#[derive(Debug)]
pub struct RecencyStack {
    last: HashMap<u64, usize, FxBuildHasher>,
    slots: RankedSlots,
    /// The block in each slot.
    blocks: Vec<u64>,
}

impl RecencyStack {
    fn new() -> Self {
        Self { last: HashMap::default(), slots: RankedSlots::new(SLOTS), blocks: Vec::new() }
    }

    /// Whether `block` was used.
    pub fn has(&self, block: u64) -> bool {
        self.last.contains_key(&block)
    }

    /// The number of other blocks used since `block` was; none if it never was.
    pub fn depth(&self, block: u64) -> Option<u64> {
        let slot = *self.last.get(&block)?;
        Some((self.slots.len() - self.slots.rank(slot) - 1) as u64)
    }

    /// The block at `depth`, or the deepest; none in an empty stack.
    pub fn at(&self, depth: u64) -> Option<u64> {
        let deepest = self.slots.len().checked_sub(1)?;
        let rank = deepest - deepest.min(depth as usize);
        Some(self.blocks[self.slots.select(rank)])
    }

    fn touch(&mut self, block: u64) {
        if self.slots.is_full() {
            self.renumber();
        }
        let slot = self.slots.push();
        self.blocks.push(block);
        if let Some(last) = self.last.insert(block, slot) {
            self.slots.remove(last);
        }
    }

    /// Renumbers the slots in use from 0 on.
    fn renumber(&mut self) {
        let count = self.slots.len();
        let blocks = self.slots.in_use().map(|slot| self.blocks[slot]).collect();
        self.blocks = blocks;
        for (slot, &block) in self.blocks.iter().enumerate() {
            self.last.insert(block, slot);
        }
        self.slots = RankedSlots::filled((4 * count).max(SLOTS), count);
    }
}
