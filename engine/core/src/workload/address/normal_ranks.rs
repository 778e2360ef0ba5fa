//! Ranks from a normal distribution with a uniform part.

use crate::rng::RandomStream;

/// Ranks around the middle; `deviation` and `width` are shares of their number.
#[derive(Clone, Copy, Debug)]
pub struct NormalRanks {
    /// Number of ranks.
    pub count: u64,
    /// Standard deviation of the normal part.
    pub deviation: f64,
    /// Width of the uniform part.
    pub width: f64,
}

impl NormalRanks {
    /// Draws a rank below `count`.
    pub fn draw(&self, stream: &mut RandomStream) -> u64 {
        loop {
            let share = 0.5 + self.deviation * stream.normal() + self.width * (stream.unit() - 0.5);
            if (0.0..1.0).contains(&share) {
                return ((share * self.count as f64) as u64).min(self.count - 1);
            }
        }
    }
}
