//! The times of last uses, in order: which of them still count, and how many do since a given one.
//!
//! ```text
//!  places   1 1 0 1 0 0 1 1 | 0 1 1 1 0 1 0 1 | 1 0 1 _ _ _ _ _      one bit a place, 512 places a chunk
//!  tree          5          |        5        |  (the last chunk is not in it yet)
//! ```
//!
//! How many count is kept for each full chunk in a binary indexed tree (P. M. Fenwick: A new data structure for cumulative
//! frequency tables, Software: Practice and Experience 24(3), 1994). A chunk is one line of the processor's cache, and the
//! tree over a million uses has 2048 entries, so that both stay near the processor.

const WORD: usize = 64;
const CHUNK: usize = 512;
const WORDS: usize = CHUNK / WORD;

/// Places in order of time; each counts from when it is pushed until it is taken out.
#[derive(Clone, Debug)]
pub struct Timeline {
    words: Vec<u64>,
    tree: Vec<u32>,
    end: usize,
    count: usize,
}

impl Timeline {
    /// No place is in use; there are at least `places`.
    pub fn new(places: usize) -> Self {
        let chunks = places.div_ceil(CHUNK).next_power_of_two();
        Self { words: vec![0; chunks * WORDS], tree: vec![0; chunks + 1], end: 0, count: 0 }
    }

    /// A timeline of which the first `count` places are in use.
    pub fn filled(places: usize, count: usize) -> Self {
        let mut timeline = Self::new(places.max(count + 1));
        for _ in 0..count {
            timeline.push();
        }
        timeline
    }

    /// Places that count.
    #[inline]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether no further place can be pushed.
    #[inline]
    pub const fn is_full(&self) -> bool {
        self.end == self.words.len() * WORD
    }

    /// The next place, which counts from now on. Precondition: it is not full.
    #[inline]
    pub fn push(&mut self) -> usize {
        let place = self.end;
        self.words[place / WORD] |= 1 << (place % WORD);
        self.end += 1;
        self.count += 1;
        if self.end.is_multiple_of(CHUNK) {
            let first = place / CHUNK * WORDS;
            let count: u32 = self.words[first..first + WORDS].iter().map(|word| word.count_ones()).sum();
            self.update(place / CHUNK, |entry| *entry += count);
        }
        place
    }

    /// Takes a place out. Precondition: it counts.
    #[inline]
    pub fn take(&mut self, place: usize) {
        self.words[place / WORD] &= !(1 << (place % WORD));
        self.count -= 1;
        if place / CHUNK < self.end / CHUNK {
            self.update(place / CHUNK, |entry| *entry -= 1);
        }
    }

    /// How many places before `place` count.
    #[inline]
    pub fn before(&self, place: usize) -> usize {
        let mut chunk = place / CHUNK;
        let first = chunk * WORDS;
        let mut sum = 0;
        while chunk > 0 {
            sum += self.tree[chunk];
            chunk &= chunk - 1;
        }
        let word = place / WORD;
        for &bits in &self.words[first..word] {
            sum += bits.count_ones();
        }
        sum += (self.words[word] & ((1 << (place % WORD)) - 1)).count_ones();
        sum as usize
    }

    /// The place that counts and has `rank` before it that do. Precondition: `rank` is below [`Self::len`].
    pub fn place(&self, rank: usize) -> usize {
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
        let mut bits = self.words[word];
        for _ in 0..left {
            bits &= bits - 1;
        }
        word * WORD + bits.trailing_zeros() as usize
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_as_a_list_does(first in 0_usize..1300, choices in prop::collection::vec(0_usize..5000, 0..2500)) {
            let mut timeline = Timeline::filled(4000, first);
            let mut list: Vec<usize> = (0..first).collect();
            for choice in choices {
                if choice % 3 > 0 || list.is_empty() {
                    list.push(timeline.push());
                } else {
                    timeline.take(list.remove(choice % list.len()));
                }
                prop_assert_eq!(timeline.len(), list.len());
                if let Some(index) = choice.checked_rem(list.len()) {
                    prop_assert_eq!(timeline.before(list[index]), index);
                    prop_assert_eq!(timeline.place(index), list[index]);
                }
            }
        }
    }
}
