//! An LRU stack from which a block is taken by its depth.
//!
//! Each block has a slot in the order of last use; the slot at a depth is found by its rank: O(log n). When the slots are
//! used up the blocks are moved together: O(n), once in n uses. About 10 bytes per block.

use super::permutation::Permutation;
use crate::ranked_slots::RankedSlots;

/// A stack of blocks by last use.
#[derive(Clone, Debug)]
pub struct LruStack {
    slots: RankedSlots,
    /// The block in each slot.
    blocks: Box<[u32]>,
}

impl LruStack {
    /// A stack of the blocks 0 to `count` - 1 (at least one, less than 2^32) in the order of `order`.
    pub fn new(count: u64, order: &Permutation) -> Self {
        let len = count as usize;
        let mut blocks = vec![0; 2 * len + 64].into_boxed_slice();
        for (block, index) in blocks.iter_mut().zip(0..count) {
            *block = order.apply(index) as u32;
        }
        Self { slots: RankedSlots::filled(blocks.len(), len), blocks }
    }

    /// The block at `depth`, from 1 for the last used; it becomes the last used. Precondition: `depth` is at most the number
    /// of blocks.
    #[inline]
    pub fn take(&mut self, depth: u64) -> u32 {
        if depth == 1 {
            return self.blocks[self.slots.end() - 1];
        }
        let slot = self.slots.select(self.slots.len() - depth as usize);
        let block = self.blocks[slot];
        if self.slots.end() == self.blocks.len() {
            self.compact();
            return self.take(depth);
        }
        self.slots.remove(slot);
        self.blocks[self.slots.push()] = block;
        block
    }

    /// Moves the blocks to the first slots.
    fn compact(&mut self) {
        for (rank, slot) in self.slots.in_use().enumerate() {
            self.blocks[rank] = self.blocks[slot];
        }
        self.slots = RankedSlots::filled(self.blocks.len(), self.slots.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, RandomStream};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_are_those_of_a_list(count in 1_u64..300, seed in 0_u64..1000, uses in 0_usize..2000) {
            let mut stream = RandomStream::named(seed, 0, "stack", 0, Purpose::Stack);
            let order = Permutation::new(count, &mut stream);
            let mut stack = LruStack::new(count, &order);
            let mut list: Vec<u32> = (0..count).map(|index| order.apply(index) as u32).collect();
            for _ in 0..uses {
                let depth = 1 + stream.below(count);
                let block = list.remove(list.len() - depth as usize);
                list.push(block);
                prop_assert_eq!(stack.take(depth), block);
            }
        }
    }
}
