//! An LRU stack from which a block is taken by its depth.
//!
//! The blocks stand in an array in the order of their last use, with holes where a block was taken out; one bit a place
//! says which are taken. The place at a depth is found by the number of taken places up to each word of 64 bits, which is
//! kept in a binary indexed tree (Fenwick, Software: Practice and Experience 24(3), 1994): O(log n). When the array is
//! full the holes are squeezed out: O(n), once in n uses. Some 10 bytes a block.

use super::Permutation;

const WORD: usize = 64;

/// A stack of blocks by last use.
#[derive(Clone, Debug)]
pub struct LruStack {
    /// The blocks, that used last at the end.
    places: Box<[u32]>,
    is_taken: Box<[u64]>,
    /// The binary indexed tree over the words of `is_taken`.
    counts: Box<[u32]>,
    /// Where the next block goes.
    end: usize,
    blocks: usize,
}

impl LruStack {
    /// A stack of the blocks 0 to `count` - 1 (at least one, less than 2^32) in the order that `order` gives.
    pub fn new(count: u64, order: &Permutation) -> Self {
        let blocks = count as usize;
        let words = (2 * blocks).div_ceil(WORD) + 1;
        let mut places = vec![0; words * WORD].into_boxed_slice();
        for (place, index) in places.iter_mut().zip(0..count) {
            *place = order.apply(index) as u32;
        }
        let mut stack = Self {
            places,
            is_taken: vec![0; words].into(),
            counts: vec![0; words + 1].into(),
            end: blocks,
            blocks,
        };
        stack.count_afresh();
        stack
    }

    /// The block at `depth`, from 1 for that used last, which it becomes. Precondition: `depth` is at most the number of
    /// blocks.
    #[inline]
    pub fn take(&mut self, depth: u64) -> u32 {
        let place = if depth == 1 { self.end - 1 } else { self.place(self.blocks - depth as usize) };
        let block = self.places[place];
        if place + 1 == self.end {
            return block;
        }
        self.is_taken[place / WORD] &= !(1 << (place % WORD));
        self.add(place / WORD, false);
        if self.end == self.places.len() {
            self.squeeze();
        }
        self.places[self.end] = block;
        self.is_taken[self.end / WORD] |= 1 << (self.end % WORD);
        self.add(self.end / WORD, true);
        self.end += 1;
        block
    }

    /// The place below which `rank` are taken, and which is taken itself.
    fn place(&self, rank: usize) -> usize {
        let mut rank = rank as u32;
        let mut word = 0;
        let mut step = (self.counts.len() - 1).next_power_of_two();
        while step > 0 {
            if word + step < self.counts.len() && self.counts[word + step] <= rank {
                word += step;
                rank -= self.counts[word];
            }
            step /= 2;
        }
        let mut bits = self.is_taken[word];
        for _ in 0..rank {
            bits &= bits - 1;
        }
        word * WORD + bits.trailing_zeros() as usize
    }

    fn add(&mut self, word: usize, is_more: bool) {
        let mut index = word + 1;
        while index < self.counts.len() {
            let count = &mut self.counts[index];
            *count = if is_more { *count + 1 } else { *count - 1 };
            index += index & index.wrapping_neg();
        }
    }

    /// Moves the blocks together at the start.
    fn squeeze(&mut self) {
        let mut end = 0;
        for place in 0..self.end {
            if self.is_taken[place / WORD] >> (place % WORD) & 1 == 1 {
                self.places[end] = self.places[place];
                end += 1;
            }
        }
        self.end = end;
        self.count_afresh();
    }

    /// Takes the places up to `end`, and counts them.
    fn count_afresh(&mut self) {
        for (word, bits) in self.is_taken.iter_mut().enumerate() {
            let taken = self.end.saturating_sub(word * WORD).min(WORD);
            *bits = if taken == WORD { u64::MAX } else { (1 << taken) - 1 };
        }
        self.counts.fill(0);
        for index in 1..self.counts.len() {
            self.counts[index] += self.is_taken[index - 1].count_ones();
            let above = index + (index & index.wrapping_neg());
            if above < self.counts.len() {
                self.counts[above] += self.counts[index];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, RandomStream};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_the_blocks_that_a_list_gives(count in 1_u64..300, seed in 0_u64..1000, uses in 0_usize..2000) {
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
