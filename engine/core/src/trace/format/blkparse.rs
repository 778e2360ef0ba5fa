//! blkparse: the default text output of `blkparse`, the decoder of Linux block traces.
//!
//! ```text
//!   major,minor cpu sequence seconds.nanoseconds process action letters [sector + sectors] [command]
//!     8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
//! ```
//!
//! Only *queue* events (action `Q`) are taken: they are the I/Os as they arrive, before the kernel merges and sorts
//! them. All other actions and messages are skipped, and the summary at the end (from `CPU0 (sda):` or `Total (sda):`
//! on) ends the trace.
//!
//! The letters, in this order: `F` a flush goes before; `R` read, `W` write, `D` discard, `N` nothing; `F` durable
//! before it completes; `A` read-ahead; `S` synchronous; `M` metadata; `E` secure (of a discard); `U` atomic; `B`
//! barrier, which old kernels have for flush before and durable. An event without sectors (printed as `0 + 0` or not at
//! all) is a flush where it has the first `F`. Discards, zone commands, commands passed through to the device and
//! empty events are skipped and counted.
//!
//! The device is the volume, packed as the kernel packs it: major times 2^20 plus minor. Events may be out of order,
//! since blkparse prints them late when a slow CPU's buffer comes late.

use super::super::frame::{Bad, Decode, Frame, Item};
use super::super::text::{Line, SECONDS};
use super::block_layer::{Event, Kind, device_number};
use crate::trace::Flags;
use crate::units::SimDuration;

/// Reader of blkparse's default text.
#[derive(Debug, Default)]
pub struct Blkparse;

impl Decode for Blkparse {
    const NAME: &'static str = "blkparse";
    const TITLE: &'static str = "blkparse (text)";
    const FRAME: Frame = Frame::Line;

    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad> {
        let mut line = Line::new(frame);
        line.skip_spaces();
        if line.rest().starts_with(b"CPU") || line.rest().starts_with(b"Total") {
            return Ok(Item::End);
        }
        let volume = device(&mut line)?;
        line.spaced_number(u64::MAX, "a CPU number")?;
        line.spaced_number(u64::MAX, "a sequence number")?;
        let mut ahead = line;
        let time = ahead.word();
        if !time.bytes.contains(&b'.') {
            return Err(time.bad("a time as seconds.nanoseconds"));
        }
        let time = SimDuration(line.spaced_time(SECONDS, "a time as seconds.nanoseconds")?);
        let process = line.spaced_number(u32::MAX.into(), "a process id")? as u32;
        let action = line.word();
        match action.bytes {
            b"Q" => {}
            [] => return Err(action.bad("an action such as Q, G, D, C or m")),
            _ => return Ok(Item::Nothing),
        }
        let (kind, has_flush, flags) = letters(&mut line)?;
        let event = Event { time, process, volume, kind, has_flush, flags, lba: 0, sectors: 0 };
        Ok(with_body(&mut line, event)?.item())
    }
}

/// A device as major,minor.
#[inline]
fn device(line: &mut Line<'_>) -> Result<u32, Bad> {
    let expected = "a device as major,minor, or the summary";
    let word = line.word();
    let comma = word.bytes.iter().position(|&byte| byte == b',').ok_or(word.bad(expected))?;
    let part = |bytes, most| {
        Line::new(bytes).number(most, expected).map(|number| number as u32).map_err(|_| word.bad(expected))
    };
    Ok(device_number(part(&word.bytes[..comma], 0xfff)?, part(&word.bytes[comma + 1..], 0xf_ffff)?))
}

/// What the letters of an event say: its kind, whether a flush goes before, and its properties.
#[inline]
fn letters(line: &mut Line<'_>) -> Result<(Kind, bool, Flags), Bad> {
    let word = line.word();
    let field = word.bytes;
    let bad = |offset: usize| Bad {
        from: word.from + offset,
        to: word.from + field.len(),
        expected: "letters as in FWFASM: [F] R|W|D|N|Z [F] [A] [S] [M]",
    };
    let mut has_flush = field.first() == Some(&b'F');
    let at = usize::from(has_flush);
    let kind = match field.get(at) {
        Some(b'R') => Kind::Read,
        Some(b'W') => Kind::Write,
        Some(b'D') => Kind::Discard,
        Some(b'N') => Kind::Nothing,
        Some(b'Z') => return Ok((Kind::Command, has_flush, Flags::NONE)),
        // The kernel's own letter for a flush that is no write; it may stand alone.
        Some(b'F') | None if has_flush => Kind::Nothing,
        _ => return Err(bad(at.min(field.len().saturating_sub(1)))),
    };
    let mut flags = Flags::NONE;
    for (offset, letter) in field.iter().enumerate().skip(at + 1) {
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
fn with_body(line: &mut Line<'_>, event: Event) -> Result<Event, Bad> {
    line.skip_spaces();
    if event.kind == Kind::Command || matches!(line.rest().first(), None | Some(b'[' | b'(')) {
        return Ok(event);
    }
    let lba = line.spaced_number(u64::MAX >> 1, "the first sector")?;
    let plus = line.word();
    match plus.bytes {
        b"+" => {}
        command if command.starts_with(b"(") => return Ok(Event { kind: Kind::Command, ..event }),
        _ => return Err(plus.bad("+ between the first sector and their number")),
    }
    let sectors = line.spaced_number(u32::MAX.into(), "the number of sectors")? as u32;
    Ok(Event { lba, sectors, ..event })
}

#[cfg(test)]
mod tests;
