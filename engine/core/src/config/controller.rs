//! The array controller: cache memory, firmware, limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BackEnd, Battery, HostLink, ReadCache, WriteCache};
use crate::units::{Bandwidth, Bytes, Fraction, SECTOR_BYTES, SimDuration};

/// An array controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Controller {
    /// Cache memory and its use.
    pub cache: Cache,
    /// Battery that protects dirty data.
    pub battery: Battery,
    /// Link to the host.
    pub link: HostLink,
    /// Channels to the disks (default: unlimited).
    pub back_end: Option<BackEnd>,
    /// Input rate of the XOR engine, over old data, new data and old parity (default: unlimited).
    pub xor_bandwidth: Option<Bandwidth>,
    /// Largest disk I/O into which adjacent strips of one request, or of the full stripes of one destage, are merged; a
    /// single strip that is longer is not divided.
    #[schemars(extend("minimum" = SECTOR_BYTES, "maximum" = 32 << 20))]
    pub merge_limit: Bytes,
    /// Firmware processor.
    pub firmware: Firmware,
    /// Maximum outstanding commands; further ones wait at the host (default: unlimited).
    #[schemars(range(min = 1))]
    pub outstanding_limit: Option<u32>,
}

impl Default for Controller {
    fn default() -> Self {
        Self {
            cache: Cache::default(),
            battery: Battery::default(),
            link: HostLink::default(),
            back_end: None,
            xor_bandwidth: None,
            merge_limit: Bytes(256 << 10),
            firmware: Firmware::default(),
            outstanding_limit: None,
        }
    }
}

/// Cache memory and its use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cache {
    /// Nominal size of the cache memory; 0 for no cache.
    pub capacity: Bytes,
    /// Memory available for data (default: max(capacity / 2, capacity - 32 MB - 6 % of capacity)).
    pub usable: Option<Bytes>,
    /// Share of the usable memory for written data; the rest is for read data.
    pub write_fraction: Fraction,
    /// Size of a cache line: a power of two from 512 bytes to 32 KiB.
    pub line: Bytes,
    /// Read cache.
    pub read: ReadCache,
    /// Write cache.
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

impl Cache {
    /// Memory available for data: `usable`, or an estimate that fits real controllers, from the Smart Array 5302
    /// (96 of 128 MB) to the P816i-a (3.8 of 4 GB).
    pub fn usable_bytes(&self) -> Bytes {
        self.usable.unwrap_or_else(|| {
            let nominal = self.capacity.0 as f64;
            Bytes((0.5 * nominal).max(nominal - 32e6 - 0.06 * nominal) as u64)
        })
    }

    /// Memory for written data.
    pub fn write_bytes(&self) -> Bytes {
        let share = (self.usable_bytes().0 as f64 * self.write_fraction.0) as u64;
        Bytes(share / self.line.0 * self.line.0)
    }

    /// Memory for distinct written data: half of [`Self::write_bytes`] with a mirror.
    pub fn dirty_bytes(&self) -> Bytes {
        let copies = if self.write.mirror.is_some() { 2 } else { 1 };
        Bytes(self.write_bytes().0 / copies / self.line.0 * self.line.0)
    }

    /// Memory for read data.
    pub fn read_bytes(&self) -> Bytes {
        Bytes((self.usable_bytes().0 - self.write_bytes().0) / self.line.0 * self.line.0)
    }
}

/// The firmware processor, which handles one command or stripe at a time, first come, first served.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Firmware {
    /// Mean processor time per host command.
    pub command_time: SimDuration,
    /// Mean processor time per read (default: `command_time`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_time: Option<SimDuration>,
    /// Mean processor time per write (default: `command_time`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_time: Option<SimDuration>,
    /// Processor time per stripe whose parity is computed, or from which data is decoded, before the XOR engine.
    #[serde(skip_serializing_if = "SimDuration::is_zero")]
    pub parity_time: SimDuration,
    /// Variation of the time between commands.
    pub spread: TimeSpread,
}

impl Firmware {
    /// Sets settings without effect to their defaults.
    pub(crate) fn normalise(&mut self, has_parity: bool) {
        let differs = |time: &SimDuration| *time != self.command_time;
        self.read_time = self.read_time.filter(differs);
        self.write_time = self.write_time.filter(differs);
        if !has_parity {
            self.parity_time = SimDuration::ZERO;
        }
        if self.command_time.is_zero() && self.read_time.is_none() && self.write_time.is_none() {
            self.spread = TimeSpread::default();
        }
    }
}

/// Variation of a time about its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeSpread {
    /// Constant.
    #[default]
    Constant,
    /// Exponential, as closed-form queueing models assume.
    Exponential,
}
