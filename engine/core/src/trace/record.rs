//! A record: one recorded I/O.

use super::extent::Extent;
use crate::units::{Lba, Sectors, SimDuration};

/// The operation of an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// Read sectors.
    Read = 0,
    /// Write sectors.
    Write = 1,
    /// Make all completed writes durable; it has no sectors.
    Flush = 2,
}

impl Op {
    /// The operation with this code.
    #[inline]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Read),
            1 => Some(Self::Write),
            2 => Some(Self::Flush),
            _ => None,
        }
    }
}

/// Properties of a record, a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub(super) u8);

impl Flags {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// A process waits for the completion.
    pub const SYNC: Self = Self(1);
    /// Durable before it completes ("force unit access").
    pub const FUA: Self = Self(2);
    /// File system metadata.
    pub const META: Self = Self(4);
    /// Read-ahead.
    pub const READ_AHEAD: Self = Self(8);
    /// A flush precedes the write.
    pub const PREFLUSH: Self = Self(16);
    pub(super) const ALL: Self = Self(31);

    /// The set with these bits; `None` if one has no meaning.
    #[inline]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits & !Self::ALL.0 == 0 { Some(Self(bits)) } else { None }
    }

    /// The bits of the set.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `other` is in this set.
    #[inline]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a process waits for the completion.
    pub const fn is_sync(self) -> bool {
        self.contains(Self::SYNC)
    }

    /// Whether the write is durable before it completes.
    pub const fn is_forced(self) -> bool {
        self.contains(Self::FUA)
    }

    /// The union of both sets.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The intersection of both sets.
    #[inline]
    pub(super) const fn only(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// One recorded I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it was issued \[ns\]: since the first record in a [`Trace`](super::Trace), since any moment in a reader.
    pub time: SimDuration,
    /// Process id; 0 if the format has none.
    pub process: u32,
    /// Volume; 0 if the format has none.
    pub volume: u32,
    /// First sector; 0 for a flush.
    pub lba: Lba,
    /// Length; 0 for a flush.
    pub sectors: Sectors,
    /// Operation.
    pub op: Op,
    /// Properties.
    pub flags: Flags,
    /// Recorded response time, if known.
    pub response: Option<SimDuration>,
}

impl Record {
    /// An operation on `extent` at `time`, of process 0 and volume 0, without flags or response time.
    #[inline]
    pub(super) const fn new(time: SimDuration, op: Op, extent: Extent) -> Self {
        let Extent { lba, sectors, .. } = extent;
        Self { time, process: 0, volume: 0, lba, sectors, op, flags: Flags::NONE, response: None }
    }

    /// A flush at `time`, of process 0 and volume 0.
    pub(super) const fn flush(time: SimDuration) -> Self {
        Self::new(time, Op::Flush, Extent::of_sectors(0, 0))
    }
}

/// The mean time between records; none of fewer than two.
pub(super) fn mean_gap(records: &[Record]) -> Option<SimDuration> {
    let times = || records.iter().map(|record| record.time.0);
    let length = times().max()? - times().min()?;
    let gaps = u64::try_from(records.len()).ok()?.checked_sub(1)?;
    length.checked_div(gaps).map(SimDuration)
}
