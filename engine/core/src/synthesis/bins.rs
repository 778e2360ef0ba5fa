//! Bins of fitted distributions.

use serde::Serialize;

use crate::rng::RandomStream;

/// Depths below this have a bin each.
const EXACT: u64 = 16;
/// Bins per doubling beyond, as a power of two.
const STEPS: u32 = 3;

/// Stack distances from `low` to `high` \[blocks\], uniform, of blocks whose distance on the stack of reads and writes
/// together is about `common` \[blocks\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DepthBin {
    /// Minimum.
    pub low: u64,
    /// Maximum.
    pub high: u64,
    /// The distance on the common stack, as a power of two.
    pub common: u64,
    /// Number of such distances.
    pub count: u64,
}

impl DepthBin {
    /// The empty bin of `depth` and a distance on the common stack.
    pub fn of(depth: u64, common: u64) -> Self {
        let shift = if depth < EXACT { 0 } else { depth.ilog2() - STEPS };
        let low = depth >> shift << shift;
        Self { low, high: low + (1 << shift) - 1, common: octave(common), count: 0 }
    }

    /// Draws a distance.
    pub fn draw(&self, stream: &mut RandomStream) -> u64 {
        self.low + stream.below(self.high - self.low + 1)
    }

    /// The doublings between a distance on the common stack and that of the bin.
    pub fn doublings(&self, common: u64) -> u32 {
        octave(common).ilog2().abs_diff(self.common.ilog2())
    }
}

/// The power of two at or below `depth` + 1.
const fn octave(depth: u64) -> u64 {
    1 << (depth + 1).ilog2()
}

/// Gaps from `low` to `high` \[ns\] whose mean is `mean`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GapBin {
    /// Minimum.
    pub low: u64,
    /// Maximum.
    pub high: u64,
    /// Mean.
    pub mean: f64,
}

impl GapBin {
    /// The bin of these gaps, at least one, ascending.
    pub fn of(gaps: &[u64]) -> Self {
        let sum: u128 = gaps.iter().map(|&gap| u128::from(gap)).sum();
        let (low, high) = (gaps[0], gaps[gaps.len() - 1]);
        Self { low, high, mean: sum as f64 / gaps.len() as f64 }
    }

    /// Draws a gap: uniform from `low` to `mean` or from `mean` to `high`, with weights that preserve the mean.
    pub fn draw(&self, stream: &mut RandomStream) -> u64 {
        let (low, high) = (self.low as f64, self.high as f64);
        if self.high == self.low {
            return self.low;
        }
        let is_lower = stream.unit() * (high - low) < high - self.mean;
        let (from, to) = if is_lower { (low, self.mean) } else { (self.mean, high) };
        libm::round(from + (to - from) * stream.unit()) as u64
    }
}

/// Draws one of `counted`, each with a probability proportional to its count; none if there is none.
pub fn choose<T: Copy>(
    counted: &[T],
    count: impl Fn(&T) -> u64,
    total: u64,
    stream: &mut RandomStream,
) -> Option<T> {
    let mut rank = stream.below(total.max(1));
    for one in counted {
        if rank < count(one) {
            return Some(*one);
        }
        rank -= count(one);
    }
    None
}
