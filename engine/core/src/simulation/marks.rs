//! The water marks of a write cache, as run control and warm-up see them.

use crate::metrics::Swings;

/// The water marks of a write cache.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// Lines at which destage stops.
    pub low: u32,
    /// Lines at which it starts.
    pub high: u32,
    /// Size of a line \[sectors\].
    pub line: u64,
}

impl Marks {
    /// Midway between them: the lines to which the functional warm-up fills the cache.
    pub const fn middle(self) -> u32 {
        u32::midpoint(self.low, self.high)
    }

    /// The turns of the cache: rises of the occupancy above three quarters of the band between the marks after it was below
    /// one quarter.
    pub fn turns(self) -> Swings {
        let quarter = self.width() / 4.0;
        Swings::new(f64::from(self.low) + quarter, f64::from(self.high) - quarter)
    }

    /// Lines between them, at least one.
    pub fn width(self) -> f64 {
        f64::from(self.high.saturating_sub(self.low).max(1))
    }
}
