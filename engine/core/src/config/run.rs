//! How one run is conducted: seed, warm-up, measurement window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::SimDuration;

/// How one run is conducted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Root seed of all random streams.
    pub seed: u64,
    /// Replicate: the same configuration with other random streams.
    pub replicate: u32,
    /// What is discarded before measurement starts. A trace is replayed cold unless told otherwise.
    pub warm_up: WarmUp,
    /// What is measured.
    pub window: Window,
    /// The automatic warm-up and window give up after so many requests in all.
    #[schemars(range(min = 1000))]
    pub max_requests: u64,
    /// The run fails once so many events have been simulated, so that every run ends; the default takes an hour or more.
    #[schemars(range(min = 1))]
    pub max_events: u64,
    /// Whether the run goes on after the window until every dirty line is destaged.
    pub drain: bool,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            seed: 1,
            replicate: 0,
            warm_up: WarmUp::Auto,
            window: Window::Auto,
            max_requests: 2_000_000,
            max_events: 20_000_000_000,
            drain: false,
        }
    }
}

/// What is discarded before measurement starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarmUp {
    /// Functional warm-up to the target occupancy, then simulated time until response time and dirty fraction are stationary by MSER-5.
    Auto,
    /// Nothing: the run starts cold and is measured from its first request.
    None,
    /// Functional warm-up, then so many requests.
    Requests(u64),
    /// Functional warm-up, then so much simulated time.
    Duration(SimDuration),
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// Until there are enough requests, the write cache has turned over three times or its dirty fraction is stationary, and response time is stationary. A trace is measured whole.
    Auto,
    /// Until the input ends: the last of the traces, or, where there is none, the last of the streams, all of which must come to an end.
    Whole,
    /// So many requests.
    Requests(u64),
    /// So much simulated time.
    Duration(SimDuration),
    /// The phase of `workload.phases` with this name, from its beginning to its end. What comes before is discarded, after the functional warm-up where `warm_up` is `auto`.
    Phase(String),
}
