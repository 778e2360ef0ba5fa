//! The channels between the controller and its disks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bandwidth, SimDuration};

/// The channels between the controller and its disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum BackEnd {
    /// Parallel SCSI: disks are assigned to the buses in turn and share their bus.
    ScsiBus {
        /// Number of buses.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 16))]
        channels: u32,
        /// Data rate per bus: 160 MB/s for Ultra160, 320 MB/s for Ultra320.
        #[serde(default = "ultra_320")]
        bandwidth: Bandwidth,
        /// Bus time per command without its data: arbitration, selection, command and status.
        #[serde(default)]
        command_overhead: SimDuration,
    },
    /// Serial attached SCSI: each transfer uses the first free lane of its disk's port.
    Sas {
        /// Number of lanes.
        #[schemars(range(min = 1, max = 64))]
        lanes: u32,
        /// Wide ports into which the lanes are divided equally, each to an expander: disks are assigned to the ports in
        /// turn and share the lanes of theirs (default: 1, all disks share all lanes).
        #[serde(default = "one", skip_serializing_if = "is_one")]
        #[schemars(range(min = 1, max = 64))]
        ports: u32,
        /// Data rate per lane: 300 MB/s at 3 Gb/s (8b/10b), 600 MB/s at 6 Gb/s, 1200 MB/s at 12 Gb/s.
        #[serde(default = "three_gigabits")]
        bandwidth: Bandwidth,
        /// Lane time per command without its data.
        #[serde(default)]
        command_overhead: SimDuration,
        /// Additional time of the interface of a SATA SSD (one with `half_duplex`) per command, as its commands are
        /// tunnelled through connections of Serial Attached SCSI.
        #[serde(default, skip_serializing_if = "SimDuration::is_zero")]
        sata_overhead: SimDuration,
        /// Additional time of that interface per write, as the device fetches the data through a connection of its own.
        #[serde(default, skip_serializing_if = "SimDuration::is_zero")]
        sata_write_overhead: SimDuration,
    },
}

impl BackEnd {
    /// Additional time of the interface of a SATA device per command, and per write beside it.
    pub(crate) const fn sata_overheads(&self) -> (SimDuration, SimDuration) {
        match self {
            Self::ScsiBus { .. } => (SimDuration::ZERO, SimDuration::ZERO),
            Self::Sas { sata_overhead, sata_write_overhead, .. } => (*sata_overhead, *sata_write_overhead),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_one(value: &u32) -> bool {
    *value == 1
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
