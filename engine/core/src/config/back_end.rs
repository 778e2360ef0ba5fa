//! The channels between the controller and its disks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bandwidth, SimDuration};

/// The channels between the controller and its disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum BackEnd {
    /// Parallel SCSI: each bus is shared by its disks, which are dealt out to the buses in turn.
    ScsiBus {
        /// Buses.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 16))]
        channels: u32,
        /// Data rate of each: 160 MB/s for Ultra160, 320 MB/s for Ultra320.
        #[serde(default = "ultra_320")]
        bandwidth: Bandwidth,
        /// Time on the bus for each command besides its data: arbitration, selection, command and status.
        #[serde(default)]
        command_overhead: SimDuration,
    },
    /// Serial attached SCSI: point to point; a transfer takes one of the controller's lanes, whichever is free first.
    Sas {
        /// Lanes.
        #[schemars(range(min = 1, max = 64))]
        lanes: u32,
        /// Data rate of each: 300 MB/s at 3 Gb/s (8b/10b), 600 MB/s at 6 Gb/s, 1200 MB/s at 12 Gb/s.
        #[serde(default = "three_gigabits")]
        bandwidth: Bandwidth,
        /// Time on the lane for each command besides its data.
        #[serde(default)]
        command_overhead: SimDuration,
    },
}

const fn one() -> u32 {
    1
}

const fn ultra_320() -> Bandwidth {
    Bandwidth(320_000_000)
}

const fn three_gigabits() -> Bandwidth {
    Bandwidth(300_000_000)
}
