//! The gaps between open arrivals.

use super::{BModel, Mmpp};
use crate::config::Distribution;
use crate::rng::Stream;
use crate::units::SimDuration;

/// What the gaps between open arrivals are.
#[derive(Clone, Debug)]
pub enum Gaps {
    /// Exponential.
    Exponential {
        /// Mean gap.
        mean: SimDuration,
    },
    /// All the same.
    Constant {
        /// The gap.
        gap: SimDuration,
    },
    /// Those of a Poisson process whose rate changes between two values.
    Mmpp(Box<Mmpp>),
    /// Those of the b-model.
    BModel(Box<BModel>),
}

impl Gaps {
    /// The next gap.
    #[inline]
    pub fn next(&mut self, stream: &mut Stream) -> SimDuration {
        match self {
            Self::Exponential { mean } => stream.duration(&Distribution::Exponential { mean: *mean }),
            Self::Constant { gap } => *gap,
            Self::Mmpp(mmpp) => mmpp.gap(stream),
            Self::BModel(model) => model.gap(stream),
        }
    }

    /// The time until the first arrival. Sources with equal gaps would else arrive together for ever.
    pub fn first(&mut self, stream: &mut Stream) -> SimDuration {
        match self {
            Self::Constant { gap } => SimDuration(stream.below(gap.0.max(1))),
            _ => self.next(stream),
        }
    }
}
