//! The spread of records over their second in traces whose times are whole seconds: even, in the order of the records.
//!
//! The k-th of m records of a second gets k/m of that second. To bound memory, at most [`HELD`] records of one second are
//! spread together: if a second has more, the first [`HELD`] take the first half of it, the next ones half of the rest,
//! and so on.

use super::record::Record;
use crate::units::SimDuration;

/// Maximum records of one second to hold back until their number is known.
const HELD: usize = 1 << 17;
const SECOND: u64 = 1_000_000_000;

/// The time of record `index` of `count` that share `length` ns from `from` on.
const fn share(from: u64, length: u64, index: usize, count: usize) -> u64 {
    // At most 2^17 records within a second: the product stays below 2^47.
    from + length * index as u64 / count as u64
}

/// Spreads sorted times that are multiples of a second.
pub(super) fn spread_times(times: &mut [u64]) {
    for second in times.chunk_by_mut(|left, right| left == right) {
        let (mut from, mut length, mut rest) = (second[0], SECOND, second);
        while rest.len() > HELD {
            let (held, others) = rest.split_at_mut(HELD);
            for (index, time) in held.iter_mut().enumerate() {
                *time = share(from, length / 2, index, HELD);
            }
            (from, length, rest) = (from + length / 2, length - length / 2, others);
        }
        let count = rest.len();
        for (index, time) in rest.iter_mut().enumerate() {
            *time = share(from, length, index, count);
        }
    }
}

/// Spreads sorted records one after the other.
#[derive(Debug, Default)]
pub(super) struct Spreader {
    held: Vec<Record>,
    /// The second of the records that are held.
    second: u64,
    /// The part of it that is left: where it begins, and its length.
    from: u64,
    length: u64,
}

impl Spreader {
    /// Adds a record, and appends those whose time is now known to `out`.
    pub fn push(&mut self, record: Record, out: &mut Vec<Record>) {
        if self.held.is_empty() || record.time.0 != self.second {
            self.finish(out);
            (self.second, self.from, self.length) = (record.time.0, record.time.0, SECOND);
        } else if self.held.len() == HELD {
            let half = self.length / 2;
            self.release(half, out);
            (self.from, self.length) = (self.from + half, self.length - half);
        }
        self.held.push(record);
    }

    /// Appends the records that are held to `out`: nothing follows.
    pub fn finish(&mut self, out: &mut Vec<Record>) {
        self.release(self.length, out);
    }

    fn release(&mut self, length: u64, out: &mut Vec<Record>) {
        let count = self.held.len();
        for (index, mut record) in self.held.drain(..).enumerate() {
            record.time = SimDuration(share(self.from, length, index, count));
            out.push(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::extent::Extent;
    use crate::trace::record::Op;

    fn at(time: u64) -> Record {
        Record::new(SimDuration(time), Op::Read, Extent::of_sectors(0, 1))
    }

    #[test]
    fn records_of_a_second_are_spread_over_it_in_order() {
        let mut times = [0, 0, SECOND, 3 * SECOND, 3 * SECOND, 3 * SECOND, 3 * SECOND];
        spread_times(&mut times);
        let quarter = SECOND / 4;
        let third = 3 * SECOND;
        assert_eq!(
            times,
            [0, SECOND / 2, SECOND, third, third + quarter, third + 2 * quarter, third + 3 * quarter]
        );
    }

    #[test]
    fn spreading_one_by_one_is_spreading_all_at_once() {
        let mut times: Vec<u64> = vec![SECOND; 2 * HELD + 5];
        times.extend(vec![2 * SECOND; HELD]);
        times.extend([7 * SECOND; 3]);
        let mut out = Vec::new();
        let mut spreader = Spreader::default();
        for &time in &times {
            spreader.push(at(time), &mut out);
            assert!(spreader.held.len() <= HELD);
        }
        spreader.finish(&mut out);
        spread_times(&mut times);
        assert!(times.is_sorted());
        assert!(times.iter().all(|time| *time < 8 * SECOND));
        assert_eq!(out.iter().map(|record| record.time.0).collect::<Vec<_>>(), times);
    }
}
