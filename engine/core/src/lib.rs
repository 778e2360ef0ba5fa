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
mod interruption;
mod issue;
pub mod metrics;
pub mod miss_ratio_curve;
mod mutation;
mod pipe;
pub mod raid;
mod ranked_slots;
mod read_ahead;
mod read_cache;
pub mod replacement;
mod rng;
mod simulation;
mod slab;
mod slot_table;
pub mod synthesis;
pub mod trace;
mod transfer_rate;
pub mod units;
mod validation;
pub mod workload;
mod write_cache;

pub use config::Scenario;
pub use error::RunError;
pub use interruption::{Interrupt, Interruption, Uninterrupted};
pub use issue::Issue;
pub use simulation::{
    COLUMNS, Column, Kind, Outcome, Status, TraceStore, Value, record, simulate, simulate_interruptible,
};
pub use validation::is_within_bounds;
#[cfg(any(test, feature = "mutations"))]
pub use {mutation::Mutation, simulation::simulate_mutant};

/// Version of the results, a part of every run's identity.
///
/// It rises when an existing column gets another value for the same scenario, not when a column is added: rows stored
/// before have null there and stay valid.
pub const RESULTS_VERSION: u32 = 12;
