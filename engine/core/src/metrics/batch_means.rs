//! Batch means: confidence intervals of the mean of a correlated series.
//!
//! Consecutive observations of a simulation are correlated, so their scatter understates the error of their mean. The
//! series is therefore divided into k batches \[1\], and the interval of k independent, normally distributed values is
//! corrected for what their means `M_j` still lack of that, as in Skart \[2\]:
//!
//! ```text
//!   half width = |G| sqrt( A sum over j of (M_j - mean of M)^2 / (k - 1) / k )
//!   A = (1 + r) / (1 - r)                       r: correlation of neighbouring batch means, at least 0
//!   |G| = (g(t) - g(-t)) / 2                    t = t(level, k - 1)
//!   g(x) = (cbrt(1 + 6 b (x - b)) - 1) / (2 b)  b = skewness of M / (6 sqrt k)
//! ```
//!
//! A is the variance of the mean of a first-order autoregressive series, g Willink's adjustment of t to a skewed
//! population \[3\]. Its two sides differ; the half width is their mean, so that it is symmetrical. r is increased by 1/k,
//! the bias of its estimate.
//!
//! k is kept between 32 and 63: at 64 batches neighbours are merged and batches become twice as long. Observations that
//! do not fill a batch yet count for the mean but not for its interval.
//!
//! Assumed: a stationary series, much longer than its correlation. A half width is itself an estimate; prefer intervals
//! over independent replicates for decisions.
//!
//! Cost: a few instructions per observation, 512 bytes.
//!
//! \[1\] A. M. Law and W. D. Kelton, Simulation Modeling and Analysis, 3rd edition, 2000, section 9.5.3.
//! \[2\] A. Tafazzoli, J. R. Wilson, E. K. Lada, N. M. Steiger, Performance of Skart: a skewness- and
//! autoregression-adjusted batch means procedure for simulation analysis, INFORMS Journal on Computing 23(2), 2011.
//! \[3\] R. Willink, A confidence interval and test for the mean of an asymmetric distribution, Communications in
//! Statistics: Theory and Methods 34(4), 2005.

pub mod student_t;

use student_t::two_sided;

/// Batches at which neighbours are merged.
const MAX_BATCHES: usize = 64;
/// Fewest values whose correlation and skewness are corrected for.
const LEAST_CORRECTED: u32 = 32;
/// Largest correlation of neighbouring batch means that is corrected for: with a larger one the series is not much longer
/// than its correlation, and no interval holds.
const MAX_CORRELATION: f64 = 0.9;

/// Mean of a series, with its interval.
#[derive(Clone, Debug)]
pub struct BatchMeans {
    /// Sums over whole batches.
    sums: [f64; MAX_BATCHES],
    batches: usize,
    /// Observations in each batch.
    batch: u64,
    pending_sum: f64,
    pending: u64,
}

impl Default for BatchMeans {
    fn default() -> Self {
        Self::new()
    }
}

impl BatchMeans {
    /// An empty series.
    pub const fn new() -> Self {
        Self { sums: [0.0; MAX_BATCHES], batches: 0, batch: 1, pending_sum: 0.0, pending: 0 }
    }

    /// Appends an observation, in any unit.
    #[inline]
    pub fn push(&mut self, observation: f64) {
        self.pending_sum += observation;
        self.pending += 1;
        if self.pending == self.batch {
            self.sums[self.batches] = self.pending_sum;
            self.batches += 1;
            (self.pending_sum, self.pending) = (0.0, 0);
            if self.batches == MAX_BATCHES {
                for pair in 0..MAX_BATCHES / 2 {
                    self.sums[pair] = self.sums[2 * pair] + self.sums[2 * pair + 1];
                }
                self.batches = MAX_BATCHES / 2;
                self.batch *= 2;
            }
        }
    }

    /// Observations so far.
    pub const fn count(&self) -> u64 {
        self.batches as u64 * self.batch + self.pending
    }

    /// Mean of all observations, in their unit; `None` without any.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum() / self.count() as f64)
    }

    /// Sum of all observations, in their unit.
    pub fn sum(&self) -> f64 {
        self.sums[..self.batches].iter().sum::<f64>() + self.pending_sum
    }

    /// Half width of the interval that covers the true mean with probability `level` (0 to 1, both excluded), in the
    /// unit of the observations; `None` below 32 observations.
    pub fn half_width(&self, level: f64) -> Option<f64> {
        if self.batches < MAX_BATCHES / 2 {
            return None;
        }
        let sums = &self.sums[..self.batches];
        let mean = sums.iter().sum::<f64>() / self.batches as f64;
        Some(half_width_of_mean(level, sums.iter().map(|sum| sum - mean)) / self.batch as f64)
    }

    /// Half width of the 95 % interval, in the unit of the observations; `None` below 32 observations.
    pub fn half_width_95(&self) -> Option<f64> {
        self.half_width(0.95)
    }
}

/// Half width of the interval of the mean of neighbouring values whose `deviations` from their mean these are. Correlation
/// and skewness are corrected for from 32 values on: those of fewer are mostly errors of their estimates.
pub(super) fn half_width_of_mean(level: f64, deviations: impl Iterator<Item = f64>) -> f64 {
    let (mut values, mut squares, mut cubes, mut products, mut before) = (0_u32, 0.0, 0.0, 0.0, 0.0);
    for off in deviations {
        values += 1;
        squares += off * off;
        cubes += off * off * off;
        products += before * off;
        before = off;
    }
    let count = f64::from(values);
    let variance = squares / (count - 1.0);
    if variance <= 0.0 {
        return 0.0;
    }
    let quantile = two_sided(level, values - 1);
    if values < LEAST_CORRECTED {
        return quantile * (variance / count).sqrt();
    }
    let correlation = (products / squares + 1.0 / count).clamp(0.0, MAX_CORRELATION);
    let error = (variance * (1.0 + correlation) / (1.0 - correlation) / count).sqrt();
    let skewness = cubes * count / ((count - 1.0) * (count - 2.0)) / (variance * variance.sqrt());
    adjusted(quantile, skewness / (6.0 * count.sqrt())) * error
}

/// Mean distance of both ends of the interval, in standard errors, for a quantile `t` and a skewness term `b`.
fn adjusted(t: f64, b: f64) -> f64 {
    // Below, g(x) is x to the precision of the quotient.
    if b.abs() < 1e-6 {
        return t;
    }
    let end = |x: f64| (libm::cbrt(1.0 + 6.0 * b * (x - b)) - 1.0) / (2.0 * b);
    (end(t) - end(-t)) / 2.0
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    /// Even draws from (-1, 1).
    fn noise(seed: u64) -> impl FnMut() -> f64 {
        let mut random = SplitMix64::seed_from_u64(seed);
        move || (random.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Of 1,000 series of `count` observations with correlation `phi` from one to the next and mean 5, the share whose
    /// interval covers 5.
    fn coverage(level: f64, count: u32, phi: f64) -> f64 {
        let covers = |seed| {
            let mut noise = noise(seed);
            let mut series = BatchMeans::new();
            // The first value has the stationary spread: 1 / sqrt(1 - phi^2) times the noise.
            let mut state = noise() / (1.0 - phi * phi).sqrt();
            for _ in 0..count {
                series.push(5.0 + state);
                state = phi * state + noise();
            }
            (series.mean().unwrap() - 5.0).abs() <= series.half_width(level).unwrap()
        };
        (1..=1000_u64).filter(|&seed| covers(seed)).count() as f64 / 1000.0
    }

    #[test]
    fn intervals_have_their_coverage_for_independent_draws() {
        // One standard error of a share of 1,000 is 0.7 % at 95 % and 0.9 % at 90 %; three are allowed.
        let covered = coverage(0.95, 3000, 0.0);
        assert!((covered - 0.95).abs() < 0.021, "{covered}");
        let covered = coverage(0.90, 3000, 0.0);
        assert!((covered - 0.90).abs() < 0.028, "{covered}");
    }

    #[test]
    fn intervals_have_their_coverage_for_correlated_series() {
        // Correlation reaches 1 / (1 - 0.9) = 10 observations, a batch holds 256 of 10,000.
        let covered = coverage(0.95, 10_000, 0.9);
        assert!((covered - 0.95).abs() < 0.025, "{covered}");
    }

    #[test]
    fn half_width_worked_by_hand() {
        // 32 observations, 16 of 0 and 16 of 2: mean 1, variance 32 / 31, t(0.95, 31) = 2.03951. They alternate, so that
        // their correlation is negative, and are not skewed: nothing is corrected.
        let mut series = BatchMeans::new();
        for i in 0..32 {
            assert_eq!(series.half_width_95(), None);
            series.push(f64::from(i % 2 * 2));
        }
        let expected = 2.039_513 * (32.0_f64 / 31.0 / 32.0).sqrt();
        assert!((series.half_width_95().unwrap() - expected).abs() < 1e-6);
        assert_eq!(series.mean(), Some(1.0));
        // Twice as many: all pairs have mean 1, so the half width is 0.
        for i in 0..32 {
            series.push(f64::from(i % 2 * 2));
        }
        assert_eq!(series.half_width_95(), Some(0.0));
    }

    #[test]
    fn correlation_and_skewness_worked_by_hand() {
        // 24 of 0, then 8 of 4: mean 1, deviations -1 and 3, squares 24 + 72 = 96, neighbours 23 - 3 + 63 = 83,
        // cubes -24 + 216 = 192.
        let mut series = BatchMeans::new();
        for i in 0..32 {
            series.push(if i < 24 { 0.0 } else { 4.0 });
        }
        let variance = 96.0_f64 / 31.0;
        let r = 83.0 / 96.0 + 1.0 / 32.0;
        let b = 192.0 * 32.0 / (31.0 * 30.0) / libm::pow(variance, 1.5) / (6.0 * 32.0_f64.sqrt());
        let end = |x: f64| ((1.0 + 6.0 * b * (x - b)).cbrt() - 1.0) / (2.0 * b);
        let quantile = (end(2.039_513) - end(-2.039_513)) / 2.0;
        let expected = quantile * (variance / 32.0 * (1.0 + r) / (1.0 - r)).sqrt();
        assert!((series.half_width_95().unwrap() - expected).abs() < 1e-5);
        assert!(quantile > 2.04, "{quantile}");
    }

    #[test]
    fn no_observation_is_lost_in_merging() {
        let mut series = BatchMeans::new();
        assert_eq!(series.mean(), None);
        for i in 0..100_003_u32 {
            series.push(f64::from(i));
            assert_eq!(series.count(), u64::from(i) + 1);
        }
        assert_eq!(series.mean(), Some(50_001.0));
        assert!((32..64).contains(&series.batches), "{}", series.batches);
        assert_eq!(series.batch, 2048);
    }
}
