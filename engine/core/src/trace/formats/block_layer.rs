//! Events of Linux's block layer, as recorded by the kernel.

use crate::trace::decoder::Item;
use crate::trace::extent::Extent;
use crate::trace::problems::Problem;
use crate::trace::record::{Flags, Op, Record};
use crate::units::SimDuration;

/// What a trace without I/Os lacks.
pub(super) const NEEDS: &str =
    ": only queue events (Q) are read; record them with `blktrace -a queue`, or all events";

/// The kind of transfer of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    Read,
    Write,
    Discard,
    NoData,
    /// A zone command, or one passed through to the device.
    Command,
}

/// A queue event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub time: SimDuration,
    pub process: u32,
    pub volume: u32,
    pub kind: EventKind,
    /// Whether a flush precedes it.
    pub has_flush: bool,
    pub flags: Flags,
    pub lba: u64,
    pub sectors: u32,
}

impl Event {
    /// The I/O of the event, if it is one.
    #[inline]
    pub fn item(self) -> Item {
        let Self { time, process, volume, kind, has_flush, flags, lba, sectors } = self;
        let io = |op, flags| {
            let extent = Extent::of_sectors(lba, sectors.into());
            Item::Record(Record { process, volume, flags, ..Record::new(time, op, extent) })
        };
        match (kind, sectors) {
            (EventKind::Command, _) => Item::Skipped(Problem::OtherCommand),
            (EventKind::Discard, _) => Item::Skipped(Problem::Discard),
            (_, 0) if has_flush => {
                let flags = flags.only(Flags::SYNC.with(Flags::META));
                Item::Record(Record { process, volume, flags, ..Record::flush(time) })
            }
            (_, 0) | (EventKind::NoData, _) => Item::Skipped(Problem::NoOperation),
            (EventKind::Read, _) => io(Op::Read, flags),
            (EventKind::Write, _) if has_flush => io(Op::Write, flags.with(Flags::PREFLUSH)),
            (EventKind::Write, _) => io(Op::Write, flags),
        }
    }
}

/// The number of a device, packed as in the kernel.
pub(super) const fn device_number(major: u32, minor: u32) -> u32 {
    major << 20 | minor & 0xf_ffff
}
