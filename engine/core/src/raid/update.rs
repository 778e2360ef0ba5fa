//! Update: how a write to some strips of a stripe brings the parity up to date, and what that costs.
//!
//! With n disks, p of them parity, d = n - p data strips, k of them written and v of those written over the whole
//! *parity range* (the offsets within the strip at which any strip changes):
//!
//! ```text
//!                       reads                                    writes   I/Os
//!   read-modify-write   k old data + p old parities              k + p    2 (k + p)
//!   reconstruct-write   the d - v strips not known over it all   k + p    d - v + k + p  (= n when v = k)
//!   full-stripe write   none: v = d                              k + p    n
//! ```
//!
//! `fewest_ios` takes the least of these, read-modify-write where it ties: so the textbook penalties of 4 and 6 I/Os per
//! small write hold for RAID 5 from four disks and for RAID 6 from six on; `rmw` never reconstructs.
//!
//! A single strip is its own parity range, so v = k = 1 however small the write. Two strips of one sequential write
//! meet at a strip boundary, so their range is the whole strip, and a strip that is written in part must be read for
//! a reconstruct-write even though it is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Layout;
use crate::units::Sectors;

/// How parity is brought up to date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParityUpdate {
    /// By whichever way takes the fewest disk I/Os; read-modify-write where it ties.
    #[default]
    FewestIos,
    /// By read-modify-write unless the whole stripe is written.
    Rmw,
}

/// The way chosen for one stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Read the old data and parities, write the new ones.
    ReadModifyWrite,
    /// Read the strips that are not written (or only in part), write data and parities.
    ReconstructWrite,
    /// Everything needed is in hand: write only.
    FullStripe,
}

/// What is written in one data strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripWrite {
    /// The data strip within its stripe.
    pub index: u32,
    /// First offset written.
    pub start: Sectors,
    /// Offset just beyond the last one written.
    pub end: Sectors,
    /// Whether every sector between the two is written.
    pub is_solid: bool,
}

/// What is written in one stripe, as far as the choice needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Data strips written, k.
    pub strips: u32,
    /// Those of them that are written over the whole parity range, v.
    pub covering: u32,
    /// Start of the parity range within the strip.
    pub start: Sectors,
    /// End of the parity range within the strip.
    pub end: Sectors,
}

impl Touched {
    /// What `writes`, one for each strip touched, amount to. Precondition: there is at least one.
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
    /// Disk I/Os of this way of writing `touched` in one stripe of `layout`, reads and writes.
    #[inline]
    pub const fn ios(self, layout: &Layout, touched: Touched) -> u32 {
        self.reads(layout, touched) + touched.strips + layout.level().parities()
    }

    /// The reads among them.
    #[inline]
    pub const fn reads(self, layout: &Layout, touched: Touched) -> u32 {
        match self {
            Self::ReadModifyWrite => touched.strips + layout.level().parities(),
            Self::ReconstructWrite => layout.data_disks() - touched.covering,
            Self::FullStripe => 0,
        }
    }
}

/// The way in which `policy` writes `touched` in one stripe of `layout`. Precondition: the layout has parity.
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
