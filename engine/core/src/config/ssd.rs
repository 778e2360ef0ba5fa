//! A solid-state disk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bandwidth, Bytes, Fraction, SimDuration};

/// A solid-state disk: flash dies on channels behind a translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ssd {
    /// Capacity that the host sees; what does not fill a page of every die is left out.
    pub capacity: Bytes,
    /// Flash beyond the capacity, as a share of the capacity.
    #[serde(default = "over_provisioning")]
    pub over_provisioning: Fraction,
    /// Channels between the SSD's processor and its dies.
    #[serde(default = "eight")]
    #[schemars(range(min = 1, max = 256))]
    pub channels: u32,
    /// Dies on each channel.
    #[serde(default = "four")]
    #[schemars(range(min = 1, max = 256))]
    pub dies_per_channel: u32,
    /// Planes of a die, which are read, programmed and erased together.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16))]
    pub planes: u32,
    /// Page of one plane.
    #[serde(default = "sixteen_kib")]
    pub page: Bytes,
    /// Pages of one plane's erase block.
    #[serde(default = "pages_per_block")]
    #[schemars(range(min = 1, max = 65_536))]
    pub pages_per_block: u32,
    /// The smallest piece that the translation layer places on its own: a power of two from 512 bytes to 64 KiB, of which a page holds a whole number.
    #[serde(default = "four_kib")]
    pub mapping_unit: Bytes,
    /// Time to read a page of a die, its transfer left out.
    pub read_time: SimDuration,
    /// Time to program a page of a die, its transfer left out.
    pub program_time: SimDuration,
    /// Time to erase a block of a die.
    #[serde(default = "erase_time")]
    pub erase_time: SimDuration,
    /// Data rate of each channel; no limit where it is not given.
    #[serde(default)]
    pub channel_rate: Option<Bandwidth>,
    /// The host's side of the SSD.
    #[serde(default)]
    pub interface: SsdInterface,
    /// Time that each command takes besides, during which it keeps nothing else waiting.
    #[serde(default)]
    pub command_latency: SimDuration,
    /// Memory that holds writes on their way to the flash; sixteen pages for each die where it is not given.
    #[serde(default)]
    pub write_buffer: Option<Bytes>,
    /// Whether the write buffer survives a power cut: a write is then done when it is in the buffer, and on the flash otherwise.
    #[serde(default = "yes")]
    pub power_loss_protection: bool,
    /// Garbage collection runs while a die has fewer erased blocks.
    #[serde(default = "four")]
    #[schemars(range(min = 2, max = 65_536))]
    pub gc_low_mark: u32,
    /// What the SSD has been through before the run.
    #[serde(default)]
    pub precondition: Precondition,
}

/// The host's side of an SSD: one transfer at a time in each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SsdInterface {
    /// Data rate of reads; no limit where it is not given.
    pub read_rate: Option<Bandwidth>,
    /// Data rate of writes; no limit where it is not given.
    pub write_rate: Option<Bandwidth>,
    /// Time of the interface and the SSD's processor for each command besides its data: it bounds the I/O rate.
    pub command_overhead: SimDuration,
    /// Whether reads and writes share one direction at a time, as on SATA.
    pub half_duplex: bool,
}

/// What an SSD has been through before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precondition {
    /// Uniform random writes over its whole capacity until garbage collection was in its steady state.
    #[default]
    Random,
    /// Its whole capacity was written once, in order.
    Sequential,
    /// Nothing was ever written: a read of what has not been written does not reach the flash.
    Empty,
}

const fn over_provisioning() -> Fraction {
    Fraction(0.07)
}

const fn one() -> u32 {
    1
}

const fn four() -> u32 {
    4
}

const fn eight() -> u32 {
    8
}

const fn pages_per_block() -> u32 {
    256
}

const fn four_kib() -> Bytes {
    Bytes(4 << 10)
}

const fn sixteen_kib() -> Bytes {
    Bytes(16 << 10)
}

const fn erase_time() -> SimDuration {
    SimDuration(5_000_000)
}

const fn yes() -> bool {
    true
}
