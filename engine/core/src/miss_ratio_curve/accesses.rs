//! The block accesses of the requests of a trace.

use std::ops::RangeInclusive;

use crate::trace::{Op, Trace};
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

    /// Whether it has the accesses that write, or those that read.
    pub(super) const fn has(self, is_write: bool) -> bool {
        match self {
            Self::Reads => !is_write,
            Self::Writes => is_write,
            Self::Both => true,
        }
    }
}

/// The side that has all requests of a trace, if there is one: the curve of both is its curve.
pub(super) fn only_side(trace: &Trace) -> Option<Side> {
    let has = |op: Op| trace.columns().op.contains(&(op as u8));
    match (has(Op::Read), has(Op::Write)) {
        (true, false) => Some(Side::Reads),
        (false, true) => Some(Side::Writes),
        _ => None,
    }
}

/// The numbers of the blocks that the requests of one side touch, in order. Precondition: `block` is not 0.
pub fn accesses(trace: &Trace, side: Side, block: Sectors) -> impl Iterator<Item = u64> {
    let blocks = blocks_of(block);
    let has = move |op: Op| op != Op::Flush && side.has(op == Op::Write);
    trace
        .records()
        .filter(move |record| has(record.op))
        .flat_map(move |record| blocks(record.lba.0, record.sectors.0))
}

/// Calls `each` with the number of each block that a request touches, in order, and whether it is a write.
/// Precondition: `block` is not 0.
pub(super) fn for_each_access(trace: &Trace, block: Sectors, mut each: impl FnMut(u64, bool)) {
    let columns = trace.columns();
    let blocks = blocks_of(block);
    for ((&op, &lba), &sectors) in columns.op.iter().zip(&columns.lba).zip(&columns.sectors) {
        if op == Op::Flush as u8 {
            continue;
        }
        let (first, last) = blocks(lba, sectors.into()).into_inner();
        let is_write = op == Op::Write as u8;
        each(first, is_write);
        // Most requests touch one block.
        for number in first + 1..=last {
            each(number, is_write);
        }
    }
}

/// The blocks that a run of sectors touches, from its first sector and their number.
fn blocks_of(block: Sectors) -> impl Fn(u64, u64) -> RangeInclusive<u64> + Copy {
    let shift = block.0.is_power_of_two().then(|| block.0.trailing_zeros());
    let number = move |sector: u64| shift.map_or_else(|| sector / block.0, |shift| sector >> shift);
    move |first, sectors| number(first)..=number(first + sectors.saturating_sub(1))
}
