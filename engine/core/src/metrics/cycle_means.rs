//! Cycle means: the interval of the mean of a series that repeats a cycle.
//!
//! A write cache fills to its high water mark, and destages to the low one. Responses differ between the two parts. Batches
//! that hold parts of cycles therefore differ far more than the means of whole cycles, and neighbouring ones balance each
//! other: intervals by batch means are several times too wide. The n whole cycles are nearly independent of each other, as
//! in regenerative simulation \[1\]. Cycle i has `N_i` observations, whose sum is `S_i`:
//!
//! ```text
//!   mean m = sum S_i / sum N_i                         ratio estimate
//!   half width of m = t(level, n - 1) sqrt( sum (S_i - m N_i)^2 / (n - 1) / n ) / mean of N
//!   half width = half width of m + |mean of all - m|   all: with the parts of cycles at both ends
//! ```
//!
//! At 64 cycles neighbours are merged: n is then between 32 and 63, and correlation and skewness are corrected for as for
//! batch means. Cycles may differ in the same way in every run, probably where destage goes through the addresses once in
//! several cycles: the interval is then still too wide, about three times at six cycles of C-SCAN.
//!
//! \[1\] M. A. Crane and A. J. Lemoine, An Introduction to the Regenerative Method for Simulation Analysis, 1977.

use super::batch_means::{BatchMeans, half_width_of_mean};
use super::swings::Swings;

/// Cycles at which neighbours are merged.
const MAX_CYCLES: usize = 64;
/// Fewest whole cycles that have an interval.
const LEAST_CYCLES: usize = 3;

/// One or several whole cycles, or the series up to a turn.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    sum: f64,
    observations: u64,
}

impl Part {
    fn of(series: &BatchMeans) -> Self {
        Self { sum: series.sum(), observations: series.count() }
    }

    fn since(self, before: Self) -> Self {
        Self { sum: self.sum - before.sum, observations: self.observations - before.observations }
    }
}

/// The whole cycles of a series, which end where a level turns.
#[derive(Clone, Debug)]
pub struct CycleMeans {
    turns: Swings,
    is_at_turn: bool,
    /// The series where the last whole part ended; `None` before the first turn.
    end: Option<Part>,
    parts: Vec<Part>,
    /// Cycles in each part.
    merged: u32,
    /// Cycles since the last whole part.
    pending: u32,
}

impl CycleMeans {
    /// No cycle yet; the level turns where `turns` counts a swing.
    pub const fn new(turns: Swings) -> Self {
        Self { turns, is_at_turn: false, end: None, parts: Vec::new(), merged: 1, pending: 0 }
    }

    /// The `level` after the last observation of `series`.
    #[inline]
    pub fn push(&mut self, level: f64, series: &BatchMeans) {
        self.is_at_turn = self.turns.push(level);
        if self.is_at_turn {
            self.end_cycle(Part::of(series));
        }
    }

    fn end_cycle(&mut self, now: Part) {
        let Some(before) = self.end else {
            self.end = Some(now);
            return;
        };
        self.pending += 1;
        if self.pending < self.merged {
            return;
        }
        (self.pending, self.end) = (0, Some(now));
        self.parts.push(now.since(before));
        if self.parts.len() == MAX_CYCLES {
            self.parts = self
                .parts
                .chunks_exact(2)
                .map(|pair| Part {
                    sum: pair[0].sum + pair[1].sum,
                    observations: pair[0].observations + pair[1].observations,
                })
                .collect();
            self.merged *= 2;
        }
    }

    /// Forgets the cycles, as the series begins again. The position of the level is kept: a series that begins at a turn
    /// begins with a whole cycle.
    pub fn restart(&mut self) {
        self.end = self.is_at_turn.then(Part::default);
        self.parts.clear();
        (self.merged, self.pending) = (1, 0);
    }

    /// Half width of the interval of the mean of `series` that covers the true mean with probability `level` (0 to 1, both
    /// excluded), in the unit of the observations; `None` below three whole cycles.
    pub fn half_width(&self, level: f64, series: &BatchMeans) -> Option<f64> {
        if self.parts.len() < LEAST_CYCLES {
            return None;
        }
        let sum: f64 = self.parts.iter().map(|part| part.sum).sum();
        let observations = self.parts.iter().map(|part| part.observations).sum::<u64>() as f64;
        let mean = sum / observations;
        let deviations = self.parts.iter().map(|part| part.sum - mean * part.observations as f64);
        let half_width = half_width_of_mean(level, deviations) * self.parts.len() as f64 / observations;
        Some(half_width + (series.mean()? - mean).abs())
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::SplitMix64;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    const LOW: f64 = 0.0;
    const HIGH: f64 = 3.0;

    /// A series that begins at a turn.
    fn begin() -> (BatchMeans, CycleMeans) {
        let (series, mut cycles) = (BatchMeans::new(), CycleMeans::new(Swings::new(1.0, 2.0)));
        cycles.push(HIGH, &series);
        cycles.restart();
        (series, cycles)
    }

    /// Appends a cycle that ends at a turn.
    fn append(cycle: &[f64], series: &mut BatchMeans, cycles: &mut CycleMeans) {
        for (index, &observation) in cycle.iter().enumerate() {
            series.push(observation);
            cycles.push(if index + 1 == cycle.len() { HIGH } else { LOW }, series);
        }
    }

    #[test]
    fn half_width_worked_by_hand() {
        // Mean 2; the sums are -2, 0 and 2 off 2 times the mean; t(0.95, 2) = 4.302653.
        let (mut series, mut cycles) = begin();
        for cycle in [[1.0, 1.0], [0.0, 4.0], [3.0, 3.0]] {
            assert_eq!(cycles.half_width(0.95, &series), None);
            append(&cycle, &mut series, &mut cycles);
        }
        let expected = 4.302_653 * (4.0_f64 / 3.0).sqrt() / 2.0;
        assert!((cycles.half_width(0.95, &series).unwrap() - expected).abs() < 1e-6);
        // Part of a fourth cycle: the mean of all is 19 / 7.
        series.push(7.0);
        cycles.push(LOW, &series);
        assert!((cycles.half_width(0.95, &series).unwrap() - expected - 5.0 / 7.0).abs() < 1e-6);
    }

    #[test]
    fn cycles_of_one_mean_and_different_lengths_have_no_error() {
        let (mut series, mut cycles) = begin();
        for length in 2..80 {
            append(&vec![5.0; length], &mut series, &mut cycles);
        }
        assert_eq!(cycles.half_width(0.95, &series), Some(0.0));
    }

    #[test]
    fn a_series_that_begins_within_a_cycle_has_its_first_turn_as_start() {
        let (mut series, mut cycles) = begin();
        cycles.push(LOW, &series);
        cycles.restart();
        for _ in 0..4 {
            append(&[1.0, 3.0], &mut series, &mut cycles);
        }
        assert_eq!(cycles.parts.len(), 3);
    }

    #[test]
    fn no_cycle_is_lost_in_merging() {
        let (mut series, mut cycles) = begin();
        for _ in 0..1_000 {
            append(&[1.0, 3.0], &mut series, &mut cycles);
        }
        assert!((32..64).contains(&cycles.parts.len()), "{}", cycles.parts.len());
        assert!(cycles.parts.iter().all(|part| part.observations == 2 * u64::from(cycles.merged)));
        assert_eq!(cycles.parts.len() as u32 * cycles.merged + cycles.pending, 1_000);
    }

    /// Of 400 series of `count` saw teeth, whose long parts last 60 to 100 observations around 1 and whose short parts 20
    /// around 5: mean half width over 1.96 times the spread of the means, by cycles and by batches, and the share of the
    /// former that covers.
    fn against_spread(count: usize) -> (f64, f64, f64) {
        let runs: Vec<(f64, f64, f64)> = (1..=400)
            .map(|seed| {
                let mut random = SplitMix64::seed_from_u64(seed);
                let mut even = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                let (mut series, mut cycles) = begin();
                for _ in 0..count {
                    let long = 60 + (40.0 * even()) as usize;
                    let cycle: Vec<f64> =
                        (0..long + 20).map(|i| if i < long { 1.0 } else { 5.0 } + even() - 0.5).collect();
                    append(&cycle, &mut series, &mut cycles);
                }
                let by_cycles = cycles.half_width(0.95, &series).unwrap();
                (series.mean().unwrap(), by_cycles, series.half_width_95().unwrap())
            })
            .collect();
        let mean = |of: fn(&(f64, f64, f64)) -> f64| runs.iter().map(of).sum::<f64>() / 400.0;
        let center = mean(|run| run.0);
        let spread = (runs.iter().map(|run| (run.0 - center) * (run.0 - center)).sum::<f64>() / 399.0).sqrt();
        let covered = runs.iter().filter(|run| (run.0 - center).abs() <= run.1).count() as f64 / 400.0;
        (mean(|run| run.1) / (1.96 * spread), mean(|run| run.2) / (1.96 * spread), covered)
    }

    #[test]
    fn intervals_agree_with_the_spread_of_means() {
        for count in [6, 20, 45, 300] {
            let (by_cycles, by_batches, covered) = against_spread(count);
            assert!((0.9..1.35).contains(&by_cycles), "{count}: {by_cycles}");
            // One standard error of the share is 1.1 %; three are allowed.
            assert!((covered - 0.95).abs() < 0.034, "{count}: {covered}");
            assert!(count > 20 || by_batches > 3.0, "{count}: {by_batches}");
        }
    }
}
