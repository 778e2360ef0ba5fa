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

use super::{DestagePolicy, Elevator, Level, Place, WaterMarks, Write};

/// Destage by address when the disks are idle.
#[derive(Debug)]
pub struct IdleTime {
    arrays: Box<[Elevator]>,
    high: u32,
    low: u32,
}

impl IdleTime {
    /// Empty, for a number of arrays.
    pub fn new(arrays: usize, marks: WaterMarks) -> Self {
        Self { arrays: (0..arrays).map(|_| Elevator::default()).collect(), high: marks.high, low: marks.low }
    }
}

impl DestagePolicy for IdleTime {
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
        let is_due = level.is_stalled
            || level.is_draining
            || level.waiting >= self.high
            || (level.is_idle && level.waiting > self.low);
        if is_due { level.limit } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::order_laws::{enter, next};
    use super::*;

    #[test]
    fn it_goes_when_idle_above_the_low_mark_and_always_from_the_high_one() {
        let mut policy = IdleTime::new(1, WaterMarks::new(8, 3));
        let mut allow = |waiting, is_idle| {
            let level =
                Level { used: waiting, waiting, is_stalled: false, is_draining: false, is_idle, limit: 4 };
            policy.allow(&level)
        };
        assert_eq!([3, 4, 7, 8].map(|waiting| allow(waiting, true)), [0, 4, 4, 4]);
        assert_eq!([3, 4, 7, 8].map(|waiting| allow(waiting, false)), [0, 0, 0, 4]);
    }

    #[test]
    fn it_goes_by_address() {
        let mut policy = IdleTime::new(1, WaterMarks::new(1, 0));
        enter(&mut policy, &[5, 2, 9]);
        assert_eq!(next(&mut policy, 3), [2, 5, 9]);
    }
}
