//! A read-ahead in progress.

use crate::disk::geometry::Pace;
use crate::units::{SimDuration, SimTime};

/// A read-ahead in progress, or one that reached its limit with the head still there.
#[derive(Clone, Copy, Debug)]
pub(in crate::disk) struct Fill {
    pub segment: usize,
    /// First prefetched sector, and the time at which it started to pass the head.
    pub first: u64,
    pub from: SimTime,
    pub pace: Pace,
    /// Limit.
    pub limit: u64,
    /// Time at which the whole track will be read, and its first sector.
    pub whole: Option<(SimTime, u64)>,
}

impl Fill {
    /// Time at which all sectors below `end` are read.
    pub fn ready(&self, end: u64) -> SimTime {
        let passed = end.saturating_sub(self.first);
        self.from + SimDuration(passed.saturating_mul(self.pace.sector).div_ceil(1 << 16))
    }

    /// End of the sectors read at `now`.
    pub fn valid(&self, now: SimTime) -> u64 {
        if now >= self.ready(self.limit) {
            return self.limit;
        }
        let (elapsed, sector) = (now.since(self.from).0, self.pace.sector.max(1));
        // Most are short enough for a division of one word.
        let passed = if elapsed < 1 << 48 {
            (elapsed << 16) / sector
        } else {
            ((u128::from(elapsed) << 16) / u128::from(sector)) as u64
        };
        self.limit.min(self.first + passed)
    }

    /// Continues from the end of a zone with the pace of the next.
    pub fn enter_zone(&mut self, pace: Pace) {
        self.from = self.ready(self.pace.until);
        self.first = self.pace.until;
        self.pace = pace;
    }

    /// Time at which the head is idle.
    pub fn done(&self) -> SimTime {
        let limit = self.ready(self.limit);
        self.whole.map_or(limit, |(time, _)| time.max(limit))
    }
}
