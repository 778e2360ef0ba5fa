//! Discrete-event simulation of disk arrays behind a controller with a battery-backed write cache.
//!
//! [`simulate`] runs one [`Scenario`] and returns one row. The crate reads no clock, opens no file and draws random
//! numbers only from the seed: the same scenario gives the same bytes on every machine.
#![forbid(unsafe_code)]

mod battery;
pub mod config;
mod destage;
pub mod disk;
mod divisor;
mod error;
mod event;
mod issue;
pub mod metrics;
pub mod miss_ratio_curve;
mod pipe;
pub mod raid;
mod read_ahead;
mod read_cache;
pub mod replacement;
mod rng;
mod simulation;
mod slab;
mod slot_table;
pub mod synthesis;
pub mod trace;
pub mod units;
mod validation;
pub mod workload;
mod write_cache;

pub use config::Scenario;
pub use error::RunError;
pub use issue::Issue;
pub use simulation::{Column, Outcome, Status, TraceStore, Value, columns, record, simulate};
#[cfg(any(test, feature = "mutations"))]
pub use simulation::{Mutation, simulate_mutant};

/// Version of the results, which rises when the same scenario gives another row.
pub const RESULTS_VERSION: u32 = 3;
