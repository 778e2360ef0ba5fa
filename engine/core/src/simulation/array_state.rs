//! One array at work: its layout, its devices, the stripes that are being written.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::operation::{ArrayOperation, Parent, PlannedIo};
use super::redundancy::Redundancy;
use super::stripe_lock::StripeLock;
use crate::config::Rebuild;
use crate::raid::{Layout, ParityUpdate};
use crate::slab::Link;
use crate::units::{SimDuration, SimTime};

/// One array at work.
#[derive(Debug)]
pub struct ArrayState {
    /// Where its data lie.
    pub layout: Layout,
    /// How parity is brought up to date.
    pub parity_update: ParityUpdate,
    /// Index of its first device among all devices.
    pub first_device: u32,
    /// Whether all devices that it was built of are at their places, and nothing has ever been lost.
    pub is_as_built: bool,
    /// What holds its places.
    pub redundancy: Redundancy,
    /// How a new disk is filled.
    pub rebuild: Rebuild,
    /// Stripes that are being written.
    pub locks: HashMap<u64, StripeLock, FxBuildHasher>,
    /// Whether its devices may lose writes that are done.
    pub is_volatile: bool,
    /// Destages under way.
    pub destages: u32,
    /// Destages that may be under way at a time.
    pub destage_limit: u32,
    /// Whether an event waits for the next stripe that comes of age.
    pub awaits_age: bool,
    /// How busy its disks are with foreground I/Os, where the destage policy asks.
    pub idleness: Idleness,
}

impl ArrayState {
    /// The device that an I/O of `operation` goes to now; `None` for a write to a missing disk.
    pub fn target(&self, operation: &ArrayOperation, planned: &PlannedIo) -> Option<u32> {
        match operation.parent {
            Parent::Rebuild { device } if planned.io.is_write => {
                (!self.redundancy.has_lost(planned.disk, device)).then_some(device)
            }
            _ => self.redundancy.serving(planned.disk, planned.io.lba.0 / self.layout.stripe_unit().0),
        }
    }
}

/// How busy the disks of an array are with foreground I/Os.
#[derive(Clone, Copy, Debug, Default)]
pub struct Idleness {
    /// Foreground I/Os at the disks or on their way there.
    pub foreground: u32,
    /// When the last of them was done.
    pub since: SimTime,
    /// Whether an event waits for the end of the delay.
    pub is_awaited: bool,
}

impl Idleness {
    /// Whether there has been none for `delay`.
    pub fn has_lasted(&self, now: SimTime, delay: SimDuration) -> bool {
        self.foreground == 0 && self.since + delay <= now
    }
}

/// A run of lines that is on its way into the read cache.
#[derive(Clone, Copy, Debug)]
pub struct Fetch {
    /// The array.
    pub array: u16,
    /// First line.
    pub first: u64,
    /// Last line.
    pub last: u64,
    /// Requests that wait for it.
    pub waiters: Link,
}

/// A request that waits for a fetch.
#[derive(Clone, Copy, Debug)]
pub struct Waiter {
    /// The request.
    pub request: u32,
    /// Next request that waits for the same fetch.
    pub next: Link,
}
