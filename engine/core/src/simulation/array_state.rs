//! One array at work: its layout, its devices, the stripes that are being written.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::stripe_lock::{StripeLock, WriteRange};
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
    /// Stripes that are being written.
    pub locks: HashMap<u64, StripeLock, FxBuildHasher>,
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
    /// A destage of lines of the write cache.
    Destage {
        /// The lines.
        lines: Link,
    },
}

/// A group of disk I/Os: all of the first step, then all of the second.
#[derive(Clone, Copy, Debug)]
pub struct ArrayOperation {
    /// The array.
    pub array: u16,
    /// What it is part of.
    pub parent: Parent,
    /// Disk I/Os of this step that are not done.
    pub pending: u32,
    /// I/Os of the first step that are not issued yet.
    pub first: Link,
    /// I/Os of the second step that are not issued yet.
    pub second: Link,
    /// Time that the XOR engine takes for its parity, before the second step.
    pub parity_time: SimDuration,
    /// What it writes; nothing where it reads.
    pub range: Option<WriteRange>,
    /// Next operation that writes the same stripe, or waits to.
    pub next: Link,
}

/// A disk I/O that waits for its step.
#[derive(Clone, Copy, Debug)]
pub struct PlannedIo {
    /// Index of the device among all devices.
    pub device: u32,
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
