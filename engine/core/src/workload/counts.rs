//! Counts of arrivals per slot, and estimates of their moments.

use super::gaps::Gaps;
use crate::rng::RandomStream;

/// Arrivals in each of `slots` slots of `slot` seconds.
pub fn counts(gaps: &mut Gaps, stream: &mut RandomStream, slot: f64, slots: usize) -> Vec<f64> {
    let mut seen = vec![0.0; slots];
    let mut now = gaps.first(stream).0;
    while let Some(count) = seen.get_mut((now as f64 / (slot * 1e9)) as usize) {
        *count += 1.0;
        now += gaps.next(stream).0;
    }
    seen
}

/// The mean of independent values, with its standard error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Estimate {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Estimate {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.sum / self.count
    }

    fn error(&self) -> f64 {
        let variance = (self.squares - self.sum * self.mean()) / (self.count - 1.0);
        (variance / self.count).sqrt()
    }

    /// The mean must be within four standard errors of `expected`, and these at most the share `sharpness` of it.
    pub fn check(&self, what: &str, expected: f64, sharpness: f64) {
        self.check_within(what, expected, sharpness * expected);
    }

    /// The mean must be within four standard errors of `expected`, and these at most `widest`.
    pub fn check_within(&self, what: &str, expected: f64, widest: f64) {
        let (mean, width) = (self.mean(), 4.0 * self.error());
        assert!((mean - expected).abs() <= width + 1e-9, "{what}: {mean} +- {width} for {expected}");
        assert!(width <= widest, "{what}: {mean} +- {width} is too imprecise for {expected}");
    }
}
