//! The block accesses of the requests of a trace.

use crate::trace::{Op, Record, Trace};
use crate::units::Sectors;

/// Which requests access the blocks.
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

/// The numbers of the blocks that the requests of one side touch, in order. Precondition: `block` is not 0.
pub fn accesses(trace: &Trace, side: Side, block: Sectors) -> impl Iterator<Item = u64> {
    let shift = block.0.is_power_of_two().then(|| block.0.trailing_zeros());
    let number = move |sector: u64| shift.map_or_else(|| sector / block.0, |shift| sector >> shift);
    let blocks = move |record: Record| {
        let last = record.lba.0 + record.sectors.0.saturating_sub(1);
        number(record.lba.0)..=number(last)
    };
    trace.records().filter(move |record| side.has(record.op)).flat_map(blocks)
}
