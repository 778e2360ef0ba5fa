//! MSER-5: the length of the initial transient of a series.
//!
//! The series is cut into batches of five observations with means `Z_1..Z_n`. Leaving out the first d of them gives the
//! statistic
//!
//! ```text
//!   MSER(d) = sum over i > d of (Z_i - mean of Z_d+1..Z_n)^2 / (n - d)^2
//! ```
//!
//! that is, the squared standard error of the rest; the truncation is the d that minimises it: leaving out more removes
//! bias, leaving out too much discards data. If d is beyond n / 2, the series has not settled \[1\].
//!
//! Differences from \[1\]: memory is bounded, since at 2,048 batches neighbours are merged and batches become twice as
//! long; and the last tenth of the batches (at least ten) is never truncated, since a few batches that happen to be
//! similar would otherwise win.
//!
//! Not detected: a transient longer than the series, and a periodic series whose period exceeds it.
//!
//! Cost: a few instructions per observation, O(n) for a truncation, 16 KiB.
//!
//! \[1\] K. P. White, An effective truncation heuristic for bias reduction in simulation output, Simulation 69(6), 1997.

/// Initial observations per batch.
const FIRST_BATCH: u64 = 5;
/// Batches at which neighbours are merged.
const MAX_BATCHES: usize = 2048;
/// Minimum number of batches for a result.
const MIN_BATCHES: usize = 40;
/// Minimum number of batches that are never truncated.
const MIN_REST: usize = 10;

/// A series of observations.
#[derive(Clone, Debug)]
pub struct Mser5 {
    /// Sums over whole batches.
    sums: Vec<f64>,
    /// Observations per batch.
    batch: u64,
    pending_sum: f64,
    pending: u64,
}

/// The end of the transient of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Batches to leave out.
    pub batches: usize,
    /// Observations to leave out.
    pub observations: u64,
    /// Whether that is at most half of the batches, so that the series has settled.
    pub is_in_first_half: bool,
}

impl Default for Mser5 {
    fn default() -> Self {
        Self::new()
    }
}

impl Mser5 {
    /// An empty series.
    pub fn new() -> Self {
        Self { sums: Vec::with_capacity(MAX_BATCHES), batch: FIRST_BATCH, pending_sum: 0.0, pending: 0 }
    }

    /// Appends an observation, in any unit.
    #[inline]
    pub fn push(&mut self, observation: f64) {
        self.pending_sum += observation;
        self.pending += 1;
        if self.pending == self.batch {
            self.sums.push(self.pending_sum);
            (self.pending_sum, self.pending) = (0.0, 0);
            if self.sums.len() == MAX_BATCHES {
                self.merge_neighbours();
            }
        }
    }

    /// Number of whole batches.
    pub fn batches(&self) -> usize {
        self.sums.len()
    }

    /// Observations per batch.
    pub const fn batch_observations(&self) -> u64 {
        self.batch
    }

    /// Sums of the whole batches.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// The end of the transient; `None` with fewer than 40 batches.
    pub fn truncation(&self) -> Option<Truncation> {
        let batches = self.sums.len();
        if batches < MIN_BATCHES {
            return None;
        }
        let rest = MIN_REST.max(batches / 10);
        // Backwards, so that mean and sum of squares (Welford) grow by one batch at a time. Sums work as well as means.
        let (mut mean, mut squares, mut count) = (0.0, 0.0, 0.0);
        let (mut best, mut least) = (0, f64::INFINITY);
        for (truncated, &sum) in self.sums.iter().enumerate().rev() {
            count += 1.0;
            let off = sum - mean;
            mean += off / count;
            squares += off * (sum - mean);
            let statistic = squares / (count * count);
            if batches - truncated >= rest && statistic <= least {
                (best, least) = (truncated, statistic);
            }
        }
        Some(Truncation {
            batches: best,
            observations: best as u64 * self.batch,
            is_in_first_half: best <= batches / 2,
        })
    }

    /// Whether the series is long enough and has settled.
    pub fn is_stationary(&self) -> bool {
        self.truncation().is_some_and(|truncation| truncation.is_in_first_half)
    }

    /// Removes all observations; keeps the memory.
    pub fn clear(&mut self) {
        self.sums.clear();
        (self.batch, self.pending_sum, self.pending) = (FIRST_BATCH, 0.0, 0);
    }

    fn merge_neighbours(&mut self) {
        for pair in 0..MAX_BATCHES / 2 {
            self.sums[pair] = self.sums[2 * pair] + self.sums[2 * pair + 1];
        }
        self.sums.truncate(MAX_BATCHES / 2);
        self.batch *= 2;
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    /// `count` observations of `shape(i)` plus even noise within +-`noise`.
    fn series(seed: u64, count: u64, noise: f64, shape: impl Fn(u64) -> f64) -> Mser5 {
        let mut random = SplitMix64::seed_from_u64(seed);
        let mut series = Mser5::new();
        for i in 0..count {
            let even = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            series.push(shape(i) + noise * (2.0 * even - 1.0));
        }
        series
    }

    /// The definition, written out.
    fn by_definition(means: &[f64], truncated: usize) -> f64 {
        let rest = &means[truncated..];
        let count = rest.len() as f64;
        let mean = rest.iter().sum::<f64>() / count;
        rest.iter().map(|z| (z - mean) * (z - mean)).sum::<f64>() / (count * count)
    }

    #[test]
    fn the_truncation_follows_the_definition() {
        let noisy = series(3, 1000, 1.0, |i| 5.0 * libm::exp(-(i as f64) / 60.0));
        let means: Vec<f64> = noisy.sums.iter().map(|sum| sum / 5.0).collect();
        let least =
            (0..=180).min_by(|&a, &b| by_definition(&means, a).total_cmp(&by_definition(&means, b))).unwrap();
        assert_eq!(noisy.truncation().unwrap().batches, least);
        assert!(least > 10, "{least}");
    }

    #[test]
    fn a_step_is_cut_off_exactly() {
        let step = series(1, 1000, 0.0, |i| if i < 100 { 10.0 } else { 1.0 });
        let expected = Truncation { batches: 20, observations: 100, is_in_first_half: true };
        assert_eq!(step.truncation(), Some(expected));
        let late = series(1, 1000, 0.0, |i| if i < 700 { 10.0 } else { 1.0 });
        let expected = Truncation { batches: 140, observations: 700, is_in_first_half: false };
        assert_eq!(late.truncation(), Some(expected));
        assert!(!late.is_stationary());
    }

    #[test]
    fn a_constant_series_loses_nothing() {
        let constant = series(1, 400, 0.0, |_| 3.7);
        assert_eq!(constant.truncation().unwrap().batches, 0);
    }

    #[test]
    fn noise_is_stationary_and_a_trend_is_not() {
        let mut stationary = 0;
        for seed in 1..=200 {
            stationary += u32::from(series(seed, 500, 1.0, |_| 0.0).is_stationary());
            let trend = series(seed, 20_000, 1.0, |i| i as f64 / 500.0);
            assert!(!trend.is_stationary(), "seed {seed}: {:?}", trend.truncation());
        }
        assert!(stationary >= 198, "{stationary} of 200");
    }

    #[test]
    fn too_few_batches_say_nothing() {
        assert_eq!(series(1, 199, 1.0, |_| 0.0).truncation(), None);
        assert!(!series(1, 199, 1.0, |_| 0.0).is_stationary());
        assert!(series(1, 200, 1.0, |_| 0.0).truncation().is_some());
    }

    #[test]
    fn merged_batches_keep_all_observations_in_bounded_memory() {
        let observations = 5 * 2048 * 3;
        let long = series(1, observations, 0.0, |i| i as f64);
        assert_eq!(long.batch_observations(), 20);
        assert_eq!(long.batches() as u64, observations / 20);
        assert_eq!(long.sums.capacity(), MAX_BATCHES);
        let sum: f64 = long.sums.iter().sum();
        assert!((sum - (observations * (observations - 1) / 2) as f64).abs() < 1.0);
        // The second batch of 20: 20 + 21 + .. + 39.
        assert!((long.sums[1] - 590.0).abs() < 1e-9);
        let step = series(1, 50_000, 0.0, |i| f64::from(u8::from(i < 8000)));
        assert_eq!(step.truncation().unwrap().observations, 8000);
    }

    #[test]
    fn clearing_starts_over() {
        let mut used = series(1, 50_003, 1.0, |_| 0.0);
        used.clear();
        assert_eq!((used.batches(), used.batch_observations(), used.truncation()), (0, 5, None));
    }
}
