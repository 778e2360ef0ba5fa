//! One recorded I/O: what it asks for, where, when and of whom.

use crate::units::{Lba, Sectors, SimDuration};

/// What a record asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// Read sectors.
    Read = 0,
    /// Write sectors.
    Write = 1,
    /// Make all completed writes durable; it has no sectors of its own.
    Flush = 2,
}

impl Op {
    /// The operation with this code in a column.
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
    /// No property.
    pub const NONE: Self = Self(0);
    /// A process waits for the completion.
    pub const SYNC: Self = Self(1);
    /// Durable before it completes ("force unit access").
    pub const FUA: Self = Self(2);
    /// The file system's own data.
    pub const META: Self = Self(4);
    /// Read ahead of demand.
    pub const READ_AHEAD: Self = Self(8);
    /// A flush goes before the write.
    pub const PREFLUSH: Self = Self(16);
    pub(super) const ALL: u8 = 31;

    /// The set with these bits; `None` where a bit has no meaning.
    #[inline]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits & !Self::ALL == 0 { Some(Self(bits)) } else { None }
    }

    /// The set as it stands in a column.
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

    /// Both sets together.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One recorded I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it was asked for \[ns\]: since the first record in a [`Trace`](super::Trace), since any moment in a reader.
    pub time: SimDuration,
    /// Process id that asked for it; 0 where the format has none.
    pub process: u32,
    /// The volume that it goes to; 0 where the format has none.
    pub volume: u32,
    /// First sector; 0 for a flush.
    pub lba: Lba,
    /// Length; 0 for a flush.
    pub sectors: Sectors,
    /// What it asks for.
    pub op: Op,
    /// Its properties.
    pub flags: Flags,
    /// How long it took when it was recorded, where that is known.
    pub response: Option<SimDuration>,
}

impl Record {
    /// A flush at `time`, by no process and to no volume in particular.
    pub(super) const fn flush(time: SimDuration) -> Self {
        Self {
            time,
            process: 0,
            volume: 0,
            lba: Lba(0),
            sectors: Sectors(0),
            op: Op::Flush,
            flags: Flags::NONE,
            response: None,
        }
    }
}
