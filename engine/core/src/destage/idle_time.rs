//! Idle time: destage while the disks of an array have nothing else to do, by address.
//!
//! ```text
//!   used   0 ──── low ───────────── high ──── capacity
//!            none  │ when idle       │ at full depth
//! ```
//!
//! An array is idle when no foreground I/O has been at its disks for `idle_delay` [ns]. Below the low water mark nothing
//! leaves, so that overwrites are still absorbed; at the high one destage goes on whatever the disks do.
//!
//! Assumes: idle periods that have lasted for some time go on for some time (Golding et al.), so that a destage that is
//! begun disturbs few requests. Drives finish what they have begun when a request comes.
//! Cost: as C-SCAN; one event for each idle period.
//! Not for: loads without pauses, where it waits until the high water mark and has no low one to go back to.
//!
//! Golding, Bosch, Staelin, Sullivan, Wilkes: Idleness is not sloth, USENIX Technical Conference, 1995.

use super::{ByAddress, Occupancy, Trigger, WaterMarks};

/// Between the water marks while the disks are idle, and at the high one always.
#[derive(Debug)]
pub struct WhenIdle(WaterMarks);

impl WhenIdle {
    /// A trigger with these marks.
    pub const fn new(marks: WaterMarks) -> Self {
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
    fn it_goes_when_idle_above_the_low_mark_and_always_from_the_high_one() {
        let mut policy = WhenIdle::new(WaterMarks::new(8, 3));
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
    fn it_goes_by_address() {
        let mut policy = IdleTime::new(1, WhenIdle::new(WaterMarks::new(1, 0)));
        enter(&mut policy, &[5, 2, 9]);
        assert_eq!(next(&mut policy, 3), [2, 5, 9]);
    }
}
