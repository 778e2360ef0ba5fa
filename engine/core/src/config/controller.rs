//! The array controller: cache, battery, host link, firmware.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bandwidth, Bytes, Fraction, SimDuration};

/// An array controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Controller {
    /// The cache memory and how it is used.
    pub cache: Cache,
    /// The battery that protects dirty data.
    pub battery: Battery,
    /// The link to the host.
    pub link: Link,
    /// The firmware processor.
    pub firmware: Firmware,
    /// Commands that the controller accepts at a time; further ones wait at the host. No limit where it is not given.
    #[schemars(range(min = 1))]
    pub outstanding_limit: Option<u32>,
}

/// The cache memory and how it is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cache {
    /// Nominal size of the cache memory; 0 for none.
    pub capacity: Bytes,
    /// What is left for data; where it is not given, max(capacity / 2, capacity - 32 MB - 6 % of capacity).
    pub usable: Option<Bytes>,
    /// Share of the usable memory that holds written data; the rest holds data that was read.
    pub write_fraction: Fraction,
    /// Size of a cache line: a power of two from 512 bytes to 32 KiB.
    pub line: Bytes,
    /// The read side.
    pub read: ReadCache,
    /// The write side.
    pub write: WriteCache,
}

impl Default for Cache {
    fn default() -> Self {
        Self {
            capacity: Bytes(0),
            usable: None,
            write_fraction: Fraction(0.0),
            line: Bytes(8 << 10),
            read: ReadCache::default(),
            write: WriteCache::default(),
        }
    }
}

/// The read side of the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadCache {
    /// What is kept.
    pub mode: ReadMode,
    /// Sequential read-ahead; none where it is null.
    pub read_ahead: Option<ReadAhead>,
}

impl Default for ReadCache {
    fn default() -> Self {
        Self { mode: ReadMode::PrefetchOnly, read_ahead: Some(ReadAhead::default()) }
    }
}

/// What the read cache keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadMode {
    /// Only data that was read ahead (what Smart Array controllers do).
    PrefetchOnly,
    /// All data that was read, least recently used line out first.
    Cached,
}

/// Sequential read-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadAhead {
    /// Consecutive sequential reads that start the read-ahead.
    #[schemars(range(min = 1, max = 100))]
    pub trigger: u32,
    /// Data read at a time beyond what was asked for.
    pub size: Bytes,
}

impl Default for ReadAhead {
    fn default() -> Self {
        Self { trigger: 2, size: Bytes(128 << 10) }
    }
}

/// The write side of the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WriteCache {
    /// When a write is acknowledged.
    pub policy: WritePolicy,
    /// Dirty share of the write cache at which destage starts.
    pub high_water: Fraction,
    /// Dirty share of the write cache at which destage stops.
    pub low_water: Fraction,
    /// Stripes that are destaged at a time, for each disk of the array.
    #[schemars(range(min = 1, max = 256))]
    pub destage_depth: u32,
    /// Whether a disk serves waiting foreground I/Os before destage I/Os, as long as no write is stalled.
    pub yield_to_reads: bool,
}

impl Default for WriteCache {
    fn default() -> Self {
        Self {
            policy: WritePolicy::WriteBack,
            high_water: Fraction(0.8),
            low_water: Fraction(0.6),
            destage_depth: 4,
            yield_to_reads: true,
        }
    }
}

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WritePolicy {
    /// When it is in the protected cache.
    WriteBack,
    /// When it is on the media.
    WriteThrough,
}

/// The battery that protects dirty data. Charge rises linearly from empty to full in `charge_time`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Battery {
    /// Whether there is one, and whether it is charged.
    pub state: BatteryState,
    /// Charge at the start of the run where the state is `charging`, as a share of full.
    pub charge: Fraction,
    /// Write-back is allowed from this charge on (HP 4AA0-8805ENW: 79 %).
    pub threshold: Fraction,
    /// Time from empty to full (HP 4AA0-8805ENW: up to four hours).
    pub charge_time: SimDuration,
    /// Write back without protection: faster, and the data at risk are counted.
    pub allow_without_battery: bool,
}

impl Default for Battery {
    fn default() -> Self {
        Self {
            state: BatteryState::Absent,
            charge: Fraction(1.0),
            threshold: Fraction(0.79),
            charge_time: SimDuration(4 * 3600 * 1_000_000_000),
            allow_without_battery: false,
        }
    }
}

/// Whether there is a battery, and whether it is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatteryState {
    /// Fitted and charged.
    Present,
    /// Not fitted.
    Absent,
    /// Fitted and charging: write-through until the charge reaches the threshold.
    Charging,
}

/// The link between host and controller: one transfer at a time, in order of request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Link {
    /// Data rate; no limit where it is not given.
    pub bandwidth: Option<Bandwidth>,
    /// Time on the link for each command besides its data.
    pub command_overhead: SimDuration,
}

/// The firmware processor: one command at a time, in order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Firmware {
    /// Processor time for each host command.
    pub command_time: SimDuration,
}
