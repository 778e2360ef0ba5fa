//! blkparse: reads the default text output of `blkparse`, the decoder of Linux block traces.
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
//! Assumed: one device; more than one is an error, since their addresses overlap. Events out of order, which blkparse
//! prints when a slow CPU's buffer comes late, are sorted by time, equal times in the order of the file.
//!
//! Cost: one pass over the text, several million lines per second.

use super::{Columns, Flags, Op, Record, Trace, TraceError};
use crate::units::{Lba, Sectors, SimDuration};

/// A trace as read, with what was left out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The I/Os.
    pub trace: Trace,
    /// The queue events that are not among them.
    pub skipped: Skipped,
}

/// Queue events that are not replayed, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Discards (trim).
    pub discards: u64,
    /// Zone commands and commands passed through to the device.
    pub commands: u64,
    /// Events without sectors that are no flush.
    pub empty: u64,
}

/// Reads the text of a trace. `file` names it in messages and may be empty.
///
/// # Errors
/// A line that does not read as the format says, with its place; or no I/O at all.
pub fn read(text: &[u8], file: &str) -> Result<Reading, TraceError> {
    let mut columns = Columns::default();
    let mut skipped = Skipped::default();
    let mut device: Option<&[u8]> = None;
    let mut is_sorted = true;
    let mut lines = 0;
    for bytes in text.split(|&byte| byte == b'\n') {
        lines += 1;
        let mut line = Line { bytes: bytes.trim_ascii_end(), at: 0 };
        line.skip_spaces();
        let start = line.at;
        if line.rest().is_empty() {
            continue;
        }
        if line.rest().starts_with(b"CPU") || line.rest().starts_with(b"Total") {
            break;
        }
        let event = line.event().map_err(|bad| bad.at_line(file, lines))?;
        let Some((on, event)) = event else { continue };
        if *device.get_or_insert(on) != on {
            let bad = Bad::new(&line, start, "the device of the lines before: one trace, one device");
            return Err(bad.at_line(file, lines));
        }
        match event {
            Event::Io(record) => {
                is_sorted &= columns.time_ns.last().is_none_or(|&before| before <= record.time.0);
                columns.push(record);
            }
            Event::Discard => skipped.discards += 1,
            Event::Command => skipped.commands += 1,
            Event::Empty => skipped.empty += 1,
        }
    }
    if columns.time_ns.is_empty() {
        return Err(TraceError::Empty { file: file.into(), lines });
    }
    if !is_sorted {
        columns = sorted(&columns);
    }
    Trace::from_columns(columns).map(|trace| Reading { trace, skipped })
}

fn sorted(columns: &Columns) -> Columns {
    let mut order: Vec<usize> = (0..columns.time_ns.len()).collect();
    order.sort_by_key(|&index| columns.time_ns[index]);
    Columns {
        time_ns: order.iter().map(|&index| columns.time_ns[index]).collect(),
        process: order.iter().map(|&index| columns.process[index]).collect(),
        lba: order.iter().map(|&index| columns.lba[index]).collect(),
        sectors: order.iter().map(|&index| columns.sectors[index]).collect(),
        op: order.iter().map(|&index| columns.op[index]).collect(),
        flags: order.iter().map(|&index| columns.flags[index]).collect(),
    }
}

/// A queue event.
enum Event {
    Io(Record),
    Discard,
    Command,
    Empty,
}

/// What the letters of an event say.
struct Letters {
    /// `None`: a zone command.
    op: Option<u8>,
    has_flush: bool,
    flags: Flags,
}

/// A place in a line that does not read as expected.
struct Bad {
    column: usize,
    value: String,
    expected: &'static str,
}

impl Bad {
    /// The field that begins at `from`.
    fn new(line: &Line, from: usize, expected: &'static str) -> Self {
        let rest = &line.bytes[from..];
        let end = rest.iter().position(|&byte| byte == b' ').unwrap_or(rest.len()).min(40);
        Self { column: from + 1, value: String::from_utf8_lossy(&rest[..end]).into_owned(), expected }
    }

    fn at_line(self, file: &str, line: u64) -> TraceError {
        let Self { column, value, expected } = self;
        TraceError::BadLine { file: file.into(), line, column, value, expected: expected.into() }
    }
}

/// A line with a place in it.
struct Line<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Line<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    fn skip_spaces(&mut self) {
        while self.bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
    }

    /// The next field, spaces before it skipped.
    #[inline]
    fn field(&mut self) -> (usize, &'a [u8]) {
        self.skip_spaces();
        let from = self.at;
        while self.bytes.get(self.at).is_some_and(|&byte| byte != b' ') {
            self.at += 1;
        }
        (from, &self.bytes[from..self.at])
    }

    #[inline]
    fn number(&mut self, most: u64, expected: &'static str) -> Result<u64, Bad> {
        let (from, field) = self.field();
        match digits(field) {
            Some(number) if number <= most => Ok(number),
            _ => Err(Bad::new(self, from, expected)),
        }
    }

    /// The event of this line with its device; `None` where it is no queue event.
    fn event(&mut self) -> Result<Option<(&'a [u8], Event)>, Bad> {
        let (from, device) = self.field();
        let comma = device.iter().position(|&byte| byte == b',');
        if comma
            .is_none_or(|comma| digits(&device[..comma]).is_none() || digits(&device[comma + 1..]).is_none())
        {
            return Err(Bad::new(self, from, "a device as major,minor, or the summary"));
        }
        self.number(u64::MAX, "a CPU number")?;
        self.number(u64::MAX, "a sequence number")?;
        let (from, field) = self.field();
        let Some(time) = nanoseconds(field) else {
            return Err(Bad::new(self, from, "a time as seconds.nanoseconds"));
        };
        let process = self.number(u32::MAX.into(), "a process id")? as u32;
        let (from, action) = self.field();
        match action {
            b"Q" => {}
            [] => return Err(Bad::new(self, from, "an action such as Q, G, D, C or m")),
            _ => return Ok(None),
        }
        let letters = self.letters()?;
        Ok(Some((device, self.body(SimDuration(time), process, &letters)?)))
    }

    fn letters(&mut self) -> Result<Letters, Bad> {
        let (from, field) = self.field();
        let bad = |line: &Self, offset| {
            Bad::new(line, from + offset, "letters as in FWFASM: [F] R|W|D|N|Z [F] [A] [S] [M]")
        };
        let mut letters = Letters { op: None, has_flush: false, flags: Flags::NONE };
        let mut at = 0;
        if field.first() == Some(&b'F') {
            letters.has_flush = true;
            at = 1;
        }
        match field.get(at) {
            Some(b'Z') => return Ok(letters),
            Some(&op @ (b'R' | b'W' | b'D' | b'N')) => letters.op = Some(op),
            // The kernel's own letter for a flush that is no write; it may stand alone.
            Some(b'F') | None if letters.has_flush => letters.op = Some(b'N'),
            _ => return Err(bad(self, at.min(field.len().saturating_sub(1)))),
        }
        for (offset, letter) in field.iter().enumerate().skip(at + 1) {
            letters.flags = letters.flags.with(match letter {
                b'F' => Flags::FUA,
                b'A' => Flags::READ_AHEAD,
                b'S' => Flags::SYNC,
                b'M' => Flags::META,
                b'B' => {
                    letters.has_flush = true;
                    Flags::FUA
                }
                b'E' | b'U' => Flags::NONE,
                _ => return Err(bad(self, offset)),
            });
        }
        Ok(letters)
    }

    /// What follows the letters: `sector + sectors`, or nothing, or the bytes of a command passed through.
    fn body(&mut self, time: SimDuration, process: u32, letters: &Letters) -> Result<Event, Bad> {
        let Some(op) = letters.op else { return Ok(Event::Command) };
        self.skip_spaces();
        let (mut lba, mut sectors) = (0, 0);
        if !matches!(self.rest().first(), None | Some(b'[' | b'(')) {
            lba = self.number(u64::MAX >> 1, "the first sector")?;
            match self.field() {
                (_, b"+") => sectors = self.number(u32::MAX.into(), "the number of sectors")?,
                (_, command) if command.starts_with(b"(") => return Ok(Event::Command),
                (from, _) => return Err(Bad::new(self, from, "+ between the first sector and their number")),
            }
        }
        let io = |op, lba, flags| {
            Event::Io(Record { time, process, lba: Lba(lba), sectors: Sectors(sectors), op, flags })
        };
        let preflush = if letters.has_flush { Flags::PREFLUSH } else { Flags::NONE };
        Ok(match (op, sectors) {
            (b'D', _) => Event::Discard,
            (_, 0) if letters.has_flush => {
                let kept = letters.flags.bits() & (Flags::SYNC.bits() | Flags::META.bits());
                io(Op::Flush, 0, Flags(kept))
            }
            (_, 0) | (b'N', _) => Event::Empty,
            (b'R', _) => io(Op::Read, lba, letters.flags),
            _ => io(Op::Write, lba, letters.flags.with(preflush)),
        })
    }
}

/// A whole number in decimal digits.
#[inline]
fn digits(field: &[u8]) -> Option<u64> {
    if field.is_empty() || field.len() > 19 {
        return None;
    }
    let mut number = 0_u64;
    for byte in field {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    Some(number)
}

/// `seconds.fraction` with one to nine digits of fraction, in nanoseconds.
#[inline]
fn nanoseconds(field: &[u8]) -> Option<u64> {
    let point = field.iter().position(|&byte| byte == b'.')?;
    let fraction = &field[point + 1..];
    if fraction.len() > 9 {
        return None;
    }
    let scale = 10_u64.pow(9 - fraction.len() as u32);
    digits(&field[..point])?.checked_mul(1_000_000_000)?.checked_add(digits(fraction)? * scale)
}

#[cfg(test)]
mod tests;
