//! WOW, wise ordering for writes: the elevator of C-SCAN with the recency bit of CLOCK.
//!
//! ```text
//!   destage pointer ─► 2°── 4•── 7°── 9•      ° bit 0: leaves      • bit 1: is passed over, its bit falls
//! ```
//!
//! A stripe enters with its bit at 0. A write to a stripe that is in sets the bit. The pointer goes round by address: a
//! stripe whose bit is 0 leaves, one whose bit is 1 stays for another round with its bit at 0. So stripes that are written
//! again within a round keep absorbing writes, and those that leave still do so by address.
//!
//! A *sequential* write leaves the bit alone, so that stripes that a stream fills go in the first round: here, a write to
//! the line behind the one written last in the stripe, or to further sectors of that line.
//!
//! Assumes: one group is one stripe of the array, as in the paper.
//! The paper's rate (destages under way grow from its low to its high threshold) is that of `linear_threshold` here; this
//! policy keeps the water marks, so that it can be compared with C-SCAN and least recently written on equal terms.
//! Cost: per stripe that enters, leaves or is passed over as C-SCAN; each stripe passed over was written again since the
//! last round, so that is as much per write.
//! Not for: loads that come to no stripe twice, where it is C-SCAN at the cost of the bits.
//!
//! Gill, Modha: WOW: wise ordering for writes, combining spatial and temporal locality in non-volatile caches, USENIX
//! FAST, 2005.

use super::stripe_set::StripeSet;
use super::{DestagePolicy, Elevator, Occupancy, StripeId, Trigger, WaterMarks, Write};

/// The dirty stripes of one array by address, and their bits.
#[derive(Debug, Default)]
struct Rounds {
    elevator: Elevator,
    /// Those that were written again since the pointer passed them.
    recent: StripeSet,
}

/// Destage by address with a recency bit for each stripe.
#[derive(Debug)]
pub struct Wow {
    arrays: Box<[Rounds]>,
    marks: WaterMarks,
}

impl Wow {
    /// Empty, for a number of arrays.
    pub fn new(arrays: usize, marks: WaterMarks) -> Self {
        Self { arrays: (0..arrays).map(|_| Rounds::default()).collect(), marks }
    }
}

impl DestagePolicy for Wow {
    #[inline]
    fn enter(&mut self, _: u32, place: StripeId) {
        self.arrays[place.array as usize].elevator.enter(place.stripe);
    }

    #[inline]
    fn write(&mut self, _: u32, place: StripeId, write: Write) {
        if !write.is_sequential {
            self.arrays[place.array as usize].recent.insert(place.stripe);
        }
    }

    #[inline]
    fn leave(&mut self, _: u32, place: StripeId) {
        let Rounds { elevator, recent } = &mut self.arrays[place.array as usize];
        elevator.leave(place.stripe);
        recent.remove(place.stripe);
    }

    fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u64> {
        let Rounds { elevator, recent } = &mut self.arrays[array as usize];
        let mut passes = |stripe: u64| !is_busy(stripe) && !recent.remove(stripe);
        // After one round every bit has fallen.
        elevator.choose(&mut passes).or_else(|| elevator.choose(&mut passes))
    }

    #[inline]
    fn allow(&mut self, occupancy: &Occupancy) -> u32 {
        self.marks.allow(occupancy)
    }
}

#[cfg(test)]
mod tests {
    use super::super::order_laws::{enter, next, write};
    use super::*;

    #[test]
    fn what_was_written_again_gets_one_more_round() {
        let mut policy = Wow::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[2, 4, 7, 9]);
        write(&mut policy, &[4, 9]);
        // 2 leaves, 4 is passed over and 7 leaves; 9 is passed over and the bit of 4 has fallen.
        assert_eq!(next(&mut policy, 2), [2, 7]);
        assert_eq!(next(&mut policy, 1), [4]);
        assert_eq!(next(&mut policy, 1), [9]);
    }

    #[test]
    fn without_a_second_write_it_is_the_elevator() {
        let mut policy = Wow::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[5, 2, 9]);
        assert_eq!(next(&mut policy, 1), [2]);
        enter(&mut policy, &[3, 1]);
        assert_eq!(next(&mut policy, 4), [3, 5, 9, 1]);
    }

    #[test]
    fn a_stream_earns_no_second_round() {
        let mut policy = Wow::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[1, 2]);
        let place = StripeId { array: 0, stripe: 1 };
        policy.write(1, place, Write { lines: 2, is_sequential: true });
        assert_eq!(next(&mut policy, 2), [1, 2]);
    }

    #[test]
    fn when_all_are_recent_the_round_is_made_twice() {
        let mut policy = Wow::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[1, 2, 3]);
        write(&mut policy, &[1, 2, 3]);
        assert_eq!(next(&mut policy, 3), [1, 2, 3]);
    }
}
