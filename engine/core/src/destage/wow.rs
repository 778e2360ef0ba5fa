//! WOW, wise ordering for writes: C-SCAN with the recency bit of CLOCK.
//!
//! ```text
//!   destage pointer ─► 2°── 4•── 7°── 9•      ° bit 0: leaves      • bit 1: skipped, bit cleared
//! ```
//!
//! A stripe enters with bit 0. A further write sets the bit. The pointer moves by address: a stripe with bit 0 leaves, a
//! stripe with bit 1 stays for another round with bit 0. So stripes that are written again within a round keep
//! absorbing writes, and the others leave by address.
//!
//! A *sequential* write does not set the bit, so that stripes filled by a stream leave in the first round. Sequential is
//! a write to the line after the last written one of the stripe, to further sectors of that line, or, if the stripe before is
//! dirty too (the sign of a stream in the paper that the authors refer to), to a later line that was clean: a stream that
//! also reads leaves gaps.
//!
//! Assumes: one group is one stripe of the array, as in the paper.
//! The paper's rate (destages in flight grow between its thresholds) is that of `linear_threshold` here; this policy uses
//! the water marks, so that it is comparable with C-SCAN and least recently written.
//! Cost: that of C-SCAN per stripe that enters, leaves or is skipped; a skipped stripe was written since the last round, so
//! the cost per write is the same.
//! Not for: loads without overwrites, where it equals C-SCAN with the additional cost of the bits.
//!
//! Gill, Modha: WOW: wise ordering for writes, combining spatial and temporal locality in non-volatile caches, USENIX
//! FAST, 2005. Gill, Modha: SARC: sequential prefetching in adaptive replacement cache, USENIX Annual Technical Conference,
//! 2005 (detection of streams).

use super::stripe_set::StripeSet;
use super::{DestagePolicy, Elevator, Occupancy, StripeId, Trigger, WaterMarks, Write};

/// The dirty stripes of one array, and their bits.
#[derive(Debug, Default)]
struct Rounds {
    elevator: Elevator,
    /// Stripes written again since the pointer passed them.
    recent: StripeSet,
}

/// Destage by address with a recency bit per stripe.
#[derive(Debug)]
pub struct Wow {
    arrays: Box<[Rounds]>,
    marks: WaterMarks,
}

impl Wow {
    /// An empty order for a number of arrays.
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
        // After one round every bit is clear.
        elevator.choose(&mut passes).or_else(|| elevator.choose(&mut passes))
    }

    fn follow(&mut self, place: StripeId) -> bool {
        let Rounds { elevator, recent } = &mut self.arrays[place.array as usize];
        let follows = recent.next_from(place.stripe) != Some(place.stripe);
        if follows {
            elevator.pass(place.stripe);
        }
        follows
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
    fn a_stripe_written_again_is_skipped_once() {
        let mut policy = Wow::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[2, 4, 7, 9]);
        write(&mut policy, &[4, 9]);
        // 2 leaves, 4 is skipped and 7 leaves; 9 is skipped and the bit of 4 is clear.
        assert_eq!(next(&mut policy, 2), [2, 7]);
        assert_eq!(next(&mut policy, 1), [4]);
        assert_eq!(next(&mut policy, 1), [9]);
    }

    #[test]
    fn without_overwrites_it_equals_c_scan() {
        let mut policy = Wow::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[5, 2, 9]);
        assert_eq!(next(&mut policy, 1), [2]);
        enter(&mut policy, &[3, 1]);
        assert_eq!(next(&mut policy, 4), [3, 5, 9, 1]);
    }

    #[test]
    fn sequential_writes_do_not_set_the_bit() {
        let mut policy = Wow::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[1, 2]);
        let place = StripeId { array: 0, stripe: 1 };
        policy.write(1, place, Write { lines: 2, is_sequential: true });
        assert_eq!(next(&mut policy, 2), [1, 2]);
    }

    #[test]
    fn if_all_bits_are_set_the_second_round_decides() {
        let mut policy = Wow::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[1, 2, 3]);
        write(&mut policy, &[1, 2, 3]);
        assert_eq!(next(&mut policy, 3), [1, 2, 3]);
    }
}
