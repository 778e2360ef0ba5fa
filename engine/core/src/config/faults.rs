//! What goes wrong during a run, and when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::SimDuration;

/// Something that goes wrong, or is done about it, at a moment of the run. `at` counts from the start of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// The mains fail: the array stops, and what the battery holds is all that is left of the dirty data. When they are
    /// back, the cache is flushed to the disks, and then the hosts start again.
    MainsLost {
        /// When.
        at: SimDuration,
        /// How long the mains are gone.
        #[schemars(extend("minimum" = 1))]
        duration: SimDuration,
    },
    /// The battery fails for good.
    BatteryFails {
        /// When.
        at: SimDuration,
    },
    /// A learn cycle: the battery is discharged and charged again, as soon as it is full.
    LearnCycle {
        /// When.
        at: SimDuration,
    },
    /// A disk fails for good. A hot spare, where there is one left, takes its place.
    DiskFails {
        /// When.
        at: SimDuration,
        /// Name of the array; the first where it is not given.
        #[serde(default)]
        array: Option<String>,
        /// The disk, counted from 0.
        disk: u32,
    },
    /// A new disk is put in the place of the one that failed first, and its rebuild starts.
    RebuildStarts {
        /// When.
        at: SimDuration,
        /// Name of the array; the first where it is not given.
        #[serde(default)]
        array: Option<String>,
    },
}

impl Fault {
    /// When it happens, from the start of the run.
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
