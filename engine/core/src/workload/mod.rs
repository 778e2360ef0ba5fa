//! The load: where requests go, what they are, when they come.

mod address;
mod b_model;
#[cfg(test)]
mod counts;
mod gaps;
mod lru_stack;
mod mmpp;
mod pace;
mod permutation;
mod placement;
mod requests;
mod source;
mod stack_distances;
mod zipf;

pub use address::{AddressModel, AddressState};
pub use b_model::BModel;
pub use gaps::Gaps;
pub use lru_stack::LruStack;
pub use mmpp::Mmpp;
pub use pace::{Clock, Pace};
pub use permutation::Permutation;
pub use requests::{OperationModel, RequestModel, Requests};
pub use source::{Content, StepPlan, Synthetic, Timing, sums};
pub use stack_distances::StackDistances;
pub use zipf::Zipf;

use crate::units::{Lba, Sectors};

pub use crate::trace::Op;

/// One host command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// What it does.
    pub operation: Op,
    /// First sector on the array; 0 for a flush.
    pub lba: Lba,
    /// Number of sectors; 0 for a flush.
    pub sectors: Sectors,
    /// Whether a write must be on stable storage before it is acknowledged.
    pub is_forced: bool,
}

impl Command {
    /// A flush.
    pub const FLUSH: Self = Self { operation: Op::Flush, lba: Lba(0), sectors: Sectors(0), is_forced: false };
}
