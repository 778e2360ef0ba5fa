//! The distribution of stack distances of a workload with a given hit ratio curve.
//!
//! The hit ratio of an LRU cache of C blocks is the share of the accesses whose stack distance is at most C (Mattson et
//! al. 1970). Distances drawn independently, with the curve as distribution function, therefore have exactly that curve
//! once the cache is full.

use crate::config::CurvePoint;
use crate::rng::RandomStream;

/// A distribution of stack distances in blocks; 1 is the last used block.
#[derive(Clone, Debug)]
pub struct StackDistanceDistribution {
    /// The cumulative share and the largest distance of each piece; uniform within a piece.
    pieces: Box<[(f64, u64)]>,
    /// The distance of accesses beyond the curve.
    farthest: u64,
}

impl StackDistanceDistribution {
    /// The distances of a checked `curve` over `blocks` blocks of `block` sectors.
    pub fn new(curve: &[CurvePoint], block: u64, blocks: u64) -> Self {
        let piece = |point: &CurvePoint| (point.hit_ratio.0, point.size.sectors().0 / block);
        Self { pieces: curve.iter().map(piece).collect(), farthest: blocks }
    }

    /// Draws a distance.
    #[inline]
    pub fn draw(&self, stream: &mut RandomStream) -> u64 {
        let draw = stream.unit();
        let piece = self.pieces.partition_point(|&(sum, _)| sum <= draw);
        let Some(&(_, to)) = self.pieces.get(piece) else { return self.farthest };
        let from = piece.checked_sub(1).map_or(0, |before| self.pieces[before].1);
        1 + from + stream.below(to - from)
    }
}
