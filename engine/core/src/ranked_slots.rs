//! Slots in order, some of them in use, with rank and select: how many in use precede a slot, and which one has a rank.
//!
//! ```text
//!  slots    1 1 0 1 0 0 1 1 | 0 1 1 1 0 1 0 1 | 1 0 1 _ _ _ _ _      one bit per slot, 512 slots per chunk
//!  tree          5          |        5        |  (the last chunk is not in it yet)
//! ```
//!
//! The number in use of each full chunk is kept in a binary indexed tree (P. M. Fenwick: A new data structure for
//! cumulative frequency tables, Software: Practice and Experience 24(3), 1994). A chunk is one cache line, and the tree
//! over a million slots has 2048 entries, so that both stay in the processor's cache. Cost: O(log n) each.

const WORD: usize = 64;
const CHUNK: usize = 512;
const WORDS: usize = CHUNK / WORD;

/// Slots in order; each is in use from its push until it is removed.
#[derive(Clone, Debug)]
pub struct RankedSlots {
    words: Vec<u64>,
    tree: Vec<u32>,
    end: usize,
    len: usize,
}

impl RankedSlots {
    /// At least `capacity` slots, none in use.
    pub fn new(capacity: usize) -> Self {
        let chunks = capacity.div_ceil(CHUNK).next_power_of_two();
        Self { words: vec![0; chunks * WORDS], tree: vec![0; chunks + 1], end: 0, len: 0 }
    }

    /// At least `capacity` slots, of which the first `len` are in use; one at least is not.
    pub fn filled(capacity: usize, len: usize) -> Self {
        let mut slots = Self::new(capacity.max(len + 1));
        slots.words[..len / WORD].fill(u64::MAX);
        slots.words[len / WORD] = (1 << (len % WORD)) - 1;
        for chunk in 0..len / CHUNK {
            slots.update(chunk, |entry| *entry += CHUNK as u32);
        }
        (slots.end, slots.len) = (len, len);
        slots
    }

    /// The number of slots in use.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// The slot that the next push uses.
    #[inline]
    pub const fn end(&self) -> usize {
        self.end
    }

    /// Whether no further slot can be pushed.
    #[inline]
    pub const fn is_full(&self) -> bool {
        self.end == self.words.len() * WORD
    }

    /// Uses the next slot. Precondition: not full.
    #[inline]
    pub fn push(&mut self) -> usize {
        let slot = self.end;
        self.words[slot / WORD] |= 1 << (slot % WORD);
        self.end += 1;
        self.len += 1;
        if self.end.is_multiple_of(CHUNK) {
            let first = slot / CHUNK * WORDS;
            let count: u32 = self.words[first..first + WORDS].iter().map(|word| word.count_ones()).sum();
            self.update(slot / CHUNK, |entry| *entry += count);
        }
        slot
    }

    /// Ends the use of a slot. Precondition: it is in use.
    #[inline]
    pub fn remove(&mut self, slot: usize) {
        self.words[slot / WORD] &= !(1 << (slot % WORD));
        self.len -= 1;
        if slot / CHUNK < self.end / CHUNK {
            self.update(slot / CHUNK, |entry| *entry -= 1);
        }
    }

    /// The number of slots in use before `slot`.
    #[inline]
    pub fn rank(&self, slot: usize) -> usize {
        let mut chunk = slot / CHUNK;
        let first = chunk * WORDS;
        let mut sum = 0;
        while chunk > 0 {
            sum += self.tree[chunk];
            chunk &= chunk - 1;
        }
        let word = slot / WORD;
        for &bits in &self.words[first..word] {
            sum += bits.count_ones();
        }
        sum += (self.words[word] & ((1 << (slot % WORD)) - 1)).count_ones();
        sum as usize
    }

    /// The slot in use with this rank. Precondition: `rank` is below [`Self::len`].
    pub fn select(&self, rank: usize) -> usize {
        let (mut chunk, mut left) = (0, rank as u32);
        let mut step = self.tree.len() - 1;
        while step > 0 {
            let next = chunk + step;
            if next <= self.end / CHUNK && next < self.tree.len() && self.tree[next] <= left {
                chunk = next;
                left -= self.tree[next];
            }
            step /= 2;
        }
        let mut word = chunk * WORDS;
        while self.words[word].count_ones() <= left {
            left -= self.words[word].count_ones();
            word += 1;
        }
        word * WORD + select_bit(self.words[word], left)
    }

    /// The slots in use, ascending.
    pub fn in_use(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.end).filter(|slot| self.words[slot / WORD] >> (slot % WORD) & 1 == 1)
    }

    #[inline]
    fn update(&mut self, chunk: usize, change: impl Fn(&mut u32)) {
        let mut index = chunk + 1;
        while index < self.tree.len() {
            change(&mut self.tree[index]);
            index += index & index.wrapping_neg();
        }
    }
}

/// The position of the set bit with this rank, as in S. Vigna: Broadword implementation of rank/select queries, WEA 2008:
/// it finds the byte from the cumulative counts of all bytes. Precondition: `rank` is below the number of set bits.
#[inline]
const fn select_bit(bits: u64, rank: u32) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHEST: u64 = 0x80 * ONES;
    let pairs = bits - ((bits >> 1) & (0x55 * ONES));
    let nibbles = (pairs & (0x33 * ONES)) + ((pairs >> 2) & (0x33 * ONES));
    let sums = ((nibbles + (nibbles >> 4)) & (0x0f * ONES)).wrapping_mul(ONES);
    // The highest bit of each byte whose cumulative count is at most `rank`.
    let is_before = (((rank as u64 * ONES) | HIGHEST) - sums) & HIGHEST;
    let shift = ((is_before >> 7).wrapping_mul(ONES) >> 56) * 8;
    let mut left = rank as u64 - (((sums << 8) >> shift) & 0xff);
    let mut byte = bits >> shift;
    while left > 0 {
        byte &= byte - 1;
        left -= 1;
    }
    shift as usize + byte.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_are_selected_by_rank(bits in any::<u64>()) {
            let positions = (0..64).filter(|position| bits >> position & 1 == 1);
            for (rank, position) in positions.enumerate() {
                prop_assert_eq!(select_bit(bits, rank as u32), position);
            }
        }

        #[test]
        fn ranks_are_those_of_a_list(first in 0_usize..1300, choices in prop::collection::vec(0_usize..5000, 0..2500)) {
            let mut slots = RankedSlots::filled(4000, first);
            let mut list: Vec<usize> = (0..first).collect();
            for choice in choices {
                if choice % 3 > 0 || list.is_empty() {
                    list.push(slots.push());
                } else {
                    slots.remove(list.remove(choice % list.len()));
                }
                prop_assert_eq!(slots.len(), list.len());
                prop_assert!(slots.in_use().eq(list.iter().copied()));
                if let Some(index) = choice.checked_rem(list.len()) {
                    prop_assert_eq!(slots.rank(list[index]), index);
                    prop_assert_eq!(slots.select(index), list[index]);
                }
            }
        }
    }
}
