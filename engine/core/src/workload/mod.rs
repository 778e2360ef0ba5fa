//! The workload: which requests are issued, where they go and when.

mod address;
mod approximate_zipf;
mod b_model;
mod command;
#[cfg(test)]
mod counts;
mod gaps;
mod lru_stack;
mod mmpp;
mod pace;
mod permutation;
mod placement;
mod requests;
mod reuse_walk;
mod source;
mod stack_distance_distribution;
mod zipf;

pub use address::{AddressModel, AddressState};
pub use command::Command;
pub use gaps::Gaps;
pub use pace::{Clock, Pace};
pub use permutation::Permutation;
pub use requests::{OperationModel, RequestModel, Requests};
pub use source::{Content, StepPlan, Synthetic, Timing, sums};

pub use crate::trace::Op;
