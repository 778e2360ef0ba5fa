//! Which units of a range a pass has accessed: a bitmap, with bitmaps of its full words above it.
//!
//! As in fio's random map, a draw that hits an accessed unit goes to the next free one; late in a pass, requests
//! therefore come close to each other.

use crate::rng::RandomStream;

/// The units that a pass has accessed.
#[derive(Clone, Debug)]
pub struct Coverage {
    units: u64,
    /// A bit per unit, then a bit per word of the level below, set if that word is full.
    levels: Vec<Box<[u64]>>,
}

impl Coverage {
    /// No unit of `units` (at least 1) is accessed.
    pub fn new(units: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = units;
        loop {
            let words = bits.div_ceil(64);
            levels.push(vec![0; words as usize].into());
            if words == 1 {
                break;
            }
            bits = words;
        }
        let mut coverage = Self { units, levels };
        coverage.close_ends();
        coverage
    }

    /// Accesses a random unit that the pass has not accessed and up to `count` units from it on; begins a new pass if
    /// there is none. Returns the first and how many.
    pub fn draw(&mut self, stream: &mut RandomStream, count: u64) -> (u64, u64) {
        let first = self.next_free(stream.below(self.units)).unwrap_or_else(|| {
            self.reset();
            stream.below(self.units)
        });
        (first, self.take(first, count))
    }

    /// Begins a new pass.
    pub fn reset(&mut self) {
        for level in &mut self.levels {
            level.fill(0);
        }
        self.close_ends();
    }

    /// Sets the bits beyond the last of each level, which are never free.
    fn close_ends(&mut self) {
        let mut bits = self.units;
        for level in &mut self.levels {
            if let (Some(last), used @ 1..) = (level.last_mut(), bits % 64) {
                *last = !0 << used;
            }
            bits = level.len() as u64;
        }
    }

    /// The first unit from `from` on, or else from the start on, that the pass has not accessed.
    fn next_free(&self, from: u64) -> Option<u64> {
        self.find(from).or_else(|| self.find(0))
    }

    fn find(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for (height, level) in self.levels.iter().enumerate() {
            let word = at / 64;
            let free = !level.get(word as usize)? & (!0 << (at % 64));
            if free != 0 {
                let mut found = word * 64 + u64::from(free.trailing_zeros());
                for level in self.levels[..height].iter().rev() {
                    found = found * 64 + u64::from((!level[found as usize]).trailing_zeros());
                }
                return Some(found);
            }
            at = word + 1;
        }
        None
    }

    /// Accesses up to `count` units from `first` on, and returns how many: up to the end of the range or a unit that the
    /// pass has accessed.
    fn take(&mut self, first: u64, count: u64) -> u64 {
        let last = (first + count).min(self.units);
        let taken = (first..last).take_while(|&unit| self.set(unit)).count();
        taken as u64
    }

    /// Sets the bit of a unit; returns false if it is set.
    fn set(&mut self, unit: u64) -> bool {
        let mut at = unit;
        for level in &mut self.levels {
            let (word, bit) = (&mut level[(at / 64) as usize], 1 << (at % 64));
            if *word & bit != 0 {
                return false;
            }
            *word |= bit;
            if *word != !0 {
                break;
            }
            at /= 64;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_coverage_is_a_set_of_units(units in 1_u64..9000, requests in prop::collection::vec((0_u64..9000, 1_u64..200), 1..200)) {
            let mut coverage = Coverage::new(units);
            let mut set = vec![false; units as usize];
            for (from, count) in requests {
                let from = from % units;
                let free = |from: u64| (from..units).find(|&unit| !set[unit as usize]);
                let first = free(from).or_else(|| free(0));
                prop_assert_eq!(coverage.next_free(from), first);
                let Some(first) = first else {
                    coverage.reset();
                    set.fill(false);
                    continue;
                };
                let end = (first..(first + count).min(units)).find(|&unit| set[unit as usize]);
                let expected = end.unwrap_or((first + count).min(units)) - first;
                prop_assert_eq!(coverage.take(first, count), expected);
                set[first as usize..(first + expected) as usize].fill(true);
            }
        }
    }
}
