//! Run settings: seed, warm-up, measurement window, limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Fraction, SimDuration};

/// Run settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Root seed of all random streams.
    pub seed: u64,
    /// Replicate number, which selects other random streams.
    pub replicate: u32,
    /// Warm-up before the measurement. A trace is replayed cold by default.
    pub warm_up: WarmUp,
    /// Dirty share of the write cache after the functional warm-up (default: midway between the water marks). A load that
    /// keeps the cache full gets there sooner from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_dirty: Option<Fraction>,
    /// Measurement window.
    pub window: Window,
    /// Maximum requests of the automatic warm-up and window together.
    #[schemars(range(min = 1000))]
    pub max_requests: u64,
    /// Maximum events, after which the run fails; the default takes an hour or more.
    #[schemars(range(min = 1))]
    pub max_events: u64,
    /// Whether the run continues after the window until every dirty line is destaged.
    pub drain: bool,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            seed: 1,
            replicate: 0,
            warm_up: WarmUp::Auto,
            initial_dirty: None,
            window: Window::Auto,
            max_requests: 10_000_000,
            max_events: 20_000_000_000,
            drain: false,
        }
    }
}

/// Warm-up before the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarmUp {
    /// Functional warm-up to the target occupancy, then simulation until response time is stationary by MSER-5 and the contents of the write cache are steady: at rest, or after a whole cycle between its water marks.
    Auto,
    /// None: the run starts cold and is measured from its first request.
    None,
    /// Functional warm-up, then this number of requests.
    Requests(u64),
    /// Functional warm-up, then this simulated time.
    Duration(SimDuration),
}

/// Measurement window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// Until there are enough requests, the mean response time is known within 6 %, response time is stationary, and the write cache is at rest or has gone through three whole cycles between its water marks. A trace is measured whole.
    Auto,
    /// Until the input ends: the last trace, or without traces the last stream, all of which must end.
    Whole,
    /// This number of requests.
    Requests(u64),
    /// This simulated time.
    Duration(SimDuration),
    /// The phase of `workload.phases` with this name. Everything before it is discarded, after the functional warm-up if `warm_up` is `auto`.
    Phase(String),
}
