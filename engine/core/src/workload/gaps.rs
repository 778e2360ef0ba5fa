//! The gaps between open arrivals.

use super::b_model::BModel;
use super::mmpp::Mmpp;
use crate::rng::RandomStream;
use crate::units::SimDuration;

/// A process of gaps between open arrivals.
#[derive(Clone, Debug)]
pub enum Gaps {
    /// Exponential.
    Exponential {
        /// Mean gap.
        mean: SimDuration,
    },
    /// Constant.
    Constant {
        /// The gap.
        gap: SimDuration,
    },
    /// Those of a Markov-modulated Poisson process with two states.
    Mmpp(Box<Mmpp>),
    /// Those of the b-model.
    BModel(Box<BModel>),
}

impl Gaps {
    /// The next gap.
    #[inline]
    pub fn next(&mut self, stream: &mut RandomStream) -> SimDuration {
        match self {
            Self::Exponential { mean } => stream.exponential_duration(*mean),
            Self::Constant { gap } => *gap,
            Self::Mmpp(mmpp) => mmpp.gap(stream),
            Self::BModel(model) => model.gap(stream),
        }
    }

    /// The time until the first arrival; random, as sources with equal gaps would otherwise always arrive together.
    pub fn first(&mut self, stream: &mut RandomStream) -> SimDuration {
        match self {
            Self::Constant { gap } => SimDuration(stream.below(gap.0.max(1))),
            _ => self.next(stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn equal_gaps_start_at_a_random_time() {
        let gap = SimDuration(1000);
        let firsts: Vec<u64> = (0..200)
            .map(|user| {
                let mut stream = RandomStream::named(1, 0, "c", user, Purpose::Arrival);
                let mut gaps = Gaps::Constant { gap };
                let first = gaps.first(&mut stream).0;
                assert_eq!([gaps.next(&mut stream), gaps.next(&mut stream)], [gap; 2]);
                first
            })
            .collect();
        let mean = firsts.iter().sum::<u64>() as f64 / 200.0;
        // Uniform from 0 to 999: a standard deviation of 289.
        assert!((mean - 499.5).abs() < 4.0 * 289.0 / 200.0_f64.sqrt(), "{mean}");
        assert!(firsts.iter().all(|&first| first < 1000));
    }
}
