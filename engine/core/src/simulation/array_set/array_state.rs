//! One array: its layout, its members, its locks.

use super::operation::{ArrayOperation, Parent, PlannedIo};
use super::redundancy::Redundancy;
use super::stripe_lock::StripeLocks;
use crate::config::{self, Rebuild};
use crate::raid::{Layout, ParityUpdate};
use crate::units::{SimDuration, SimTime};

/// One array.
#[derive(Debug)]
pub struct ArrayState {
    /// Its name.
    pub name: String,
    /// Where its data is.
    pub layout: Layout,
    /// How parity is updated.
    pub parity_update: ParityUpdate,
    /// Index of its first device among all devices.
    pub first_device: u32,
    /// Whether all its original devices are in place, and none has ever failed.
    pub is_as_built: bool,
    /// Its members.
    pub redundancy: Redundancy,
    /// How a new disk is filled.
    pub rebuild: Rebuild,
    /// Stripes that are locked.
    pub locks: StripeLocks,
    /// Whether its devices may lose completed writes.
    pub is_volatile: bool,
    /// How busy its disks are with foreground I/Os, if the destage policy asks.
    pub idleness: Idleness,
}

impl ArrayState {
    /// The array of `config`, all its disks present.
    pub fn new(config: &config::Array, layout: Layout, first_device: u32, is_volatile: bool) -> Self {
        Self {
            name: config.name.clone(),
            layout,
            parity_update: config.parity_update,
            first_device,
            is_as_built: true,
            redundancy: Redundancy::new(first_device, config.disks, config.hot_spares),
            rebuild: config.rebuild,
            locks: StripeLocks::default(),
            is_volatile,
            idleness: Idleness::default(),
        }
    }

    /// The device that an I/O of `operation` goes to now; `None` for a write to a missing disk.
    pub fn target(&self, operation: &ArrayOperation, planned: &PlannedIo) -> Option<u32> {
        match operation.parent {
            Parent::Rebuild { device } if planned.io.is_write => {
                (!self.redundancy.has_lost(planned.disk, device)).then_some(device)
            }
            _ => self.redundancy.serving(planned.disk, planned.io.lba.0 / self.layout.stripe_unit().0),
        }
    }

    /// Power is cut: all operations end.
    pub fn cut_power(&mut self, now: SimTime) {
        self.locks.clear();
        self.idleness = Idleness { since: now, ..Idleness::default() };
    }
}

/// How busy the disks of an array are with foreground I/Os.
#[derive(Clone, Copy, Debug, Default)]
pub struct Idleness {
    /// Foreground I/Os at the disks or on their way there.
    pub foreground: u32,
    /// When the last of them ended.
    pub since: SimTime,
    /// Whether an event is scheduled for the end of the delay.
    pub is_awaited: bool,
}

impl Idleness {
    /// Whether there has been none for `delay`.
    pub fn has_lasted(&self, now: SimTime, delay: SimDuration) -> bool {
        self.foreground == 0 && self.since + delay <= now
    }
}

/// The place of a device.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The array.
    pub array: u16,
    /// The disk within the array.
    pub disk: u32,
}
