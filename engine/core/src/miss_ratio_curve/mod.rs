//! Miss ratio curves: what share of the accesses of a trace a cache of each size would miss.
//!
//! ```text
//!  miss ratio  1 ┤▔▔▔╲
//!                │    ╲____            reads:  a cache of the blocks that are read
//!                │         ╲_______    writes: a cache of the blocks that are written; 1 - miss ratio is the share
//!                │      first uses         of overwrites that it absorbs
//!              0 ┼──────────────────   both:   one cache of all blocks
//!                      size
//! ```
//!
//! A request is one access to each block that it covers, in ascending order, whole or in part. A block's first access is a
//! miss at every size. Three caches are looked at, each with blocks of its own: *reads* sees the reads alone, *writes* the
//! writes alone, *both* sees all. A hit of *writes* is a write to a block that the cache still holds: it is absorbed,
//! and one block write less reaches the disks. That is the most that a write cache of this size can absorb under this
//! replacement policy: water marks, idle-time destage, flushes and drains take blocks out sooner.
//!
//! | policy    | without a sample                        | with a sample                                        |
//! |-----------|-----------------------------------------|------------------------------------------------------|
//! | LRU       | stack distances, exact, one pass for all sizes | SHARDS at a fixed rate, with its count correction  |
//! | any other | simulation in full, one for each size   | miniature simulation: sample and cache scaled alike  |
//!
//! The count correction: a sample at `rate` R holds more or fewer than the share R of the N accesses, chiefly because the
//! most used blocks are in it or not; the difference is counted as hits (SHARDS-adj). The error: the sample is split by hash
//! into ten disjoint parts; the curve is worked out ten times without one of them (delete-a-group jackknife), and the
//! half width of the interval is Student's t of nine degrees (95 %) times the standard error that these give. It holds the
//! sampling of blocks; it is too small where one block has a large share of all accesses and the sample misses it.
//!
//! Assumes blocks of one size. Sizes below [`LEAST_SCALED`] / R blocks are refused: a cache of fewer blocks than that is
//! too coarse a miniature.
//!
//! Cost: LRU one pass, see [`StackDistances`]; a sample one hash for each access, then eleven times the cost of its own
//! accesses; simulation one pass for each size.
//!
//! 1. R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger: Evaluation techniques for storage hierarchies, IBM Systems
//!    Journal 9(2), 1970.
//! 2. C. A. Waldspurger, N. Park, A. Garthwaite, I. Ahmad: Efficient MRC construction with SHARDS, FAST 2015.
//! 3. C. A. Waldspurger, T. Saemundsson, I. Ahmad, N. Park: Cache modeling and optimization using miniature simulations,
//!    USENIX ATC 2017.

mod accesses;
mod sample;
mod stack_distances;
mod timeline;

use thiserror::Error;

pub use accesses::{Side, accesses};
pub use sample::Sample;
use sample::{PARTS, Sampled};
use stack_distances::StackDistances;
pub(crate) use timeline::Timeline;

use crate::metrics::two_sided;
use crate::replacement::Policy;
use crate::trace::Trace;
use crate::units::Sectors;

/// Fewest blocks of a cache that is scaled down to a sample.
pub const LEAST_SCALED: f64 = 10.0;
/// The probability that an interval covers.
const LEVEL: f64 = 0.95;
/// Points of a curve for each doubling of the size, where no sizes are given.
const STEPS: u32 = 4;
const STEPS_SIMULATED: u32 = 1;

/// What curves are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The cache's unit \[sectors\], at least 1.
    pub block: Sectors,
    /// Which block a full cache gives up.
    pub policy: Policy,
    /// Which blocks are looked at; none: all.
    pub sample: Option<Sample>,
    /// Sizes of the cache \[blocks\]; none: steps up to what the trace touches.
    pub sizes: Option<Vec<u64>>,
}

/// Why curves cannot be worked out. All are fatal.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum CurveError {
    /// A block of no size.
    #[error("block is 0 sectors; allowed is 1 or more")]
    NoBlock,
    /// A sample of nothing, or of more than everything.
    #[error("rate is {0}; allowed is above 0, at most 1")]
    BadRate(f64),
    /// A cache of no size, or too small for the sample.
    #[error("size is {blocks} blocks; allowed is {least} or more{}", if *least > 1 { ", ten blocks of the sample" } else { "" })]
    SmallSize {
        /// The size \[blocks\].
        blocks: u64,
        /// What is allowed \[blocks\].
        least: u64,
    },
}

/// The misses of a cache of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Size of the cache \[blocks\].
    pub blocks: u64,
    /// Accesses that miss, as a share of all.
    pub miss_ratio: f64,
    /// Half the width of the interval that covers the exact miss ratio with 95 %; none where it is exact.
    pub half_width: Option<f64>,
}

/// The miss ratio curve of one side of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Whose accesses.
    pub side: Side,
    /// Accesses to blocks.
    pub accesses: u64,
    /// Different blocks that are accessed; of a sample, estimated.
    pub distinct: u64,
    /// Misses by size, sizes rising; empty where there is no access.
    pub points: Vec<Point>,
}

/// The curves of reads, writes and both.
///
/// # Errors
/// The block is of no size, the rate is out of range, or a size is too small.
pub fn miss_ratio_curves(trace: &Trace, question: &Question) -> Result<[Curve; 3], CurveError> {
    if question.block.0 == 0 {
        return Err(CurveError::NoBlock);
    }
    let mut least = 1;
    if let Some(Sample { rate, .. }) = question.sample {
        if !(rate > 0.0 && rate <= 1.0) {
            return Err(CurveError::BadRate(rate));
        }
        least = (LEAST_SCALED / rate).ceil() as u64;
    }
    let mut sizes = question.sizes.clone();
    if let Some(sizes) = &mut sizes {
        sizes.sort_unstable();
        sizes.dedup();
        if let Some(&blocks) = sizes.first()
            && blocks < least
        {
            return Err(CurveError::SmallSize { blocks, least });
        }
    }
    let first = [Side::Reads, Side::Writes, Side::Both].map(|side| Seen::new(trace, question, side));
    let most = first.iter().map(|seen| seen.distinct).max().unwrap_or(1).max(least);
    let steps = if question.policy == Policy::Lru { STEPS } else { STEPS_SIMULATED };
    let sizes = sizes.unwrap_or_else(|| log_sizes(least, most, steps));
    Ok(first.map(|seen| seen.curve(trace, question, &sizes)))
}

/// Sizes from `least` to `most`, whose doublings are divided into `steps`; the powers of two are among them, and both ends.
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

/// Stack distances by how often they occur.
#[derive(Debug, Default)]
struct Distances {
    /// First uses too.
    accesses: u64,
    distinct: usize,
    counts: Vec<u64>,
}

impl Distances {
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

    /// Hits of caches of `sizes`, which rise.
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

/// What the first pass over one side of a trace has seen.
struct Seen {
    side: Side,
    accesses: u64,
    distinct: u64,
    sampled: Option<(Sample, Sampled)>,
    distances: Distances,
}

impl Seen {
    fn new(trace: &Trace, question: &Question, side: Side) -> Self {
        let keys = accesses(trace, side, question.block);
        let Some(sample) = question.sample else {
            let distances = Distances::new(keys);
            let (accesses, distinct) = (distances.accesses, distances.distinct as u64);
            return Self { side, accesses, distinct, sampled: None, distances };
        };
        let sampled = Sampled::new(sample, keys);
        let distances = Distances::new(sampled.without(None));
        let distinct = libm::round(distances.distinct as f64 / sample.rate) as u64;
        Self { side, accesses: sampled.accesses, distinct, sampled: Some((sample, sampled)), distances }
    }

    fn curve(&self, trace: &Trace, question: &Question, sizes: &[u64]) -> Curve {
        let points = match &self.sampled {
            _ if self.accesses == 0 => Vec::new(),
            None => self.exact(trace, question, sizes),
            Some((sample, sampled)) => self.estimate(*sample, sampled, question.policy, sizes),
        };
        Curve { side: self.side, accesses: self.accesses, distinct: self.distinct, points }
    }

    fn exact(&self, trace: &Trace, question: &Question, sizes: &[u64]) -> Vec<Point> {
        let policy = question.policy;
        let hits = if policy == Policy::Lru {
            self.distances.hits(sizes.iter().map(|&size| size as f64))
        } else {
            let keys = || accesses(trace, self.side, question.block);
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

    /// The miss ratios that a sample gives without one of its parts; its count correction may carry them beyond 0 and 1.
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
            Distances::new(sampled.without(part)).hits(scaled)
        };
        let expected = self.accesses as f64 * rate;
        let missing = expected - sampled.without(part).count() as f64;
        hits.iter().map(|&hits| 1.0 - (hits as f64 + missing) / expected).collect()
    }
}

#[cfg(test)]
mod tests;
