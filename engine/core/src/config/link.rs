//! The link between host and controller.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bandwidth, SimDuration};

/// The link between host and controller: one transfer at a time, in order of request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Link {
    /// Data rate; no limit where it is not given.
    pub bandwidth: Option<Bandwidth>,
    /// Time on the link for each command besides its data.
    pub command_overhead: SimDuration,
}
