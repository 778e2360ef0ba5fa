//! Self-similar arrivals: the b-model.
//!
//! The expected arrivals of a window are divided between its two halves as b to 1 - b, where a fair coin decides which half
//! gets b; the halves are divided in the same way, and so on for some levels. Within a slot of the last level, arrivals are
//! a Poisson process with the resulting measure. In slots of the j-th level the measure M has
//! E\[M^2\] = V^2 ((b^2 + (1 - b)^2) / 2)^j, where V is that of the window. The counts therefore have the variance
//! E\[M\] + E\[M^2\] - E\[M\]^2, and the slope over the levels gives the Hurst parameter (1 - log2(b^2 + (1 - b)^2)) / 2.
//! There is no burstiness beyond the window: every window has the same measure.
//!
//! Wang, Madhyastha, Chan, Papadimitriou, Faloutsos: Data mining meets performance evaluation: fast algorithms for
//! modeling bursty traffic, ICDE 2002.

use crate::rng::RandomStream;
use crate::units::SimDuration;

/// A part of a window that is still ahead.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Expected arrivals.
    measure: f64,
    /// Length \[ns\].
    length: f64,
    level: u32,
}

/// A b-model process. The cascade is computed lazily from left to right: at most one part of each level is kept.
#[derive(Clone, Debug)]
pub struct BModel {
    bias: f64,
    levels: u32,
    window: Part,
    /// The parts of the current window that are ahead; the next one is the last of the list.
    parts: Vec<Part>,
}

impl BModel {
    /// The process of mean rate `rate` \[1/s\] whose windows are halved `levels` times.
    pub fn new(rate: f64, bias: f64, window: SimDuration, levels: u32) -> Self {
        let length = window.0 as f64;
        let window = Part { measure: rate * length * 1e-9, length, level: 0 };
        Self { bias, levels, window, parts: Vec::with_capacity(levels as usize + 2) }
    }

    /// The time until the next arrival.
    pub fn gap(&mut self, stream: &mut RandomStream) -> SimDuration {
        // Arrivals are a Poisson process of rate 1 in the measure.
        let mut to_go = stream.exponential();
        let mut passed = 0.0;
        loop {
            let Some(part) = self.parts.pop() else {
                let whole = (to_go / self.window.measure) as u64 as f64;
                to_go = (to_go - whole * self.window.measure).max(0.0);
                passed += whole * self.window.length;
                self.parts.push(self.window);
                continue;
            };
            if to_go >= part.measure {
                to_go -= part.measure;
                passed += part.length;
            } else if part.level == self.levels {
                let share = to_go / part.measure;
                let rest = 1.0 - share;
                passed += share * part.length;
                self.parts.push(Part {
                    measure: part.measure * rest,
                    length: part.length * rest,
                    level: part.level,
                });
                return SimDuration((passed + 0.5) as u64);
            } else {
                let left = if stream.bits() >> 63 == 0 { self.bias } else { 1.0 - self.bias };
                let half = |share: f64| Part {
                    measure: part.measure * share,
                    length: part.length * 0.5,
                    level: part.level + 1,
                };
                self.parts.extend([half(1.0 - left), half(left)]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;
    use crate::workload::counts::{Estimate, counts};
    use crate::workload::gaps::Gaps;

    const LEVELS: u32 = 10;

    /// E\[(N - m)^2\] and E\[(N - m)(N' - m)\] of sibling slots at each level, over many windows, m being the mean.
    fn moments(rate: f64, bias: f64) -> Vec<(Estimate, Estimate)> {
        let mut moments = vec![(Estimate::default(), Estimate::default()); LEVELS as usize + 1];
        for seed in 0..600 {
            let mut stream = RandomStream::named(seed, 0, "b", 0, Purpose::Arrival);
            let window = SimDuration(1_024_000_000);
            let mut gaps = Gaps::BModel(Box::new(BModel::new(rate, bias, window, LEVELS)));
            let mut seen = counts(&mut gaps, &mut stream, 0.001, 1024);
            for level in (0..=LEVELS as usize).rev() {
                let mean = rate * 1.024 / seen.len() as f64;
                let square = seen.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>();
                moments[level].0.add(square / seen.len() as f64);
                if level > 0 {
                    let product = seen.chunks(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>();
                    moments[level].1.add(product * 2.0 / seen.len() as f64);
                    seen = seen.chunks(2).map(|pair| pair[0] + pair[1]).collect();
                }
            }
        }
        moments
    }

    #[test]
    fn variances_at_all_scales_match_the_bias() {
        for bias in [0.5, 0.6, 0.7, 0.8] {
            let rate = 500.0;
            let volume = rate * 1.024;
            let q = bias * bias + (1.0 - bias) * (1.0 - bias);
            let mut measures = Vec::new();
            for (level, (square, product)) in moments(rate, bias).into_iter().enumerate() {
                let mean = volume / f64::from(1_u32 << level);
                let of_measure = volume * volume * libm::pow(q / 2.0, level as f64);
                square.check("variance", mean + of_measure - mean * mean, 0.25);
                if level > 0 {
                    let above = volume * volume * libm::pow(q / 2.0, level as f64 - 1.0);
                    let expected = above * bias * (1.0 - bias) - mean * mean;
                    let widest = 0.25 * expected.abs().max(mean * mean);
                    product.check_within("covariance of siblings", expected, widest);
                }
                measures.push(libm::log2(square.mean() - mean + mean * mean));
            }
            // The slope of the second moment over the levels gives the Hurst parameter.
            let hurst = (measures[0] - measures[LEVELS as usize]) / f64::from(LEVELS) / 2.0;
            let expected = (1.0 - libm::log2(q)) / 2.0;
            assert!((hurst - expected).abs() < 0.01, "bias {bias}: {hurst} for {expected}");
        }
    }

    #[test]
    fn windows_with_few_arrivals_have_the_right_rate() {
        let mut stream = RandomStream::named(3, 0, "b", 0, Purpose::Arrival);
        let window = SimDuration(1_000_000);
        // One arrival in a hundred windows.
        let mut gaps = Gaps::BModel(Box::new(BModel::new(10.0, 0.9, window, 16)));
        let seen = counts(&mut gaps, &mut stream, 1.0, 4000);
        let mean = seen.iter().sum::<f64>() / 4000.0;
        let variance = seen.iter().map(|x| (x - 10.0) * (x - 10.0)).sum::<f64>() / 4000.0;
        assert!((mean - 10.0).abs() < 4.0 * (10.0 / 4000.0_f64).sqrt(), "{mean}");
        assert!((variance - 10.0).abs() < 1.2, "{variance}");
    }
}
