//! blktrace: the binary events of Linux's block layer, as `blktrace -o -` writes them.
//!
//! ```text
//! 48 bytes: magic u32 (0x65617400 and the version, 7), sequence u32, time u64 [ns], sector u64, bytes u32, action u32,
//!           pid u32, device u32, cpu u32, error u16, pdu_len u16; then pdu_len bytes of payload
//! ```
//!
//! Numbers have the byte order of the recording machine, which follows from the magic number. Only *queue* events are
//! read, as in [`blkparse`](super::blkparse). The low half of the action is the event (bit 8: the payload holds a control
//! group's number), the high half the kind of request. The device is the volume.
//!
//! The events of one CPU are in order, those of several CPUs are not; files of single CPUs can be concatenated.

use super::block_layer::{self, Event, EventKind};
use crate::trace::binary::{u16_at, u32_at, u64_at};
use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::record::Flags;
use crate::units::{SECTOR_BYTES, SimDuration};

const HEADER: usize = 48;
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;

const QUEUE: u32 = 1;
const CONTROL_GROUP: u32 = 1 << 8;

const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const SYNC: u32 = 1 << 19;
const PASSED_THROUGH: u32 = 1 << 25;
const NOTIFY: u32 = 1 << 26;
const AHEAD: u32 = 1 << 27;
const META: u32 = 1 << 28;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;

/// Decoder of blktrace's binary events.
#[derive(Debug, Default)]
pub struct Blktrace;

/// Whether the numbers of a record are big-endian; `None` if its magic number matches neither byte order.
#[inline]
fn is_swapped(header: &[u8]) -> Option<bool> {
    match u32_at(header, 0) {
        magic if magic == MAGIC | VERSION => Some(false),
        magic if magic.swap_bytes() == MAGIC | VERSION => Some(true),
        _ => None,
    }
}

impl Decoder for Blktrace {
    const NAME: &'static str = "blktrace";
    const TITLE: &'static str = "blktrace (binary)";
    const FRAMING: Framing = Framing::Bytes(HEADER);
    const NEEDS: &'static str = block_layer::NEEDS;

    fn trailer(&self, header: &[u8]) -> usize {
        let length = u16_at(header, 46);
        match is_swapped(header) {
            Some(false) => length.into(),
            Some(true) => length.swap_bytes().into(),
            None => 0,
        }
    }

    #[inline]
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let Some(is_swapped) = is_swapped(frame) else {
            return Err(BadField {
                from: 0,
                to: 4,
                expected: "blktrace's magic number and version, 0x65617407",
            });
        };
        let word = |at| if is_swapped { u32_at(frame, at).swap_bytes() } else { u32_at(frame, at) };
        let long = |at| if is_swapped { u64_at(frame, at).swap_bytes() } else { u64_at(frame, at) };
        let action = word(28);
        if action & NOTIFY != 0 || action & 0xffff & !CONTROL_GROUP != QUEUE {
            return Ok(Item::Ignored);
        }
        let (lba, sectors) = (long(16), (u64::from(word(24)) / SECTOR_BYTES) as u32);
        let has = |bit| action & bit != 0;
        let kind = match () {
            () if has(PASSED_THROUGH) => EventKind::Command,
            () if has(DISCARD) => EventKind::Discard,
            () if has(WRITE) => EventKind::Write,
            () if sectors > 0 => EventKind::Read,
            () => EventKind::NoData,
        };
        if lba >= 1 << 63 && sectors > 0 {
            return Err(BadField { from: 16, to: 24, expected: "a sector of less than 2^63" });
        }
        let flag = |bit, flag| if has(bit) { flag } else { Flags::NONE };
        let flags = flag(FUA, Flags::FUA)
            .with(flag(AHEAD, Flags::READ_AHEAD))
            .with(flag(SYNC, Flags::SYNC))
            .with(flag(META, Flags::META));
        let event = Event {
            time: SimDuration(long(8)),
            process: word(32),
            volume: word(36),
            kind,
            has_flush: has(FLUSH),
            flags,
            lba,
            sectors,
        };
        Ok(event.item())
    }
}
