//! What can go wrong in a run.

use thiserror::Error;

use crate::config::Issue;
use crate::trace::TraceError;
use crate::units::SimTime;

/// Why a run gave no result. None is fatal for other runs.
#[derive(Debug, Error)]
pub enum RunError {
    /// The configuration breaks a rule.
    #[error("{}", describe(.0))]
    Configuration(Vec<Issue>),
    /// The trace cannot be replayed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The trace that a stream names was not handed over.
    #[error("workload.streams: trace {name} is not loaded")]
    TraceMissing {
        /// The trace's digest, or its file name.
        name: String,
    },
    /// The trace reaches beyond the array.
    #[error(
        "workload.streams[{stream}].arrival.map: the trace reaches {needed} bytes and the array holds {capacity}; allowed besides `error`: wrap, compact"
    )]
    TraceBeyondArray {
        /// Index of the stream.
        stream: usize,
        /// Highest byte that the trace touches.
        needed: u64,
        /// Capacity of the array [bytes].
        capacity: u64,
    },
    /// Every request takes no time, so that simulated time stands still.
    #[error(
        "workload: at {at_ns} ns every request takes no time, and time stands still; give controller.link.command_overhead, controller.firmware.command_time or a think time"
    )]
    Standstill {
        /// The simulated moment [ns].
        at_ns: u64,
    },
    /// The limit of events was reached before the window ended.
    #[error(
        "run.max_events: {events} events reached {at_ns} ns and {requests} requests, and the run is not over; allow more, or ask for a shorter window"
    )]
    EventLimit {
        /// Events simulated.
        events: u64,
        /// The simulated moment [ns].
        at_ns: u64,
        /// Requests completed.
        requests: u64,
    },
    /// Simulated time has run out of bounds.
    #[error(
        "run: more than {} years passed in the simulation, and the run is not over after {requests} requests; shorten what takes so long",
        SimTime::END.0 / (365 * 86_400 * 1_000_000_000)
    )]
    EndOfTime {
        /// Requests completed.
        requests: u64,
    },
    /// Requests are outstanding and nothing can happen.
    #[error("deadlock at {at_ns} ns: {state}")]
    Deadlock {
        /// The simulated moment [ns].
        at_ns: u64,
        /// What was waiting for what.
        state: String,
    },
}

impl RunError {
    /// The short name of the kind, as the result column `error_kind` has it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Configuration(_) | Self::Standstill { .. } => "configuration",
            Self::Trace(_) | Self::TraceMissing { .. } | Self::TraceBeyondArray { .. } => "trace",
            Self::Deadlock { .. } => "deadlock",
            Self::EventLimit { .. } | Self::EndOfTime { .. } => "limit",
        }
    }
}

fn describe(issues: &[Issue]) -> String {
    let lines: Vec<_> = issues.iter().map(|issue| format!("{}: {}", issue.path, issue.message)).collect();
    lines.join("; ")
}
