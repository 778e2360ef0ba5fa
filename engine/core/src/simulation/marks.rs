//! The water marks of a write cache, as run control and warm-up see them.

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

    /// Lines between them, at least one.
    pub fn width(self) -> f64 {
        f64::from(self.high.saturating_sub(self.low).max(1))
    }
}
