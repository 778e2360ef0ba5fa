//! C-SCAN: the stripes of each array by address, upwards and then from the lowest again.
//!
//! ```text
//!   stripes   2 ── 5 ── 9          position 3: 5, 9, 2
//!                ▲
//! ```
//!
//! Concurrent destages are neighbours by address, so arms move little, and the order that a drive gives them (SPTF)
//! covers a short distance.
//!
//! Assumes: addresses on the array follow those on each disk, as in every striped layout.
//! Cost: O(1) per stripe that enters or leaves if dirty stripes are dense, else O(log n), n dirty stripes; O(1) per
//! further write.
//! Not for: overwrites within a sweep, since stripes leave even if just written (WOW keeps them).
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
    fn stripes_leave_upwards_then_from_the_lowest() {
        let mut policy = CScan::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[5, 2, 9]);
        assert_eq!(next(&mut policy, 2), [2, 5]);
        // 3 is behind the sweep and waits for the next one.
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
