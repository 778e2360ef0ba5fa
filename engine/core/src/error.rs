//! Why a run failed.

use std::fmt;

use crate::interruption::Interruption;
use crate::issue::Issue;
use crate::trace::TraceError;
use crate::units::SimTime;

/// Why a run failed. No error affects other runs.
#[derive(Debug)]
pub enum RunError {
    /// The configuration breaks rules.
    Configuration(Vec<Issue>),
    /// The trace cannot be replayed.
    Trace(TraceError),
    /// The trace of a stream was not passed to the run.
    TraceNotLoaded {
        /// Index of the stream.
        stream: usize,
        /// The trace's digest, or its file name.
        name: String,
    },
    /// The trace has addresses beyond the array.
    TraceBeyondArray {
        /// Index of the stream.
        stream: usize,
        /// End of the highest request \[bytes\].
        needed: u64,
        /// Capacity of the array \[bytes\].
        capacity: u64,
    },
    /// Requests complete without simulated time passing.
    Standstill {
        /// Simulated time \[ns\].
        at_ns: u64,
    },
    /// The requests of the window took no simulated time.
    NoTime {
        /// Requests of the window.
        requests: u64,
    },
    /// The run reached its maximum number of events.
    EventLimit {
        /// Events simulated.
        events: u64,
        /// Simulated time \[ns\].
        at_ns: u64,
        /// Requests completed.
        requests: u64,
    },
    /// The run reached the end of simulated time.
    EndOfTime {
        /// Requests completed.
        requests: u64,
    },
    /// The run was ended from outside.
    Interrupted(Interruption),
    /// Requests are outstanding and no event can complete them.
    Deadlock {
        /// Simulated time \[ns\].
        at_ns: u64,
        /// What waits for what.
        state: String,
    },
}

/// Longest run \[years\].
const YEARS: u64 = SimTime::END.0 / (365 * 86_400 * 1_000_000_000);

impl RunError {
    /// The kind of error, as in the result column `error_kind`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Configuration(_) | Self::Standstill { .. } | Self::NoTime { .. } => "configuration",
            Self::Trace(_) | Self::TraceNotLoaded { .. } | Self::TraceBeyondArray { .. } => "trace",
            Self::Deadlock { .. } => "deadlock",
            Self::EventLimit { .. } | Self::EndOfTime { .. } => "limit",
            Self::Interrupted(Interruption::TimedOut { .. }) => "timeout",
            Self::Interrupted(Interruption::Stopped) => "stopped",
        }
    }

    /// The rules that the configuration breaks, or the one reason why the run failed.
    pub fn issues(&self) -> Vec<Issue> {
        vec![match self {
            Self::Configuration(issues) => return issues.clone(),
            Self::Trace(error) => Issue::new(error.code(), error.place(), error.to_string()),
            Self::TraceNotLoaded { stream, name } => Issue::new(
                "trace.not-loaded",
                format!("workload.streams.{stream}.arrival.file"),
                format!("trace {name:?} is not loaded"),
            ),
            Self::TraceBeyondArray { stream, needed, capacity } => Issue::new(
                "trace.beyond-array",
                format!("workload.streams.{stream}.arrival.map"),
                format!(
                    "trace reaches byte {needed} of an array of {capacity} bytes; set `map` to wrap or compact, or use a larger array"
                ),
            ),
            Self::Standstill { at_ns } => Issue::new(
                "run.standstill",
                "workload",
                format!(
                    "requests take no time and simulated time stops at {at_ns} ns; set `controller.link.command_overhead`, `controller.firmware.command_time` or a think time"
                ),
            ),
            Self::NoTime { requests } => Issue::new(
                "run.no-time",
                "workload",
                format!(
                    "{requests} requests measured in no simulated time, so that rates are undefined; set `controller.link.command_overhead`, `controller.firmware.command_time` or a think time"
                ),
            ),
            Self::EventLimit { events, at_ns, requests } => Issue::new(
                "run.event-limit",
                "run.max_events",
                format!(
                    "{events} events simulated up to {at_ns} ns and {requests} requests, and the run has not ended; raise `max_events` or shorten the window"
                ),
            ),
            Self::EndOfTime { requests } => Issue::new(
                "run.end-of-time",
                "run",
                format!(
                    "more than {YEARS} years simulated and {requests} requests completed, and the run has not ended; shorten the longest times of the configuration"
                ),
            ),
            Self::Interrupted(Interruption::TimedOut { limit_ms }) => Issue::new(
                "run.timeout",
                "",
                format!(
                    "the run took longer than its time limit of {limit_ms} ms; raise the limit or shorten the window"
                ),
            ),
            Self::Interrupted(Interruption::Stopped) => {
                Issue::new("run.stopped", "", "the run was stopped before its end".to_owned())
            }
            Self::Deadlock { at_ns, state } => {
                Issue::new("run.deadlock", "", format!("deadlock at {at_ns} ns: {state}"))
            }
        }]
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.issues().iter().map(ToString::to_string).collect();
        out.write_str(&lines.join("; "))
    }
}

impl std::error::Error for RunError {}

impl From<Issue> for RunError {
    fn from(issue: Issue) -> Self {
        Self::Configuration(vec![issue])
    }
}

impl From<TraceError> for RunError {
    fn from(error: TraceError) -> Self {
        Self::Trace(error)
    }
}
