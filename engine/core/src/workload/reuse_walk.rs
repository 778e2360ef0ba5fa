//! The hierarchical reuse random walk (B. McNutt: The Fractal Structure of Data Reference, Kluwer 2000, chapter 1; US
//! patent 7,966,347), with the rules by which SPC-1 places reads and writes in a leaf (S. Daniel, R. Faith: A portable,
//! open-source implementation of the SPC-1 workload, IISWC 2005).
//!
//! Nearby leaves are drawn more often, at every scale, while all leaves are equally frequent in the long run. Reads pass
//! through all blocks of a leaf before one comes again; writes have fewer leaves, and come again soon.

use std::cell::Cell;

use crate::config::Address;
use crate::rng::RandomStream;

/// The part of a walk that all users of a stream share.
#[derive(Clone, Debug)]
pub(super) struct ReuseWalk {
    leaves: u64,
    /// Height of the tree's root.
    height: u32,
    /// Levels climbed before chance decides.
    levels: u32,
    climb: f64,
    write_spacing: u64,
    last_read: f64,
    repeat: f64,
    /// Blocks of a leaf.
    blocks: u32,
    /// For each leaf of each footprint, the block that is read next.
    next_reads: Box<[Cell<u32>]>,
}

/// The walk of one user.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkState {
    leaf: u64,
    /// The block that the next write goes to again.
    repeated: Option<u64>,
    /// Place of the user's footprint in `next_reads`.
    first: usize,
}

impl ReuseWalk {
    /// The walk of a checked configuration over `footprint` sectors. `users` is the number of footprints if each user has
    /// its own. Precondition: `address` is a hierarchical reuse walk.
    pub fn new(address: &Address, footprint: u64, users: u32) -> Self {
        let Address::HierarchicalReuse {
            leaf,
            block,
            levels,
            climb_probability,
            write_spacing,
            last_read_fraction,
            repeat_fraction,
            per_user,
            ..
        } = address
        else {
            unreachable!("only a hierarchical reuse walk has leaves")
        };
        let leaves = footprint / leaf.sectors().0;
        let height = u64::BITS - (leaves - 1).leading_zeros();
        let footprints = if *per_user { u64::from(users) } else { 1 };
        Self {
            leaves,
            height,
            levels: (*levels).min(height),
            climb: climb_probability.0,
            write_spacing: u64::from(*write_spacing),
            last_read: last_read_fraction.0,
            repeat: repeat_fraction.0,
            blocks: (leaf.0 / block.0) as u32,
            next_reads: (0..leaves * footprints).map(|_| Cell::new(0)).collect(),
        }
    }

    /// The walk of user `user` before its first request, at a leaf drawn from `stream`.
    pub fn start(&self, user: u32, stream: &mut RandomStream) -> WalkState {
        let is_shared = self.next_reads.len() as u64 == self.leaves;
        let first = if is_shared { 0 } else { u64::from(user) * self.leaves };
        WalkState { leaf: stream.below(self.leaves), repeated: None, first: first as usize }
    }

    /// The block of the next request in the user's footprint.
    pub fn next_block(&self, at: &mut WalkState, stream: &mut RandomStream, is_write: bool) -> u64 {
        let blocks = u64::from(self.blocks);
        if is_write && let Some(block) = at.repeated.take() {
            at.leaf = block / blocks;
            return block;
        }
        at.leaf = self.next_leaf(at.leaf, stream);
        if !is_write {
            let next = &self.next_reads[at.first + at.leaf as usize];
            let block = next.get();
            next.set(if block + 1 == self.blocks { 0 } else { block + 1 });
            return at.leaf * blocks + u64::from(block);
        }
        at.leaf -= at.leaf % self.write_spacing;
        let within = if stream.unit() < self.last_read {
            let next = self.next_reads[at.first + at.leaf as usize].get();
            u64::from(if next == 0 { self.blocks - 1 } else { next - 1 })
        } else {
            stream.below(blocks)
        };
        let block = at.leaf * blocks + within;
        at.repeated = (stream.unit() < self.repeat).then_some(block);
        block
    }

    /// A uniformly random leaf below the node that a climb from `leaf` reaches.
    fn next_leaf(&self, leaf: u64, stream: &mut RandomStream) -> u64 {
        let mut height = self.levels;
        while height < self.height && stream.unit() < self.climb {
            height += 1;
        }
        let first = leaf >> height << height;
        // The last node of a level may have fewer leaves than the others.
        first + stream.below((self.leaves - first).min(1 << height))
    }
}

#[cfg(test)]
mod tests;
