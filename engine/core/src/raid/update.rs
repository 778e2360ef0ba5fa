//! Parity updates: methods and costs of a write to some strips of a stripe.
//!
//! With n disks, p of them parity, d = n - p data strips, k of them written, and v of these written over the whole
//! *parity range* (the range of offsets within the strips that changes):
//!
//! ```text
//!                       reads                                    writes   I/Os
//!   read-modify-write   k old data + p old parities              k + p    2 (k + p)
//!   reconstruct-write   the other d - v strips                   k + p    d - v + k + p  (= n when v = k)
//!   full-stripe write   none: v = d                              k + p    n
//! ```
//!
//! `fewest_ios` uses the method with the fewest I/Os, read-modify-write in a tie: the textbook penalties of 4 and 6
//! I/Os per small write hold for RAID 5 from four disks and RAID 6 from six disks. `rmw` never reconstructs.
//!
//! The parity range of a single strip is what is written of it, so v = k = 1. Two strips of a sequential write meet at
//! a strip boundary, so their range is the whole strip, and a partly written strip must be read for a
//! reconstruct-write.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Layout;
use crate::units::Sectors;

/// Method of updating parity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParityUpdate {
    /// The method with the fewest disk I/Os; read-modify-write in a tie.
    #[default]
    FewestIos,
    /// Read-modify-write, unless the whole stripe is written.
    Rmw,
}

/// The method for one stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Read the old data and parities, write the new ones.
    ReadModifyWrite,
    /// Read the strips that are not or partly written, write data and parities.
    ReconstructWrite,
    /// Write data and parities, without reads.
    FullStripe,
}

/// The written part of a data strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripWrite {
    /// Data strip within the stripe.
    pub index: u32,
    /// First offset written.
    pub start: Sectors,
    /// Offset after the last one written.
    pub end: Sectors,
    /// Whether every sector between them is written.
    pub is_solid: bool,
}

/// The written part of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Data strips written, k.
    pub strips: u32,
    /// Data strips written over the whole parity range, v.
    pub covering: u32,
    /// Start of the parity range within the strip.
    pub start: Sectors,
    /// End of the parity range within the strip.
    pub end: Sectors,
}

impl Touched {
    /// Summarises `writes`, one per written strip. Precondition: there is at least one.
    #[inline]
    pub fn by(writes: &[StripWrite]) -> Self {
        debug_assert!(!writes.is_empty(), "a stripe that is not written has no parity to bring up to date");
        let (mut start, mut end) = (Sectors(u64::MAX), Sectors(0));
        for write in writes {
            start = start.min(write.start);
            end = end.max(write.end);
        }
        let covers = |write: &&StripWrite| write.is_solid && write.start == start && write.end == end;
        let covering = writes.iter().filter(covers).count() as u32;
        Self { strips: writes.len() as u32, covering, start, end }
    }
}

impl Update {
    /// Disk I/Os, reads and writes, to write `touched` in one stripe of `layout`.
    #[inline]
    pub const fn ios(self, layout: &Layout, touched: Touched) -> u32 {
        self.reads(layout, touched) + touched.strips + layout.level().parities()
    }

    /// Disk reads to write `touched` in one stripe of `layout`.
    #[inline]
    pub const fn reads(self, layout: &Layout, touched: Touched) -> u32 {
        match self {
            Self::ReadModifyWrite => touched.strips + layout.level().parities(),
            Self::ReconstructWrite => layout.data_disks() - touched.covering,
            Self::FullStripe => 0,
        }
    }
}

/// Selects the method to write `touched` in one stripe of `layout`. Precondition: the layout has parity.
#[inline]
pub const fn choose(policy: ParityUpdate, layout: &Layout, touched: Touched) -> Update {
    debug_assert!(layout.level().parities() > 0, "without parity there is nothing to choose");
    if touched.covering == layout.data_disks() {
        return Update::FullStripe;
    }
    let fewer =
        Update::ReconstructWrite.reads(layout, touched) < Update::ReadModifyWrite.reads(layout, touched);
    match policy {
        ParityUpdate::FewestIos if fewer => Update::ReconstructWrite,
        ParityUpdate::FewestIos | ParityUpdate::Rmw => Update::ReadModifyWrite,
    }
}

#[cfg(test)]
mod tests;
