//! The array controller: cache memory, firmware, limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BackEnd, Battery, Link, ReadCache, WriteCache};
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
    /// The channels to the disks; no limit where it is null.
    pub back_end: Option<BackEnd>,
    /// Data that the XOR engine takes in a second, old and new data and old parity alike; no limit where it is null.
    pub xor_bandwidth: Option<Bandwidth>,
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

impl Cache {
    /// Memory that is left for data: `usable`, or by the fraction seen on real controllers, from the Smart Array 5302
    /// (96 of 128 MB) to the P816i-a (3.8 of 4 GB).
    pub fn usable_bytes(&self) -> Bytes {
        self.usable.unwrap_or_else(|| {
            let nominal = self.capacity.0 as f64;
            Bytes((0.5 * nominal).max(nominal - 32e6 - 0.06 * nominal) as u64)
        })
    }

    /// Memory that holds written data.
    pub fn write_bytes(&self) -> Bytes {
        let share = (self.usable_bytes().0 as f64 * self.write_fraction.0) as u64;
        Bytes(share / self.line.0 * self.line.0)
    }

    /// Room for written data: half of the memory that holds them where there is a second copy.
    pub fn dirty_bytes(&self) -> Bytes {
        let copies = if self.write.mirror.is_some() { 2 } else { 1 };
        Bytes(self.write_bytes().0 / copies / self.line.0 * self.line.0)
    }

    /// Memory that holds data that was read.
    pub fn read_bytes(&self) -> Bytes {
        Bytes((self.usable_bytes().0 - self.write_bytes().0) / self.line.0 * self.line.0)
    }
}

/// The firmware processor: one command at a time, in order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Firmware {
    /// Processor time for each host command.
    pub command_time: SimDuration,
    /// How the time of single commands varies about `command_time`.
    pub spread: Spread,
}

/// How times vary about their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Not at all.
    #[default]
    Constant,
    /// Exponentially: some commands take much longer than most, and closed networks of queues have a closed form.
    Exponential,
}
