//! Faults during a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::SimDuration;

/// A fault, or the response to one. Times count from the start of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// Mains loss: the array stops, and only the battery preserves dirty data. When the mains return, the cache is
    /// destaged, then the hosts restart.
    MainsLost {
        /// Time.
        at: SimDuration,
        /// Duration of the mains loss.
        #[schemars(extend("minimum" = 1))]
        duration: SimDuration,
    },
    /// Permanent failure of the battery.
    BatteryFails {
        /// Time.
        at: SimDuration,
    },
    /// A learn cycle: once full, the battery is discharged and recharged.
    LearnCycle {
        /// Time.
        at: SimDuration,
    },
    /// Permanent failure of a disk. A hot spare replaces it, if one is left.
    DiskFails {
        /// Time.
        at: SimDuration,
        /// Name of the array (default: the first).
        #[serde(default)]
        array: Option<String>,
        /// Disk, numbered from 0.
        disk: u32,
    },
    /// A new disk replaces the one that failed first, and its rebuild starts.
    RebuildStarts {
        /// Time.
        at: SimDuration,
        /// Name of the array (default: the first).
        #[serde(default)]
        array: Option<String>,
    },
}

impl Fault {
    /// Time from the start of the run.
    pub const fn at(&self) -> SimDuration {
        match *self {
            Self::MainsLost { at, .. }
            | Self::BatteryFails { at }
            | Self::LearnCycle { at }
            | Self::DiskFails { at, .. }
            | Self::RebuildStarts { at, .. } => at,
        }
    }
}
