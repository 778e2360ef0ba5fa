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
//! Cost: O(1) per stripe that enters or leaves where dirty stripes lie dense, O(log n) elsewhere, n dirty stripes; O(1)
//! per further write.
//! Not for: overwrites that come back within a sweep, since a stripe goes whether or not it was just written (WOW keeps it).
//!
//! Denning: Effects of scheduling on file memory operations, AFIPS Spring Joint Computer Conference, 1967.

use super::{ByAddress, WaterMarks};

/// Destage by address between the water marks.
pub type CScan = ByAddress<WaterMarks>;

#[cfg(test)]
mod tests {
    use super::super::DestagePolicy;
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
