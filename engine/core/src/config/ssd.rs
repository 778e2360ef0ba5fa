//! A solid-state disk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bandwidth, Bytes, Fraction, SimDuration};

/// A solid-state disk: flash dies on channels behind a translation layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ssd {
    /// Capacity for the host, rounded down to whole pages on every die.
    pub capacity: Bytes,
    /// Additional flash, as a share of the capacity.
    #[serde(default = "over_provisioning")]
    pub over_provisioning: Fraction,
    /// Channels between the SSD's processor and its dies.
    #[serde(default = "eight")]
    #[schemars(range(min = 1, max = 256))]
    pub channels: u32,
    /// Dies per channel.
    #[serde(default = "four")]
    #[schemars(range(min = 1, max = 256))]
    pub dies_per_channel: u32,
    /// Planes per die, which are read, programmed and erased together.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16))]
    pub planes: u32,
    /// Page size of one plane.
    #[serde(default = "sixteen_kib")]
    pub page: Bytes,
    /// Pages per erase block of one plane.
    #[serde(default = "pages_per_block")]
    #[schemars(range(min = 1, max = 65_536))]
    pub pages_per_block: u32,
    /// Mapping unit of the translation layer: a power of two from 512 bytes to 64 KiB that divides the page.
    #[serde(default = "four_kib")]
    pub mapping_unit: Bytes,
    /// Time to read a page of a die, without its transfer.
    pub read_time: SimDuration,
    /// Time to program a page of a die, without its transfer.
    pub program_time: SimDuration,
    /// Time to erase a block of a die.
    #[serde(default = "erase_time")]
    pub erase_time: SimDuration,
    /// Page reads of the host that are repeated with other read voltages (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_retry: Option<ReadRetry>,
    /// Time to suspend a program or an erasure for a read (default: neither is suspended).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspension_time: Option<SimDuration>,
    /// Data rate per channel (default: unlimited).
    #[serde(default)]
    pub channel_rate: Option<Bandwidth>,
    /// Host interface.
    #[serde(default)]
    pub interface: SsdInterface,
    /// Additional latency per command, which delays no other command.
    #[serde(default)]
    pub command_latency: SimDuration,
    /// Memory for writes on their way to the flash (default: 16 pages per die).
    #[serde(default)]
    pub write_buffer: Option<Bytes>,
    /// Whether the write buffer survives a power cut; if so, a write completes in the buffer.
    #[serde(default = "yes")]
    pub power_loss_protection: bool,
    /// Whether a write completes in an unprotected buffer. Buffered writes are lost with the power; flushes and forced
    /// writes still reach the flash. Without it, and without protection, a write completes on the flash.
    #[serde(default, skip_serializing_if = "is_false")]
    pub write_cache: bool,
    /// Erased blocks per die below which garbage collection runs.
    #[serde(default = "four")]
    #[schemars(range(min = 2, max = 65_536))]
    pub gc_low_mark: u32,
    /// Time to commit the mapping of a write or flush that must reach the flash, one after another (default: none).
    #[serde(default, skip_serializing_if = "SimDuration::is_zero")]
    pub commit_time: SimDuration,
    /// State of the SSD before the run, which is unknown of most systems; the default is the one that lasts.
    #[serde(default)]
    pub precondition: Precondition,
}

impl Ssd {
    /// Sets settings without effect to their defaults.
    pub(crate) fn normalise(&mut self) {
        self.write_cache &= !self.power_loss_protection;
        if self.power_loss_protection {
            self.commit_time = SimDuration::ZERO;
        }
        self.read_retry = self.read_retry.filter(|retry| retry.share.0 > 0.0);
    }
}

/// Page reads that are repeated with other read voltages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadRetry {
    /// Share of page reads that are repeated.
    pub share: Fraction,
    /// Additional reads of each of them.
    #[schemars(range(min = 1, max = 64))]
    pub reads: u32,
}

/// Host interface of an SSD: one transfer at a time per direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SsdInterface {
    /// Data rate of reads (default: unlimited).
    pub read_rate: Option<Bandwidth>,
    /// Data rate of writes (default: unlimited).
    pub write_rate: Option<Bandwidth>,
    /// Time per command of the interface and the SSD's processor, without the data; it bounds the I/O rate.
    pub command_overhead: SimDuration,
    /// Additional time per write.
    #[serde(skip_serializing_if = "SimDuration::is_zero")]
    pub write_overhead: SimDuration,
    /// Whether reads and writes share the interface, as on SATA.
    pub half_duplex: bool,
}

/// State of an SSD before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precondition {
    /// Steady state of uniform random writes over the whole capacity.
    #[default]
    Random,
    /// The whole capacity written once, in order.
    Sequential,
    /// Never written; a read of unwritten data does not access the flash.
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_false(value: &bool) -> bool {
    !*value
}
