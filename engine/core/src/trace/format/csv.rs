//! What the csv formats have in common: the operation, and offset and size in bytes.

use super::super::frame::Bad;
use super::super::text::{Cell, Line, sectors_of};
use crate::trace::Op;
use crate::units::{Lba, Sectors};

/// `R` or `W`, or the whole word, in small or large letters.
#[inline]
pub(super) fn operation(cell: Cell<'_>, expected: &'static str) -> Result<Op, Bad> {
    match cell.bytes {
        b"R" | b"r" => Ok(Op::Read),
        b"W" | b"w" => Ok(Op::Write),
        word if word.eq_ignore_ascii_case(b"read") => Ok(Op::Read),
        word if word.eq_ignore_ascii_case(b"write") => Ok(Op::Write),
        _ => Err(cell.bad(expected)),
    }
}

/// Two fields, offset and size in bytes: the sectors touched, and whether that is more than was asked for.
#[inline]
pub(super) fn extent(line: &mut Line<'_>) -> Result<(Lba, Sectors, bool), Bad> {
    let offset = line.number(u64::MAX, "an offset [bytes]")?;
    let from = line.at;
    let size = line.number(u64::MAX, "a size [bytes]")?;
    sectors_of(offset, size).ok_or(Bad {
        from,
        to: line.at.saturating_sub(1).max(from),
        expected: "a size [bytes] of less than 2 TiB, within 2^64 bytes",
    })
}
