//! A spatial sample: all accesses to a share of the blocks, chosen by a hash of their addresses.
//!
//! All accesses to a sampled block are kept. Between two of them, the sample contains the share `rate` of the distinct
//! blocks of the trace. A sample at `rate` therefore behaves like the trace with all sizes scaled by `rate`.
//!
//! C. A. Waldspurger, N. Park, A. Garthwaite, I. Ahmad: Efficient MRC construction with SHARDS, FAST 2015.

use super::accesses::{Side, for_each_access};
use crate::trace::Trace;
use crate::units::Sectors;

/// Disjoint parts of a sample, by hash, whose differences give its error.
pub const PARTS: u8 = 10;

/// Which blocks are sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Share of the blocks, above 0 and at most 1.
    pub rate: f64,
    /// Seed of the hash: another seed samples other blocks.
    pub seed: u64,
}

/// The finalizer of `SplitMix64` (G. L. Steele, D. Lea, C. H. Flood: Fast splittable pseudorandom number generators,
/// OOPSLA 2014).
const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

/// The accesses to the blocks of a sample, in order.
#[derive(Clone, Debug, Default)]
pub struct Sampled {
    /// Accesses to all blocks, by whether they write.
    accesses: [u64; 2],
    keys: Vec<u64>,
    parts: Vec<u8>,
    writes: Vec<bool>,
}

impl Sampled {
    /// The accesses of `trace` to blocks of the sample.
    pub fn new(sample: Sample, trace: &Trace, block: Sectors) -> Self {
        let salt = mix(sample.seed.wrapping_add(0x9E37_79B9_7F4A_7C15));
        let most = (sample.rate * u64::MAX as f64) as u64;
        let mut sampled = Self::default();
        for_each_access(trace, block, |key, is_write| {
            sampled.accesses[usize::from(is_write)] += 1;
            let hash = mix(key ^ salt);
            if hash <= most {
                sampled.keys.push(key);
                sampled.parts.push((((hash & 0xFFFF_FFFF) * u64::from(PARTS)) >> 32) as u8);
                sampled.writes.push(is_write);
            }
        });
        sampled
    }

    /// The accesses of one side.
    pub fn of(&self, side: Side) -> Self {
        let mut part = Self::default();
        for is_write in [false, true].into_iter().filter(|&is_write| side.has(is_write)) {
            part.accesses[usize::from(is_write)] = self.accesses[usize::from(is_write)];
        }
        for ((&key, &number), &is_write) in self.keys.iter().zip(&self.parts).zip(&self.writes) {
            if side.has(is_write) {
                part.keys.push(key);
                part.parts.push(number);
                part.writes.push(is_write);
            }
        }
        part
    }

    /// Accesses to all blocks, sampled or not.
    pub const fn accesses(&self) -> u64 {
        self.accesses[0] + self.accesses[1]
    }

    /// The accesses, without those to the blocks of one part.
    pub fn without(&self, part: Option<u8>) -> impl Iterator<Item = u64> {
        self.keys.iter().zip(&self.parts).filter(move |&(_, &other)| part != Some(other)).map(|(&key, _)| key)
    }
}
