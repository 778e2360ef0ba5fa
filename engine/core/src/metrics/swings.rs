//! Swings: how often a series went up and down through the middle half of its range.
//!
//! A series that has come to rest, or that repeats itself, swings; one that still grows or has seen part of a cycle does not.
//! Unlike MSER this holds for periodic series, of which a few periods are enough.

/// A count of upward swings through the band between two levels.
#[derive(Clone, Copy, Debug)]
pub struct Swings {
    low: f64,
    high: f64,
    is_below: bool,
    count: u64,
}

impl Swings {
    /// No swing yet, through the band from `low` to `high`; the first rise above it is one.
    pub const fn new(low: f64, high: f64) -> Self {
        Self { low, high, is_below: true, count: 0 }
    }

    /// Appends a value; returns whether it completes a swing: the series was at `low` or below, and is at `high` or above.
    #[inline]
    pub fn push(&mut self, value: f64) -> bool {
        if value <= self.low {
            self.is_below = true;
        }
        let is_swing = self.is_below && value >= self.high;
        if is_swing {
            self.is_below = false;
            self.count += 1;
        }
        is_swing
    }

    /// Swings so far.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Restarts the count. The position of the series is kept.
    pub const fn restart(&mut self) {
        self.count = 0;
    }

    /// Swings of `values` through the middle half of their range; `None` if they are all equal.
    pub fn of(values: &[f64]) -> Option<u64> {
        let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
            (low.min(value), high.max(value))
        });
        if low >= high {
            return None;
        }
        let quarter = (high - low) / 4.0;
        let mut swings = Self::new(low + quarter, high - quarter);
        for &value in values {
            swings.push(value);
        }
        Some(swings.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saw_tooth_swings_once_per_tooth() {
        let teeth: Vec<f64> = (0..400).map(|i| f64::from(i % 100)).collect();
        assert_eq!(Swings::of(&teeth), Some(4));
        // The last tooth has not risen above the band.
        assert_eq!(Swings::of(&teeth[..350]), Some(3));
    }

    #[test]
    fn a_ramp_swings_once_and_a_constant_never() {
        let ramp: Vec<f64> = (0..400).map(f64::from).collect();
        assert_eq!(Swings::of(&ramp), Some(1));
        assert_eq!(Swings::of(&[2.5; 40]), None);
        assert_eq!(Swings::of(&[]), None);
    }

    #[test]
    fn a_restart_keeps_the_position() {
        let mut swings = Swings::new(1.0, 2.0);
        assert!(swings.push(3.0));
        swings.restart();
        // It is still above the band: no swing until it has been below.
        assert!(!swings.push(1.5) && !swings.push(3.0));
        assert!(!swings.push(0.0) && swings.push(2.0));
        assert_eq!(swings.count(), 1);
    }
}
