//! What an event of Linux's block layer asks for, from the bits that the kernel records of it.

use super::super::frame::Item;
use super::super::problems::Problem;
use crate::trace::{Flags, Op, Record};
use crate::units::{Lba, Sectors, SimDuration};

/// The kind of transfer that an event says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Discard,
    /// No data.
    Nothing,
    /// A zone command, or one passed through to the device.
    Command,
}

/// A queue event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub time: SimDuration,
    pub process: u32,
    pub volume: u32,
    pub kind: Kind,
    /// Whether a flush goes before.
    pub has_flush: bool,
    pub flags: Flags,
    pub lba: u64,
    pub sectors: u32,
}

impl Event {
    /// What it asks for.
    #[inline]
    pub fn item(self) -> Item {
        let Self { time, process, volume, kind, has_flush, flags, lba, sectors } = self;
        let io = |op, lba, sectors, flags| {
            Item::Record(Record {
                time,
                process,
                volume,
                lba: Lba(lba),
                sectors: Sectors(u64::from(sectors)),
                op,
                flags,
                response: None,
            })
        };
        match (kind, sectors) {
            (Kind::Command, _) => Item::Left(Problem::Command),
            (Kind::Discard, _) => Item::Left(Problem::Discard),
            (_, 0) if has_flush => {
                io(Op::Flush, 0, 0, Flags(flags.bits() & (Flags::SYNC.bits() | Flags::META.bits())))
            }
            (_, 0) | (Kind::Nothing, _) => Item::Left(Problem::NoKind),
            (Kind::Read, _) => io(Op::Read, lba, sectors, flags),
            (Kind::Write, _) if has_flush => io(Op::Write, lba, sectors, flags.with(Flags::PREFLUSH)),
            (Kind::Write, _) => io(Op::Write, lba, sectors, flags),
        }
    }
}

/// The number of a device, as the kernel packs it.
pub(super) const fn device_number(major: u32, minor: u32) -> u32 {
    major << 20 | minor & 0xf_ffff
}
