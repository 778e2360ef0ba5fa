//! Arrays and the devices that they are made of.

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
    /// Name, by which a stream chooses its array.
    #[serde(default = "array_name")]
    #[schemars(length(min = 1))]
    pub name: String,
    /// RAID level: 0, 1, 10 (1+0), 5, 6, 50 (5+0) or 60 (6+0).
    pub raid: Level,
    /// Number of devices.
    #[schemars(range(min = 1, max = 1024))]
    pub disks: u32,
    /// Parity groups of RAID 50 and 60, which the disks fill in equal numbers; other levels have none.
    #[serde(default = "default_groups")]
    #[schemars(range(min = 2, max = 256))]
    pub groups: u32,
    /// The device, a catalogue name or its fields.
    pub disk: Device,
    /// Consecutive data on one device before the next takes over: a multiple of 512 bytes. Requests are cut there, but not where all data lie on one device or one mirrored pair.
    #[serde(default = "sixty_four_kib")]
    pub stripe_unit: Bytes,
    /// How parity is brought up to date.
    #[serde(default)]
    pub parity_update: ParityUpdate,
    /// Devices that have failed when the run starts, counted from 0: short for faults `disk_fails` at time 0.
    #[serde(default)]
    pub failed_disks: Vec<u32>,
    /// Further devices that wait, idle, to take the place of one that fails.
    #[serde(default)]
    #[schemars(range(max = 64))]
    pub hot_spares: u32,
    /// How a device that takes the place of a failed one is filled.
    #[serde(default)]
    pub rebuild: Rebuild,
}

/// How a device that takes the place of a failed one is filled, stripe by stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rebuild {
    /// Rate at which the new device is filled at most; no limit where it is not given.
    pub rate: Option<Bandwidth>,
    /// Stripes that are rebuilt at a time.
    #[schemars(range(min = 1, max = 256))]
    pub depth: u32,
    /// Whether a device serves waiting I/Os of requests before those of a rebuild, as long as no write is stalled.
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
    /// A disk with arms and platters.
    Disk(Disk),
    /// An abstract server: for closed forms, or where only a service time is known.
    Server(Server),
    /// A solid-state disk.
    Ssd(Ssd),
}

/// An abstract server with one queue in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// I/Os served at a time.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65_536))]
    pub servers: u32,
    /// Service time of one I/O, whatever its size.
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
