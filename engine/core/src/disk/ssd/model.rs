//! The part that all SSDs of one kind share, derived from a configuration.

use std::sync::Arc;

use super::steady_state::shared_steady_state;
use crate::config::{Precondition, ReadRetry, Ssd, SsdInterface};
use crate::rng::RandomStream;
use crate::units::{Bandwidth, Bytes, SECTOR_BYTES, Sectors, SimDuration};

/// Erased or open blocks per die that garbage collection needs beyond its low mark: one open for the host, one open for
/// copies, one being erased, and one so that some unit is always invalid.
const WORKING_BLOCKS: u64 = 4;

/// Default size of the write buffer in pages per die.
const BUFFERED_PAGES: u64 = 16;

/// Maximum number of blocks, and of units of one block, over all dies of an array, for which a run needs memory.
const MAX_ENTRIES: u64 = 1 << 24;

/// The part that all SSDs of one kind share.
#[derive(Clone, Debug)]
pub struct SsdModel {
    pub(super) channels: u32,
    pub(super) dies: u32,
    /// Sectors per mapping unit.
    pub(super) unit_sectors: u32,
    /// Units per page, over all planes.
    pub(super) units_per_page: u32,
    pub(super) units_per_block: u32,
    /// Units per die for the host.
    pub(super) units_per_die: u32,
    pub(super) blocks_per_die: u32,
    pub(super) read_time: SimDuration,
    pub(super) program_time: SimDuration,
    pub(super) erase_time: SimDuration,
    pub(super) read_retry: Option<ReadRetry>,
    pub(super) suspension_time: Option<SimDuration>,
    pub(super) channel_rate: Option<Bandwidth>,
    pub(super) interface: SsdInterface,
    pub(super) command_latency: SimDuration,
    /// Units of the write buffer.
    pub(super) buffer_units: u32,
    pub(super) is_protected: bool,
    /// Whether writes complete in a buffer that is lost with the power.
    pub(super) is_volatile: bool,
    /// Time of the SSD's processor and mapping table per write or flush that reaches the flash.
    pub(super) commit_time: SimDuration,
    pub(super) gc_low_mark: u32,
    pub(super) precondition: Precondition,
}

/// Error of an impossible SSD.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FlashError {
    /// The error code.
    pub code: &'static str,
    /// Parameter of the array.
    pub field: &'static str,
    message: String,
}

impl FlashError {
    fn new(code: &'static str, field: &'static str, message: String) -> Self {
        Self { code, field, message }
    }
}

impl SsdModel {
    /// Derives the flash of `disks` SSDs from a configuration.
    ///
    /// # Errors
    /// Sizes contradict each other.
    pub fn new(ssd: &Ssd, disks: u32) -> Result<Self, FlashError> {
        let unit = ssd.mapping_unit.0;
        if !unit.is_power_of_two() || !(SECTOR_BYTES..=64 << 10).contains(&unit) {
            let message = format!("{unit} bytes; allowed is a power of two from 512 bytes to 64 KiB");
            return Err(FlashError::new("scenario.not-power-of-two", "disk.mapping_unit", message));
        }
        let page = ssd.page.0;
        if page == 0 || !page.is_multiple_of(unit) || page > 1 << 20 {
            let message = format!(
                "{page} bytes; allowed is a multiple of the mapping unit of {unit} bytes, up to 1 MiB"
            );
            return Err(FlashError::new("scenario.page-not-multiple-of-unit", "disk.page", message));
        }
        let dies = u64::from(ssd.channels) * u64::from(ssd.dies_per_channel);
        let units_per_page = page / unit * u64::from(ssd.planes);
        let units_per_block = units_per_page * u64::from(ssd.pages_per_block);
        // Every die has the same number of pages; the remainder is not part of the capacity.
        let units_per_die = ssd.capacity.0 / unit / units_per_page / dies * units_per_page;
        let blocks = (units_per_die as f64 * (1.0 + ssd.over_provisioning.0) / units_per_block as f64) as u64;
        if dies > 1 << 16
            || units_per_die == 0
            || blocks * units_per_block >= 1 << 31
            || units_per_die * dies >= 1 << 31
        {
            let message = format!(
                "{} bytes on {dies} dies with pages of {} bytes; allowed are one page per die to 2^31 mapping units in all",
                ssd.capacity.0,
                units_per_page * unit
            );
            return Err(FlashError::new("scenario.ssd-capacity", "disk.capacity", message));
        }
        // Some full block must free at least a page, since the last page of a copy is padded.
        let kept = units_per_block - units_per_page + 1;
        let least = units_per_die.div_ceil(kept) + u64::from(ssd.gc_low_mark) + WORKING_BLOCKS;
        if blocks < least {
            let message = format!(
                "{} gives each die {blocks} blocks of {} bytes, and garbage collection of {units_per_die} units with `gc_low_mark: {}` needs {least}; allowed is {:.4} or more",
                ssd.over_provisioning.0,
                units_per_block * unit,
                ssd.gc_low_mark,
                (least * units_per_block) as f64 / units_per_die as f64 - 1.0
            );
            return Err(FlashError::new(
                "scenario.too-little-over-provisioning",
                "disk.over_provisioning",
                message,
            ));
        }
        let entries = (blocks + units_per_block) * dies;
        if entries * u64::from(disks) > MAX_ENTRIES {
            let message = format!(
                "{} gives {blocks} blocks of {units_per_block} units on each of {dies} dies; allowed are {MAX_ENTRIES} blocks and units per block on all dies of {disks} SSDs",
                ssd.pages_per_block
            );
            return Err(FlashError::new("scenario.too-much-memory", "disk.pages_per_block", message));
        }
        let buffer_units = ssd.buffer_bytes().0 / unit;
        if buffer_units < units_per_page || buffer_units >= 1 << 31 {
            let message = format!(
                "{} bytes; allowed is one page of all planes, {} bytes, or more",
                ssd.buffer_bytes().0,
                units_per_page * unit
            );
            return Err(FlashError::new("scenario.write-buffer-below-page", "disk.write_buffer", message));
        }
        Ok(Self {
            channels: ssd.channels,
            dies: dies as u32,
            unit_sectors: (unit / SECTOR_BYTES) as u32,
            units_per_page: units_per_page as u32,
            units_per_block: units_per_block as u32,
            units_per_die: units_per_die as u32,
            blocks_per_die: blocks as u32,
            read_time: ssd.read_time,
            program_time: ssd.program_time,
            erase_time: ssd.erase_time,
            read_retry: ssd.read_retry,
            suspension_time: ssd.suspension_time,
            channel_rate: ssd.channel_rate,
            interface: ssd.interface,
            command_latency: ssd.command_latency,
            buffer_units: buffer_units as u32,
            is_protected: ssd.power_loss_protection,
            is_volatile: ssd.write_cache && !ssd.power_loss_protection,
            commit_time: ssd.commit_time,
            gc_low_mark: ssd.gc_low_mark,
            precondition: ssd.precondition,
        })
    }

    /// The same SSD where a SATA interface takes `tunnel` more per command, and `fetch` more per write beside it.
    #[must_use]
    pub const fn behind(mut self, tunnel: SimDuration, fetch: SimDuration) -> Self {
        if self.interface.half_duplex {
            self.interface.command_overhead.0 += tunnel.0;
            self.interface.write_overhead.0 += fetch.0;
        }
        self
    }

    /// Valid units of the full blocks of a die in its steady state, drawn from `stream`; empty for other initial states.
    pub fn initial_state(&self, stream: RandomStream) -> Arc<[u32]> {
        if self.precondition != Precondition::Random {
            return Arc::default();
        }
        let full = self.blocks_per_die - self.gc_low_mark;
        shared_steady_state(full, self.units_per_block, self.units_per_die.into(), stream)
    }

    /// Capacity for the host.
    pub fn sectors(&self) -> Sectors {
        Sectors(u64::from(self.units_per_die) * u64::from(self.dies) * u64::from(self.unit_sectors))
    }
}

impl Ssd {
    /// Size of the write buffer.
    pub fn buffer_bytes(&self) -> Bytes {
        let page = self.page.0.saturating_mul(u64::from(self.planes));
        let dies = u64::from(self.channels) * u64::from(self.dies_per_channel);
        self.write_buffer.unwrap_or(Bytes(page.saturating_mul(dies).saturating_mul(BUFFERED_PAGES)))
    }
}
