//! The accesses to blocks that the requests of a trace make.

use crate::trace::{Op, Trace};
use crate::units::Sectors;

/// Whose accesses are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The reads.
    Reads,
    /// The writes.
    Writes,
    /// Reads and writes.
    Both,
}

impl Side {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Both => "both",
        }
    }

    const fn has(self, op: Op) -> bool {
        match op {
            Op::Read => !matches!(self, Self::Writes),
            Op::Write => !matches!(self, Self::Reads),
            Op::Flush => false,
        }
    }
}

/// The blocks that one side's requests touch, in order; each is the block's number from address 0 on. Precondition: the
/// block has a size.
pub fn accesses(trace: &Trace, side: Side, block: Sectors) -> impl Iterator<Item = u64> {
    let shift = block.0.is_power_of_two().then(|| block.0.trailing_zeros());
    let number = move |sector: u64| shift.map_or_else(|| sector / block.0, |shift| sector >> shift);
    let blocks = move |record: crate::trace::Record| {
        let last = record.lba.0 + record.sectors.0.saturating_sub(1);
        number(record.lba.0)..=number(last)
    };
    trace.records().filter(move |record| side.has(record.op)).flat_map(blocks)
}
