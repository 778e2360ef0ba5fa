//! Array operations: groups of disk I/Os in two steps.

use super::lock_range::LockRange;
use crate::disk::Io;
use crate::raid::Layout;
use crate::slab::{Link, Slab};
use crate::units::Sectors;

/// What an array operation is for.
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
        /// The run of stripes to which they belong.
        run: u32,
    },
    /// Another array operation, which includes this one.
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
    /// Reads the strips from which missing strips are decoded; the second step has the wanted parts.
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
    /// What it is for.
    pub parent: Parent,
    /// What it does.
    pub kind: Kind,
    /// Whether its new data in a strip has gaps.
    pub has_gaps: bool,
    /// Whether a disk that it was reading from has failed, so that its step is repeated.
    pub is_overtaken: bool,
    /// Disk I/Os of this step that are not done.
    pub pending: u32,
    /// I/Os of the first step that are not issued yet.
    pub first: Link,
    /// I/Os of the second step that are not issued yet.
    pub second: Link,
    /// Input of the parity that has to be computed before the second step, if that takes time.
    pub parity_input: Sectors,
    /// What it locks; `None` if it only reads strips from their disks.
    pub range: Option<LockRange>,
    /// Next operation that holds the same stripe, or waits for it.
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
            parity_input: Sectors(0),
            range: None,
            next: Link::END,
        }
    }

    /// Whether the I/Os of both steps have been issued.
    pub fn is_issued(&self) -> bool {
        self.first == Link::END && self.second == Link::END
    }

    /// The stripe of its second step; `None` if that has been issued.
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
    pub io: Io,
    /// Next I/O of the step.
    pub next: Link,
}
