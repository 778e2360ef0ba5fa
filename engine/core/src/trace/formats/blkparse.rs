//! blkparse: the default text output of `blkparse`, the decoder of Linux block traces.
//!
//! ```text
//!   major,minor cpu sequence seconds.nanoseconds process action letters [sector + sectors] [command]
//!     8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
//! ```
//!
//! Only *queue* events (action `Q`) are read: the I/Os as they arrive, before the kernel merges and sorts them. All other
//! actions and messages are ignored. The summary at the end, from `CPU0 (sda):` or `Total (sda):` on, ends the trace.
//!
//! The letters, in this order: `F` preceded by a flush; `R` read, `W` write, `D` discard, `N` no data; `F` durable before
//! it completes; `A` read-ahead; `S` synchronous; `M` metadata; `E` secure (of a discard); `U` atomic; `B` barrier, which
//! old kernels write for a preceding flush and durability. An event without sectors (printed as `0 + 0` or not at all)
//! is a flush if it has the first `F`. Discards, zone commands, commands passed through to the device and empty events
//! are skipped with a warning.
//!
//! The device is the volume, packed as in the kernel: major times 2^20 plus minor. Events may be out of order, since
//! blkparse prints them late if the buffer of a slow CPU arrives late.

use super::block_layer::{self, Event, EventKind, device_number};
use crate::trace::decoder::{BadField, Decoder, Framing, Item};
use crate::trace::record::Flags;
use crate::trace::text::{LAST_LBA, SECONDS, SpacedLine};

/// Decoder of blkparse's default text.
#[derive(Debug, Default)]
pub struct Blkparse;

impl Decoder for Blkparse {
    const NAME: &'static str = "blkparse";
    const TITLE: &'static str = "blkparse (text)";
    const FRAMING: Framing = Framing::Lines;
    const NEEDS: &'static str = block_layer::NEEDS;

    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField> {
        let mut line = SpacedLine::new(frame);
        line.skip_spaces();
        if line.rest().starts_with(b"CPU") || line.rest().starts_with(b"Total") {
            return Ok(Item::End);
        }
        let volume = device(&mut line)?;
        line.number(u64::MAX, "a CPU number")?;
        line.number(u64::MAX, "a sequence number")?;
        let mut ahead = line;
        let time = ahead.field();
        if !time.bytes.contains(&b'.') {
            return Err(time.bad("a time as seconds.nanoseconds"));
        }
        let time = line.time(SECONDS, "a time as seconds.nanoseconds")?;
        let process = line.number_u32("a process id")?;
        let action = line.field();
        match action.bytes {
            b"Q" => {}
            [] => return Err(action.bad("an action such as Q, G, D, C or m")),
            _ => return Ok(Item::Ignored),
        }
        let (kind, has_flush, flags) = letters(&mut line)?;
        let event = Event { time, process, volume, kind, has_flush, flags, lba: 0, sectors: 0 };
        Ok(with_body(&mut line, event)?.item())
    }
}

/// A device as major,minor.
#[inline]
fn device(line: &mut SpacedLine<'_>) -> Result<u32, BadField> {
    let field = line.field();
    let bad = || field.bad("a device as major,minor, or the summary");
    let comma = field.bytes.iter().position(|&byte| byte == b',').ok_or_else(bad)?;
    let part =
        |bytes, most| SpacedLine::new(bytes).number(most, "").map(|number| number as u32).map_err(|_| bad());
    Ok(device_number(part(&field.bytes[..comma], 0xfff)?, part(&field.bytes[comma + 1..], 0xf_ffff)?))
}

/// The letters of an event: its kind, whether a flush precedes it, and its flags.
#[inline]
fn letters(line: &mut SpacedLine<'_>) -> Result<(EventKind, bool, Flags), BadField> {
    let field = line.field();
    let letters = field.bytes;
    let bad = |offset: usize| BadField {
        from: field.from + offset,
        to: field.from + letters.len(),
        expected: "letters as in FWFASM: [F] R|W|D|N|Z [F] [A] [S] [M]",
    };
    let mut has_flush = letters.first() == Some(&b'F');
    let at = usize::from(has_flush);
    let kind = match letters.get(at) {
        Some(b'R') => EventKind::Read,
        Some(b'W') => EventKind::Write,
        Some(b'D') => EventKind::Discard,
        Some(b'N') => EventKind::NoData,
        Some(b'Z') => return Ok((EventKind::Command, has_flush, Flags::NONE)),
        // The kernel's letter for a flush that is not a write; it may be the only one.
        Some(b'F') | None if has_flush => EventKind::NoData,
        _ => return Err(bad(at.min(letters.len().saturating_sub(1)))),
    };
    let mut flags = Flags::NONE;
    for (offset, letter) in letters.iter().enumerate().skip(at + 1) {
        flags = flags.with(match letter {
            b'F' => Flags::FUA,
            b'A' => Flags::READ_AHEAD,
            b'S' => Flags::SYNC,
            b'M' => Flags::META,
            b'B' => {
                has_flush = true;
                Flags::FUA
            }
            b'E' | b'U' => Flags::NONE,
            _ => return Err(bad(offset)),
        });
    }
    Ok((kind, has_flush, flags))
}

/// What follows the letters: `sector + sectors`, or nothing, or the bytes of a command passed through.
#[inline]
fn with_body(line: &mut SpacedLine<'_>, event: Event) -> Result<Event, BadField> {
    line.skip_spaces();
    if event.kind == EventKind::Command || matches!(line.rest().first(), None | Some(b'[' | b'(')) {
        return Ok(event);
    }
    let lba = line.number(LAST_LBA, "the first sector")?;
    let plus = line.field();
    match plus.bytes {
        b"+" => {}
        command if command.starts_with(b"(") => return Ok(Event { kind: EventKind::Command, ..event }),
        _ => return Err(plus.bad("+ between the first sector and the number of sectors")),
    }
    let sectors = line.number_u32("the number of sectors")?;
    Ok(Event { lba, sectors, ..event })
}

#[cfg(test)]
mod tests;
