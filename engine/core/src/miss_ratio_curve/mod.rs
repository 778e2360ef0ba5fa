//! Miss ratio curves: the share of the accesses of a trace that a cache of each size would miss.
//!
//! ```text
//!  miss ratio  1 ┤▔▔▔╲
//!                │    ╲____            reads:  a cache of the blocks that are read
//!                │         ╲_______    writes: a cache of the blocks that are written; 1 - miss ratio is the share
//!                │      first uses             of writes that it absorbs
//!              0 ┼──────────────────   both:   one cache of all blocks
//!                      size
//! ```
//!
//! A request is one access to each block that it covers, whole or in part, in ascending order. The first access to a block
//! is a miss at every size. There are three separate caches: *reads* sees only reads, *writes* only writes, *both* sees all
//! requests. A hit of *writes* is a write to a block in the cache: it is absorbed, and one block write less reaches the
//! disks. This is an upper bound for a write cache of this size and replacement policy: water marks, idle-time destage,
//! flushes and drains remove blocks sooner.
//!
//! | policy    | without a sample                        | with a sample                                        |
//! |-----------|-----------------------------------------|------------------------------------------------------|
//! | LRU       | stack distances, exact, one pass for all sizes | SHARDS at a fixed rate, with its count correction  |
//! | any other | full simulation, one per size           | miniature simulation: sample and cache scaled alike  |
//!
//! The count correction: a sample at `rate` R has more or fewer than R N of the N accesses, chiefly because the most used
//! blocks are in it or not; the difference is counted as hits (SHARDS-adj). The error: the sample is split by hash into ten
//! disjoint parts, and the curve is computed ten times without one of them (delete-a-group jackknife). The half width of
//! the interval is Student's t with nine degrees of freedom (95 %) times the standard error of these. It covers the
//! sampling of blocks; it is too narrow if a block with a large share of all accesses is not in the sample.
//!
//! Assumes blocks of one size. Sizes below [`LEAST_SCALED`] / R blocks are an error: a smaller miniature is too coarse.
//!
//! Cost: LRU one pass, see [`StackDistances`]; a sample one hash per access, then eleven times the cost of its own accesses;
//! simulation one pass per size.
//!
//! 1. R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger: Evaluation techniques for storage hierarchies, IBM Systems
//!    Journal 9(2), 1970.
//! 2. C. A. Waldspurger, N. Park, A. Garthwaite, I. Ahmad: Efficient MRC construction with SHARDS, FAST 2015.
//! 3. C. A. Waldspurger, T. Saemundsson, I. Ahmad, N. Park: Cache modeling and optimization using miniature simulations,
//!    USENIX ATC 2017.

mod accesses;
mod sample;
mod stack_distances;

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use accesses::only_side;
pub use accesses::{Side, accesses};
pub use sample::Sample;
use sample::{PARTS, Sampled};
use stack_distances::StackDistances;

use crate::metrics::two_sided;
use crate::replacement::Policy;
use crate::trace::Trace;
use crate::units::Sectors;

/// Minimum blocks of a cache that is scaled down to a sample.
pub const LEAST_SCALED: f64 = 10.0;
/// The probability that an interval covers.
const LEVEL: f64 = 0.95;
/// Points of a curve per doubling of the size, without given sizes.
const STEPS: u32 = 4;
const STEPS_SIMULATED: u32 = 1;

/// Which curves to compute.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveOptions {
    /// Block of the cache \[sectors\], at least 1.
    pub block: Sectors,
    /// Replacement policy.
    pub policy: Policy,
    /// Which blocks to sample; all if none.
    pub sample: Option<Sample>,
    /// Sizes of the cache \[blocks\]; steps up to the footprint if none.
    pub sizes: Option<Vec<u64>>,
}

/// Why curves cannot be computed. All are fatal.
#[derive(Clone, Copy, Debug, PartialEq, Error, Serialize)]
#[serde(untagged)]
pub enum CurveError {
    /// A block without sectors.
    #[error("0 sectors; must be 1 or more")]
    BadBlock,
    /// A sampling rate out of range.
    #[error("{rate}; must be above 0 and at most 1")]
    BadRate {
        /// The rate.
        rate: f64,
    },
    /// A cache that is too small.
    #[error("{blocks} blocks; must be at least {least}{}", if *least > 1 { ", ten blocks of the sample" } else { "" })]
    SizeTooSmall {
        /// The size \[blocks\].
        blocks: u64,
        /// The least size allowed \[blocks\].
        least: u64,
    },
}

impl CurveError {
    /// The error code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BadBlock => "trace.bad-block-size",
            Self::BadRate { .. } => "trace.bad-sampling-rate",
            Self::SizeTooSmall { .. } => "trace.bad-cache-size",
        }
    }

    /// The option.
    pub const fn place(&self) -> &'static str {
        match self {
            Self::BadBlock => "block",
            Self::BadRate { .. } => "rate",
            Self::SizeTooSmall { .. } => "sizes",
        }
    }

    /// The fields, as a JSON object; null without fields.
    pub fn data(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// The misses of a cache of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Size of the cache \[blocks\].
    pub blocks: u64,
    /// Share of the accesses that miss.
    pub miss_ratio: f64,
    /// Half the width of the 95 % interval of the exact miss ratio; none if it is exact.
    pub half_width: Option<f64>,
}

/// The miss ratio curve of one side of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Whose accesses.
    pub side: Side,
    /// Accesses to blocks.
    pub accesses: u64,
    /// Distinct blocks accessed; an estimate for a sample.
    pub distinct: u64,
    /// Misses by size, ascending; empty without an access.
    pub points: Vec<Point>,
}

impl Curve {
    /// The curve of a side without an access.
    const fn empty(side: Side) -> Self {
        Self { side, accesses: 0, distinct: 0, points: Vec::new() }
    }
}

/// The curves of reads, writes and both.
///
/// # Errors
/// The block has no sectors, the rate is out of range, or a size is too small.
pub fn miss_ratio_curves(trace: &Trace, options: &CurveOptions) -> Result<[Curve; 3], CurveError> {
    if options.block.0 == 0 {
        return Err(CurveError::BadBlock);
    }
    let mut least = 1;
    if let Some(Sample { rate, .. }) = options.sample {
        if !(rate > 0.0 && rate <= 1.0) {
            return Err(CurveError::BadRate { rate });
        }
        least = (LEAST_SCALED / rate).ceil() as u64;
    }
    let mut sizes = options.sizes.clone();
    if let Some(sizes) = &mut sizes {
        sizes.sort_unstable();
        sizes.dedup();
        if let Some(&blocks) = sizes.first()
            && blocks < least
        {
            return Err(CurveError::SizeTooSmall { blocks, least });
        }
    }
    let passes = first_passes(trace, options);
    let most = passes.iter().map(|pass| pass.distinct).max().unwrap_or(1).max(least);
    let steps = if options.policy == Policy::Lru { STEPS } else { STEPS_SIMULATED };
    let sizes = sizes.unwrap_or_else(|| log_sizes(least, most, steps));
    let curves: Vec<_> = passes.iter().map(|pass| pass.curve(trace, options, &sizes)).collect();
    Ok([Side::Reads, Side::Writes, Side::Both].map(|side| {
        let alike = curves.iter().find(|curve| curve.side == side || side == Side::Both);
        alike.map_or(Curve::empty(side), |curve| Curve { side, ..curve.clone() })
    }))
}

/// The first passes over all three sides, both first; if one side has all requests, over that side only.
fn first_passes(trace: &Trace, options: &CurveOptions) -> Vec<FirstPass> {
    let sides =
        only_side(trace).map_or_else(|| vec![Side::Both, Side::Reads, Side::Writes], |side| vec![side]);
    let whole = options.sample.map(|sample| (sample, Sampled::new(sample, trace, options.block)));
    let pass = |side| match &whole {
        None => FirstPass::exact(accesses(trace, side, options.block), side),
        Some((sample, sampled)) => FirstPass::sampled(*sample, sampled.of(side), side),
    };
    sides.into_iter().map(pass).collect()
}

/// Sizes from `least` to `most`, both included, with `steps` per doubling and all powers of two.
fn log_sizes(least: u64, most: u64, steps: u32) -> Vec<u64> {
    let mut sizes = vec![least];
    for octave in 0..63 {
        for step in 0..steps {
            let size = libm::round(libm::exp2(f64::from(octave) + f64::from(step) / f64::from(steps))) as u64;
            if size > least && size < most && sizes.last() != Some(&size) {
                sizes.push(size);
            }
        }
    }
    if most > least {
        sizes.push(most);
    }
    sizes
}

/// A histogram of stack distances.
#[derive(Debug, Default)]
struct DistanceHistogram {
    /// Including first uses.
    accesses: u64,
    distinct: usize,
    counts: Vec<u64>,
}

impl DistanceHistogram {
    fn new(keys: impl IntoIterator<Item = u64>) -> Self {
        let mut distances = Self::default();
        let mut stack = StackDistances::default();
        stack.access(keys, |distance| {
            distances.accesses += 1;
            if let Some(distance) = distance {
                if distance >= distances.counts.len() {
                    distances.counts.resize(distance + 1, 0);
                }
                distances.counts[distance] += 1;
            }
        });
        distances.distinct = stack.distinct();
        distances
    }

    /// Hits of caches of `sizes`, ascending.
    fn hits(&self, sizes: impl Iterator<Item = f64>) -> Vec<u64> {
        let mut counts = self.counts.iter().enumerate().peekable();
        let mut hits = 0;
        sizes
            .map(|size| {
                while let Some((_, count)) = counts.next_if(|&(distance, _)| (distance as f64) < size) {
                    hits += count;
                }
                hits
            })
            .collect()
    }
}

/// The first pass over one side of a trace.
struct FirstPass {
    side: Side,
    accesses: u64,
    distinct: u64,
    sampled: Option<(Sample, Sampled)>,
    distances: DistanceHistogram,
}

impl FirstPass {
    fn exact(keys: impl Iterator<Item = u64>, side: Side) -> Self {
        let distances = DistanceHistogram::new(keys);
        let (accesses, distinct) = (distances.accesses, distances.distinct as u64);
        Self { side, accesses, distinct, sampled: None, distances }
    }

    fn sampled(sample: Sample, sampled: Sampled, side: Side) -> Self {
        let distances = DistanceHistogram::new(sampled.without(None));
        let distinct = libm::round(distances.distinct as f64 / sample.rate) as u64;
        Self { side, accesses: sampled.accesses(), distinct, sampled: Some((sample, sampled)), distances }
    }

    fn curve(&self, trace: &Trace, options: &CurveOptions, sizes: &[u64]) -> Curve {
        let points = match &self.sampled {
            _ if self.accesses == 0 => Vec::new(),
            None => self.count_misses(trace, options, sizes),
            Some((sample, sampled)) => self.estimate(*sample, sampled, options.policy, sizes),
        };
        Curve { side: self.side, accesses: self.accesses, distinct: self.distinct, points }
    }

    fn count_misses(&self, trace: &Trace, options: &CurveOptions, sizes: &[u64]) -> Vec<Point> {
        let policy = options.policy;
        let hits = if policy == Policy::Lru {
            self.distances.hits(sizes.iter().map(|&size| size as f64))
        } else {
            let keys = || accesses(trace, self.side, options.block);
            sizes
                .iter()
                .map(|&size| policy.count_hits(policy.room(size as usize, None, None), keys()))
                .collect()
        };
        let share = |hits| (self.accesses - hits) as f64 / self.accesses as f64;
        sizes
            .iter()
            .zip(hits)
            .map(|(&blocks, hits)| Point { blocks, miss_ratio: share(hits), half_width: None })
            .collect()
    }

    fn estimate(&self, sample: Sample, sampled: &Sampled, policy: Policy, sizes: &[u64]) -> Vec<Point> {
        let whole = self.miss_ratios(sample.rate, sampled, None, policy, sizes);
        let parts = f64::from(PARTS);
        let rate = sample.rate * (1.0 - 1.0 / parts);
        let without: Vec<Vec<f64>> =
            (0..PARTS).map(|part| self.miss_ratios(rate, sampled, Some(part), policy, sizes)).collect();
        let t = two_sided(LEVEL, u32::from(PARTS) - 1);
        let point = |(index, &blocks): (usize, &u64)| {
            let mean = without.iter().map(|ratios| ratios[index]).sum::<f64>() / parts;
            let squares: f64 =
                without.iter().map(|ratios| (ratios[index] - mean) * (ratios[index] - mean)).sum();
            let half_width = t * ((parts - 1.0) / parts * squares).sqrt();
            Point { blocks, miss_ratio: whole[index].clamp(0.0, 1.0), half_width: Some(half_width) }
        };
        sizes.iter().enumerate().map(point).collect()
    }

    /// The miss ratios of a sample without one of its parts; the count correction may move them beyond 0 and 1.
    fn miss_ratios(
        &self,
        rate: f64,
        sampled: &Sampled,
        part: Option<u8>,
        policy: Policy,
        sizes: &[u64],
    ) -> Vec<f64> {
        let scaled = sizes.iter().map(|&size| size as f64 * rate);
        let hits: Vec<u64> = if policy != Policy::Lru {
            let room = |size| policy.room((libm::round(size) as usize).max(1), None, None);
            scaled.map(|size| policy.count_hits(room(size), sampled.without(part))).collect()
        } else if part.is_none() {
            self.distances.hits(scaled)
        } else {
            DistanceHistogram::new(sampled.without(part)).hits(scaled)
        };
        let expected = self.accesses as f64 * rate;
        let missing = expected - sampled.without(part).count() as f64;
        hits.iter().map(|&hits| 1.0 - (hits as f64 + missing) / expected).collect()
    }
}

#[cfg(test)]
mod tests;
