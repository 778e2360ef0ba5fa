//! One array at work: its layout, its devices, the stripes that are being written.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::redundancy::Redundancy;
use super::stripe_lock::{StripeLock, WriteRange};
use crate::config::Rebuild;
use crate::raid::{Layout, ParityUpdate};
use crate::slab::{Link, Slab};
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

/// What an array operation is part of.
#[derive(Clone, Copy, Debug)]
pub enum Parent {
    /// A read of a request.
    Read {
        /// The request.
        request: u32,
    },
    /// A fetch into the read cache.
    Fetch {
        /// The fetch.
        fetch: u32,
    },
    /// A write of a request, straight to the disks.
    WriteThrough {
        /// The request.
        request: u32,
    },
    /// A flush of the devices' own write caches.
    Flush {
        /// The request.
        request: u32,
    },
    /// A destage of lines of the write cache.
    Destage {
        /// The lines.
        lines: Link,
    },
    /// Another array operation, which reads more than this.
    Part {
        /// That operation.
        operation: u32,
    },
    /// The rebuild onto a device.
    Rebuild {
        /// The device.
        device: u32,
    },
}

/// What an array operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads strips, each from its disk.
    Read,
    /// Reads what a stripe's missing strips are decoded from; what is wanted stands in its second step.
    LockedRead,
    /// Writes strips of a stripe.
    Write,
    /// Rebuilds a strip.
    Rebuild,
    /// Flushes devices.
    Flush,
}

/// A group of disk I/Os: all of the first step, then all of the second.
#[derive(Clone, Copy, Debug)]
pub struct ArrayOperation {
    /// The array.
    pub array: u16,
    /// What it is part of.
    pub parent: Parent,
    /// What it does.
    pub kind: Kind,
    /// Whether what it writes of a strip has gaps.
    pub has_gaps: bool,
    /// Whether a disk has failed that it was reading from, so that its step begins anew.
    pub is_overtaken: bool,
    /// Disk I/Os of this step that are not done.
    pub pending: u32,
    /// I/Os of the first step that are not issued yet.
    pub first: Link,
    /// I/Os of the second step that are not issued yet.
    pub second: Link,
    /// Time that the XOR engine takes for its parity, before the second step.
    pub parity_time: SimDuration,
    /// What it has to itself; nothing where it only reads what lies on disks.
    pub range: Option<WriteRange>,
    /// Next operation that holds the same stripe, or waits to.
    pub next: Link,
}

impl ArrayOperation {
    /// An operation without I/Os.
    #[inline]
    pub const fn new(array: u16, kind: Kind, parent: Parent) -> Self {
        Self {
            array,
            parent,
            kind,
            has_gaps: false,
            is_overtaken: false,
            pending: 0,
            first: Link::END,
            second: Link::END,
            parity_time: SimDuration::ZERO,
            range: None,
            next: Link::END,
        }
    }

    /// The stripe of its second step; nothing where that has been issued.
    pub fn stripe(&self, planned: &Slab<PlannedIo>, layout: &Layout) -> Option<u64> {
        let first = &planned[self.second.get()?];
        Some(layout.stripe_on(first.disk, first.io.lba.0 / layout.stripe_unit().0))
    }
}

/// A disk I/O that waits for its step.
#[derive(Clone, Copy, Debug)]
pub struct PlannedIo {
    /// The disk within the array.
    pub disk: u32,
    /// The I/O.
    pub io: crate::disk::Io,
    /// Next I/O of the step.
    pub next: Link,
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
