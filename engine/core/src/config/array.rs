//! Arrays and their devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arrival::Distribution;
use super::{Disk, Ssd};
use crate::raid::{DEFAULT_GROUPS, Level, ParityUpdate};
use crate::units::{Bandwidth, Bytes};

/// A logical drive: equal devices under one RAID level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// Name, by which streams and faults refer to the array.
    #[serde(default = "array_name")]
    #[schemars(length(min = 1))]
    pub name: String,
    /// RAID level: 0, 1, 10 (1+0), 5, 6, 50 (5+0) or 60 (6+0).
    pub raid: Level,
    /// Number of devices.
    #[schemars(range(min = 1, max = 1024))]
    pub disks: u32,
    /// Parity groups of RAID 50 and 60, each with the same number of disks; unused by other levels.
    #[serde(default = "default_groups")]
    #[schemars(range(min = 2, max = 256))]
    pub groups: u32,
    /// Device: a catalogue name or its fields.
    pub disk: Device,
    /// Consecutive data on one device before the next one, a multiple of 512 bytes. Requests are split at its boundaries, unless all data is on one device or one mirrored pair.
    #[serde(default = "sixty_four_kib")]
    pub stripe_unit: Bytes,
    /// Method of updating parity.
    #[serde(default)]
    pub parity_update: ParityUpdate,
    /// Devices that have failed when the run starts, numbered from 0; the same as `disk_fails` faults at time 0.
    #[serde(default)]
    pub failed_disks: Vec<u32>,
    /// Idle spare devices that replace failed ones.
    #[serde(default)]
    #[schemars(range(max = 64))]
    pub hot_spares: u32,
    /// Rebuild of a device that replaces a failed one.
    #[serde(default)]
    pub rebuild: Rebuild,
}

/// Rebuild of a device that replaces a failed one, stripe by stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rebuild {
    /// Maximum rate at which the new device is written (default: unlimited).
    pub rate: Option<Bandwidth>,
    /// Stripes rebuilt concurrently.
    #[schemars(range(min = 1, max = 256))]
    pub depth: u32,
    /// Whether devices serve waiting host I/Os before rebuild I/Os, unless a write is stalled.
    pub yield_to_requests: bool,
}

impl Default for Rebuild {
    fn default() -> Self {
        Self { rate: None, depth: 4, yield_to_requests: true }
    }
}

/// A device that serves I/Os.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Device {
    /// A hard disk.
    Disk(Disk),
    /// An abstract server, for closed-form models or where only a service time is known.
    Server(Server),
    /// A solid-state disk.
    Ssd(Ssd),
}

impl Device {
    /// Whether it completes writes in a cache of its own that a power cut empties.
    pub fn has_volatile_cache(&self) -> bool {
        match self {
            Self::Disk(disk) => disk.buffer.as_ref().is_some_and(|buffer| buffer.write_cache),
            Self::Ssd(ssd) => ssd.write_cache && !ssd.power_loss_protection,
            Self::Server(_) => false,
        }
    }
}

/// An abstract server with one first-come-first-served queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// I/Os served concurrently.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65_536))]
    pub servers: u32,
    /// Service time of an I/O, independent of its size.
    pub service: Distribution,
    /// Capacity.
    pub capacity: Bytes,
}

fn array_name() -> String {
    "array".to_owned()
}

const fn default_groups() -> u32 {
    DEFAULT_GROUPS
}

const fn sixty_four_kib() -> Bytes {
    Bytes(64 << 10)
}

const fn one() -> u32 {
    1
}
