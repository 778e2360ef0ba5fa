//! Bursty arrivals: a Markov-modulated Poisson process of two states.
//!
//! In state i arrivals are a Poisson process of rate r_i, and the state is left at rate s_i. With the mean rate
//! r = (r_1 s_2 + r_2 s_1) / (s_1 + s_2), s = s_1 + s_2 and A = 2 s_1 s_2 (r_1 - r_2)^2 / (s^2 (r_1 s_2 + r_2 s_1)), the
//! index of dispersion of counts over a time t is 1 + A (1 - (1 - e^(-s t)) / (s t)): 1 at short times, 1 + A at long
//! ones. Not for burstiness at many scales, which `b_model` has.
//!
//! Fischer, Meier-Hellstern: The Markov-modulated Poisson process (MMPP) cookbook, Performance Evaluation 18(2), 1993.

use crate::rng::Stream;
use crate::units::SimDuration;

/// The process. Times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Mmpp {
    /// Mean gap between arrivals in the quiet state and in a burst; none where nothing arrives.
    gaps: [Option<f64>; 2],
    /// Mean length of the quiet state and of a burst.
    lengths: [f64; 2],
    is_burst: bool,
    /// Time left in the state.
    left: f64,
}

impl Mmpp {
    /// The process of mean rate `rate` \[1/s\], which is `factor` times as fast for the share `burst` of the time, for
    /// `burst_time` on average. Its first state is drawn from `stream`.
    pub fn new(rate: f64, factor: f64, burst: f64, burst_time: SimDuration, stream: &mut Stream) -> Self {
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
    pub fn gap(&mut self, stream: &mut Stream) -> SimDuration {
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
