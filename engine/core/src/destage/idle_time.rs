//! Idle time: destage by address while the disks of an array are idle.
//!
//! ```text
//!   used   0 ──── low ───────────── high ──── capacity
//!            none  │ when idle       │ at full depth
//! ```
//!
//! An array is idle when its disks have had no foreground I/O for `idle_delay` [ns]. Below the low water mark nothing
//! is destaged, so that overwrites are absorbed; at the high one, destage no longer waits for idle disks.
//!
//! Assumes: idle periods that have lasted for some time continue for some time (Golding et al.), so that a started
//! destage delays few requests. Drives finish an I/O that they have started.
//! Cost: that of C-SCAN, and one event per idle period.
//! Not for: loads without pauses, where destage starts and stops at the high water mark.
//!
//! Golding, Bosch, Staelin, Sullivan, Wilkes: Idleness is not sloth, USENIX Technical Conference, 1995.

use super::{ByAddress, Occupancy, Trigger, WaterMarks};

/// Destage between the water marks while the disks are idle, and always at the high one.
#[derive(Debug)]
pub struct WhenIdle(WaterMarks);

impl From<WaterMarks> for WhenIdle {
    fn from(marks: WaterMarks) -> Self {
        Self(marks)
    }
}

/// Destage by address when the disks are idle.
pub type IdleTime = ByAddress<WhenIdle>;

impl Trigger for WhenIdle {
    #[inline]
    fn allow(&mut self, occupancy: &Occupancy) -> u32 {
        let is_due = occupancy.is_stalled
            || occupancy.is_draining
            || occupancy.waiting >= self.0.high
            || (occupancy.is_idle && occupancy.waiting > self.0.low);
        if is_due { occupancy.limit } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::order_laws::{enter, next};
    use super::*;

    #[test]
    fn destage_when_idle_or_at_the_high_mark() {
        let mut policy = WhenIdle::from(WaterMarks::new(8, 3));
        let mut allow = |waiting, is_idle| {
            let occupancy = Occupancy {
                used: waiting,
                waiting,
                is_stalled: false,
                is_draining: false,
                is_idle,
                limit: 4,
            };
            policy.allow(&occupancy)
        };
        assert_eq!([3, 4, 7, 8].map(|waiting| allow(waiting, true)), [0, 4, 4, 4]);
        assert_eq!([3, 4, 7, 8].map(|waiting| allow(waiting, false)), [0, 0, 0, 4]);
    }

    #[test]
    fn stripes_leave_by_address() {
        let mut policy = IdleTime::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[5, 2, 9]);
        assert_eq!(next(&mut policy, 3), [2, 5, 9]);
    }
}
