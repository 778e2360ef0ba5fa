//! The host's processors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Processors of the host, which all users share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Processor cores. An interaction runs on one core at a time.
    #[schemars(range(min = 1, max = 4096))]
    pub cores: u32,
    /// Assignment of the cores to interactions.
    #[serde(default)]
    pub scheduling: Scheduling,
}

/// Assignment of processor cores to interactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// All interactions progress at the same speed (processor sharing), as under an operating system with short time slices.
    #[default]
    Shared,
    /// First come, first served: an interaction keeps its core until its demand is met.
    Fcfs,
}
