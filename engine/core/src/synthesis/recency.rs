//! Blocks in the order of their last use, from which one is taken by its depth.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::miss_ratio_curve::Timeline;

const FEWEST_PLACES: usize = 1 << 12;

/// The stacks of a trace.
#[derive(Debug)]
pub struct Stacks {
    /// Of reads and of writes.
    pub own: [Recency; 2],
    /// Of both together.
    pub common: Recency,
}

impl Stacks {
    /// Without blocks.
    pub fn new() -> Self {
        Self { own: [Recency::new(), Recency::new()], common: Recency::new() }
    }

    /// Uses `block` by the operation `op`: 0 reads it, 1 writes it.
    pub fn touch(&mut self, op: usize, block: u64) {
        self.own[op].touch(block);
        self.common.touch(block);
    }
}

/// An LRU stack of blocks.
#[derive(Debug)]
pub struct Recency {
    places: HashMap<u64, usize, FxBuildHasher>,
    timeline: Timeline,
    /// The block at each place of the timeline.
    blocks: Vec<u64>,
}

impl Recency {
    fn new() -> Self {
        Self { places: HashMap::default(), timeline: Timeline::new(FEWEST_PLACES), blocks: Vec::new() }
    }

    /// Whether `block` was used.
    pub fn has(&self, block: u64) -> bool {
        self.places.contains_key(&block)
    }

    /// The number of other blocks that were used since `block` was; none where it never was.
    pub fn depth(&self, block: u64) -> Option<u64> {
        let place = *self.places.get(&block)?;
        Some((self.timeline.len() - self.timeline.before(place) - 1) as u64)
    }

    /// The block at `depth`, or the deepest where there are not as many; none where there is none.
    pub fn at(&self, depth: u64) -> Option<u64> {
        let deepest = self.timeline.len().checked_sub(1)?;
        let rank = deepest - deepest.min(depth as usize);
        Some(self.blocks[self.timeline.place(rank)])
    }

    fn touch(&mut self, block: u64) {
        if self.timeline.is_full() {
            self.renumber();
        }
        let place = self.timeline.push();
        self.blocks.push(block);
        if let Some(last) = self.places.insert(block, place) {
            self.timeline.take(last);
        }
    }

    /// Gives the places that count the numbers from 0 on.
    fn renumber(&mut self) {
        let count = self.timeline.len();
        let blocks = (0..count).map(|rank| self.blocks[self.timeline.place(rank)]).collect();
        self.blocks = blocks;
        for (place, &block) in self.blocks.iter().enumerate() {
            self.places.insert(block, place);
        }
        self.timeline = Timeline::filled((4 * count).max(FEWEST_PLACES), count);
    }
}
