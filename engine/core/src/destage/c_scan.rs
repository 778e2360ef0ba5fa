//! C-SCAN: an elevator over the stripes of each array, upwards by address and then from the lowest again.
//!
//! ```text
//!   stripes   2 ── 5 ── 9          position 3: 5, 9, 2
//!                ▲
//! ```
//!
//! Destages that are under way at the same time are neighbours by address, so arms move little, and the order that a
//! drive makes of them (SPTF) is over a short stretch.
//!
//! Assumes: the address on the array is a good guide to the address on each disk, as with every striped layout.
//! Cost: O(log n) per stripe that enters or leaves, n dirty stripes; O(1) per further write.
//! Not for: overwrites that come back within a sweep, since a stripe goes whether or not it was just written (WOW keeps it).
//!
//! Denning: Effects of scheduling on file memory operations, AFIPS Spring Joint Computer Conference, 1967.

use std::collections::BTreeMap;

use super::{DestagePolicy, Level, Place, WaterMarks, Write};

/// The groups of one array by address, and how far the sweep has come.
#[derive(Debug, Default)]
pub struct Elevator {
    stripes: BTreeMap<u64, u32>,
    position: u64,
}

impl Elevator {
    /// Puts `group` in its place.
    #[inline]
    pub fn enter(&mut self, stripe: u64, group: u32) {
        self.stripes.insert(stripe, group);
    }

    /// Takes a group out.
    #[inline]
    pub fn leave(&mut self, stripe: u64) {
        self.stripes.remove(&stripe);
    }

    /// The groups from the position upwards, then from the lowest.
    #[inline]
    pub fn sweep(&self) -> impl Iterator<Item = (u64, u32)> {
        self.stripes
            .range(self.position..)
            .chain(self.stripes.range(..self.position))
            .map(|(&stripe, &group)| (stripe, group))
    }

    /// The sweep goes on behind `stripe`.
    #[inline]
    pub const fn advance(&mut self, stripe: u64) {
        self.position = stripe + 1;
    }

    /// The first group of the sweep that is not busy; the sweep goes on behind it.
    #[inline]
    pub fn choose(&mut self, is_busy: impl Fn(u64) -> bool) -> Option<u32> {
        let (stripe, group) = self.sweep().find(|&(stripe, _)| !is_busy(stripe))?;
        self.advance(stripe);
        Some(group)
    }
}

/// Destage by address.
#[derive(Debug)]
pub struct CScan {
    arrays: Box<[Elevator]>,
    marks: WaterMarks,
}

impl CScan {
    /// Empty, for a number of arrays.
    pub fn new(arrays: usize, marks: WaterMarks) -> Self {
        Self { arrays: (0..arrays).map(|_| Elevator::default()).collect(), marks }
    }
}

impl DestagePolicy for CScan {
    #[inline]
    fn enter(&mut self, group: u32, place: Place) {
        self.arrays[place.array as usize].enter(place.stripe, group);
    }

    #[inline]
    fn write(&mut self, _: u32, _: Place, _: Write) {}

    #[inline]
    fn leave(&mut self, _: u32, place: Place) {
        self.arrays[place.array as usize].leave(place.stripe);
    }

    #[inline]
    fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u32> {
        self.arrays[array as usize].choose(is_busy)
    }

    #[inline]
    fn allow(&mut self, level: &Level) -> u32 {
        self.marks.allow(level)
    }
}

#[cfg(test)]
mod tests {
    use super::super::order_laws::{enter, next};
    use super::*;

    #[test]
    fn the_elevator_goes_up_and_starts_again_at_the_lowest() {
        let mut policy = CScan::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[5, 2, 9]);
        assert_eq!(next(&mut policy, 2), [2, 5]);
        // 3 lies behind the sweep: it waits for the next one.
        enter(&mut policy, &[3]);
        assert_eq!(next(&mut policy, 2), [9, 3]);
    }

    #[test]
    fn a_busy_stripe_is_passed_over() {
        let mut policy = CScan::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[1, 2, 3]);
        assert_eq!(policy.choose(0, |stripe| stripe != 2), Some(2));
        assert_eq!(policy.choose(0, |_| true), None);
    }
}
