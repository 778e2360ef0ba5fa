//! Bursty arrivals: a Markov-modulated Poisson process of two states.
//!
//! In each state arrivals are a Poisson process, of rate r1 or r2; the states are left at the rates s1 and s2.
//! With the mean rate r = (r1 s2 + r2 s1) / s, s = s1 + s2 and A = 2 s1 s2 (r1 - r2)^2 / (s^2 (r1 s2 + r2 s1)), the
//! index of dispersion of counts over a time t is 1 + A (1 - (1 - e^(-s t)) / (s t)): 1 at short times, 1 + A at long
//! ones. For burstiness at many scales see `b_model`.
//!
//! Fischer, Meier-Hellstern: The Markov-modulated Poisson process (MMPP) cookbook, Performance Evaluation 18(2), 1993.

use crate::rng::RandomStream;
use crate::units::SimDuration;

/// A Markov-modulated Poisson process of two states. Times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Mmpp {
    /// Mean gap between arrivals in the quiet state and in a burst; none without arrivals.
    gaps: [Option<f64>; 2],
    /// Mean length of the quiet state and of a burst.
    lengths: [f64; 2],
    is_burst: bool,
    /// Time left in the state.
    left: f64,
}

impl Mmpp {
    /// The process of mean rate `rate` \[1/s\], with bursts of `factor` times that rate for the share `burst` of the time,
    /// `burst_time` long on average. `stream` draws the first state.
    pub fn new(
        rate: f64,
        factor: f64,
        burst: f64,
        burst_time: SimDuration,
        stream: &mut RandomStream,
    ) -> Self {
        let quiet = rate * (1.0 - factor * burst) / (1.0 - burst);
        let gap = |rate: f64| (rate > 0.0).then(|| 1e9 / rate);
        let length = burst_time.0 as f64;
        let mut mmpp = Self {
            gaps: [gap(quiet), gap(rate * factor)],
            lengths: [length * (1.0 - burst) / burst, length],
            is_burst: stream.unit() < burst,
            left: 0.0,
        };
        mmpp.left = stream.exponential() * mmpp.lengths[usize::from(mmpp.is_burst)];
        mmpp
    }

    /// The time until the next arrival.
    pub fn gap(&mut self, stream: &mut RandomStream) -> SimDuration {
        let mut passed = 0.0;
        loop {
            let state = usize::from(self.is_burst);
            if let Some(mean) = self.gaps[state] {
                let gap = stream.exponential() * mean;
                if gap < self.left {
                    self.left -= gap;
                    return SimDuration((passed + gap + 0.5) as u64);
                }
            }
            passed += self.left;
            self.is_burst = !self.is_burst;
            self.left = stream.exponential() * self.lengths[usize::from(self.is_burst)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;
    use crate::workload::counts::{Estimate, counts};
    use crate::workload::gaps::Gaps;

    #[test]
    fn rate_dispersion_and_covariance_match_the_closed_forms() {
        // 50/s on average; 250/s in bursts of 0.2 s that take 10 % of the time, 27.8/s between them.
        let (rate, factor, share, burst_time) = (50.0_f64, 5.0_f64, 0.1_f64, 0.2_f64);
        let quiet_time = burst_time * (1.0 - share) / share;
        let (r1, r2) = (rate * (1.0 - factor * share) / (1.0 - share), rate * factor);
        let (s1, s2) = (1.0 / quiet_time, 1.0 / burst_time);
        let s = s1 + s2;
        let weight = r1 * s2 + r2 * s1;
        assert!((weight / s - rate).abs() < 1e-9_f64);
        let beyond_poisson = 2.0 * s1 * s2 * (r1 - r2) * (r1 - r2) / (s * s * weight);
        for slot in [0.02, 0.2, 2.0, 10.0] {
            let decay = libm::exp(-s * slot);
            let dispersion = 1.0 + beyond_poisson * (1.0 - (1.0 - decay) / (s * slot));
            let step = (1.0 - decay) / s;
            let covariance = s1 * s2 / (s * s) * (r1 - r2) * (r1 - r2) * step * step;
            let mean = rate * slot;
            let (mut means, mut dispersions, mut covariances) =
                (Estimate::default(), Estimate::default(), Estimate::default());
            for seed in 0..60 {
                let mut stream = RandomStream::named(seed, 0, "mmpp", 0, Purpose::Arrival);
                let time = SimDuration::from_secs_f64(burst_time);
                let mmpp = Mmpp::new(rate, factor, share, time, &mut stream);
                let seen =
                    counts(&mut Gaps::Mmpp(Box::new(mmpp)), &mut stream, slot, (200.0 / slot) as usize);
                let off: Vec<f64> = seen.iter().map(|count| count - mean).collect();
                let slots = off.len() as f64;
                means.add(seen.iter().sum::<f64>() / slots);
                dispersions.add(off.iter().map(|x| x * x).sum::<f64>() / slots / mean);
                covariances.add(off.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / (slots - 1.0));
            }
            means.check("mean", mean, 0.05);
            dispersions.check("index of dispersion", dispersion, 0.25);
            let widest = 0.25 * dispersion * mean;
            covariances.check_within("covariance of neighbours", covariance, widest);
        }
    }

    #[test]
    fn no_arrivals_between_bursts_that_have_all_of_them() {
        let mut stream = RandomStream::named(1, 0, "mmpp", 0, Purpose::Arrival);
        let mmpp = Mmpp::new(10.0, 10.0, 0.1, SimDuration(1_000_000_000), &mut stream);
        assert_eq!(mmpp.gaps[0], None);
        let seen = counts(&mut Gaps::Mmpp(Box::new(mmpp)), &mut stream, 0.1, 100_000);
        let silent = seen.iter().filter(|&&count| count == 0.0).count() as f64 / 1e5;
        // A slot has arrivals only if it overlaps a burst; 90 % of the time is quiet.
        assert!((0.85..0.93).contains(&silent), "{silent}");
    }
}
