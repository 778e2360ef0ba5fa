//! Water marks: destage starts at the high one, continues at full depth, and stops at the low one.
//!
//! Biswas, Ramakrishnan, Towsley: Trace driven analysis of write caching policies for disks, ACM SIGMETRICS, 1993.

use super::{Occupancy, Trigger};

/// Two marks of occupancy, with hysteresis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaterMarks {
    /// Used lines at which destage starts \[lines\].
    pub high: u32,
    /// Waiting lines at which destage stops \[lines\].
    pub low: u32,
    is_destaging: bool,
}

impl WaterMarks {
    /// Marks at `high` and `low` lines. Precondition: `low` is at most `high`, which is at least 1.
    pub const fn new(high: u32, low: u32) -> Self {
        Self { high, low, is_destaging: false }
    }
}

impl Trigger for WaterMarks {
    /// Zero, or the limit.
    #[inline]
    fn allow(&mut self, occupancy: &Occupancy) -> u32 {
        self.is_destaging |= occupancy.used >= self.high || occupancy.is_stalled || occupancy.is_draining;
        if !self.is_destaging {
            return 0;
        }
        let low = if occupancy.is_draining { 0 } else { self.low };
        if occupancy.waiting <= low && !occupancy.is_stalled {
            self.is_destaging = false;
            return 0;
        }
        occupancy.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destage_runs_from_the_high_to_the_low_mark() {
        let mut marks = WaterMarks::new(8, 5);
        let mut allow = |used, waiting| {
            marks.allow(&Occupancy {
                used,
                waiting,
                is_stalled: false,
                is_draining: false,
                is_idle: false,
                limit: 4,
            })
        };
        let seen = [(7, 7), (8, 8), (8, 6), (8, 5), (7, 5), (7, 7), (8, 8)].map(|(u, w)| allow(u, w));
        assert_eq!(seen, [0, 4, 4, 0, 0, 0, 4]);
    }

    #[test]
    fn stalls_and_drains_pass_the_low_mark() {
        let occupancy =
            Occupancy { used: 3, waiting: 3, is_stalled: true, is_draining: false, is_idle: false, limit: 4 };
        assert_eq!(WaterMarks::new(8, 5).allow(&occupancy), 4);
        let occupancy = Occupancy { is_stalled: false, is_draining: true, ..occupancy };
        assert_eq!(WaterMarks::new(8, 5).allow(&occupancy), 4);
        assert_eq!(WaterMarks::new(8, 5).allow(&Occupancy { waiting: 0, ..occupancy }), 0);
    }
}
