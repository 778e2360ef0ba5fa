//! Frames: cuts a stream of bytes, given in pieces of any size, into the lines or binary records of a format.
//!
//! Memory: what a format holds itself, and one frame that is not yet whole: at most [`LONGEST_LINE`] bytes of a line, or
//! 64 KiB and a header of a binary record. A longer line is wrong, and is passed over without being kept.

use memchr::memchr;

use super::problems::Problem;
use super::reader::Sink;
use super::{Record, TraceError};

/// Bytes that a line may have.
pub(super) const LONGEST_LINE: usize = 1 << 16;

/// Bytes of a line that is too long that a message shows.
const SHOWN: usize = 64;

/// How the records of a format are cut out of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A text with a record a line.
    Line,
    /// So many bytes, and what [`Decode::trailer`] says follows them.
    Bytes(usize),
}

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// An I/O.
    Record(Record),
    /// An I/O whose offset or size is no multiple of 512 bytes, with all sectors that it touches.
    Rounded(Record),
    /// Something that is left out for a reason.
    Left(Problem),
    /// An I/O, and something to be said about it.
    Noted(Record, Problem),
    /// Nothing of interest: another event, a heading.
    Nothing,
    /// Nothing follows.
    End,
}

impl Item {
    /// An I/O whose bytes were rounded or not.
    #[inline]
    pub fn rounded_if(is_rounded: bool, record: Record) -> Self {
        if record.sectors.0 == 0 {
            Self::Left(Problem::ZeroLength)
        } else if is_rounded {
            Self::Rounded(record)
        } else {
            Self::Record(record)
        }
    }
}

/// A place in a frame that does not read as expected: its bytes from `from` up to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bad {
    pub from: usize,
    pub to: usize,
    pub expected: &'static str,
}

/// One format: reads one frame after the other.
///
/// It may keep what later frames need, in bounded memory, and must not panic whatever the frame holds.
pub(super) trait Decode: Default + Send + 'static {
    /// What people call it with `--format`.
    const NAME: &'static str;
    /// What it is, in a few words.
    const TITLE: &'static str;
    /// How its records are cut out.
    const FRAME: Frame;
    /// Whether its times are whole seconds, within which the records are spread.
    const IS_WHOLE_SECONDS: bool = false;
    /// How a first line begins that is a heading, in small letters.
    const HEADING: Option<&'static str> = None;

    /// Reads a frame: a line without its end, or a binary record with its trailer.
    ///
    /// # Errors
    /// The place that does not read as expected.
    fn decode(&mut self, frame: &[u8]) -> Result<Item, Bad>;

    /// Whether a trace may begin with these records, as far as no single one of them tells.
    fn is_plausible(_beginning: &[Record]) -> bool {
        true
    }

    /// How many bytes belong to a binary record besides those of [`Frame::Bytes`]; at most 64 KiB.
    fn trailer(&self, _header: &[u8]) -> usize {
        0
    }
}

/// A format that takes bytes.
pub(super) trait Feed: Send {
    /// Takes more bytes.
    ///
    /// # Errors
    /// A frame that is wrong, where no more may be left out.
    fn feed(&mut self, bytes: &[u8], sink: &mut Sink) -> Result<(), TraceError>;

    /// Nothing follows.
    ///
    /// # Errors
    /// The last line is wrong, where no more may be left out.
    fn finish(&mut self, sink: &mut Sink) -> Result<(), TraceError>;
}

/// The frames of a format.
#[derive(Debug)]
pub(super) struct Frames<D> {
    decoder: D,
    /// The beginning of a frame that is not yet whole.
    carry: Vec<u8>,
    /// Whether the rest of a line that is too long is passed over.
    is_passing: bool,
    /// Whether the format said that nothing follows.
    is_over: bool,
    /// Bytes or lines before the frame at hand.
    before: u64,
}

impl<D: Decode> Default for Frames<D> {
    fn default() -> Self {
        Self { decoder: D::default(), carry: Vec::new(), is_passing: false, is_over: false, before: 0 }
    }
}

impl<D: Decode> Feed for Frames<D> {
    fn feed(&mut self, bytes: &[u8], sink: &mut Sink) -> Result<(), TraceError> {
        match D::FRAME {
            Frame::Line => self.lines(bytes, sink),
            Frame::Bytes(size) => self.records(bytes, size, sink),
        }
    }

    fn finish(&mut self, sink: &mut Sink) -> Result<(), TraceError> {
        let last = std::mem::take(&mut self.carry);
        if self.is_over || last.is_empty() {
            return Ok(());
        }
        match D::FRAME {
            Frame::Line => self.line(&last, sink),
            Frame::Bytes(_) => {
                sink.problems.note(Problem::Torn, self.before);
                Ok(())
            }
        }
    }
}

impl<D: Decode> Frames<D> {
    fn lines(&mut self, mut bytes: &[u8], sink: &mut Sink) -> Result<(), TraceError> {
        if !self.carry.is_empty() || self.is_passing {
            let end = memchr(b'\n', bytes);
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            self.keep(piece, sink)?;
            let Some(end) = end else { return Ok(()) };
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.carry);
            if std::mem::take(&mut self.is_passing) {
                self.before += 1;
            } else {
                self.line(&line, sink)?;
            }
            self.carry = line;
            self.carry.clear();
        }
        while let Some(end) = memchr(b'\n', bytes) {
            if self.is_over {
                return Ok(());
            }
            self.line(&bytes[..end], sink)?;
            bytes = &bytes[end + 1..];
        }
        self.keep(bytes, sink)
    }

    /// Keeps the beginning of a line, unless the line is too long.
    fn keep(&mut self, piece: &[u8], sink: &mut Sink) -> Result<(), TraceError> {
        if self.is_passing || self.is_over {
            return Ok(());
        }
        if self.carry.len() + piece.len() > LONGEST_LINE {
            self.is_passing = true;
            sink.frames += 1;
            self.carry.extend_from_slice(&piece[..piece.len().min(SHOWN)]);
            let line = std::mem::take(&mut self.carry);
            return sink.bad_line(&line, self.before + 1, TOO_LONG);
        }
        self.carry.extend_from_slice(piece);
        Ok(())
    }

    #[inline]
    fn line(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), TraceError> {
        self.before += 1;
        sink.frames += 1;
        if line.len() > LONGEST_LINE {
            return sink.bad_line(line, self.before, TOO_LONG);
        }
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return Ok(());
        }
        if self.before == 1
            && let Some(heading) = D::HEADING
            && line.len() >= heading.len()
            && line[..heading.len()].eq_ignore_ascii_case(heading.as_bytes())
        {
            sink.others += 1;
            return Ok(());
        }
        match self.decoder.decode(line) {
            Ok(item) => self.is_over |= sink.take(item, self.before),
            Err(bad) => sink.bad_line(line, self.before, bad)?,
        }
        Ok(())
    }

    fn records(&mut self, mut bytes: &[u8], size: usize, sink: &mut Sink) -> Result<(), TraceError> {
        while !self.carry.is_empty() {
            let needed = self.needed(size);
            let more = (needed - self.carry.len()).min(bytes.len());
            self.carry.extend_from_slice(&bytes[..more]);
            bytes = &bytes[more..];
            if self.carry.len() < needed {
                return Ok(());
            }
            if self.needed(size) == needed {
                let frame = std::mem::take(&mut self.carry);
                self.record(&frame, sink)?;
            }
        }
        while bytes.len() >= size {
            let length = size + self.decoder.trailer(&bytes[..size]);
            if bytes.len() < length {
                break;
            }
            self.record(&bytes[..length], sink)?;
            bytes = &bytes[length..];
        }
        self.carry.extend_from_slice(bytes);
        Ok(())
    }

    /// How many bytes the frame that is kept has, as far as they tell.
    fn needed(&self, size: usize) -> usize {
        match self.carry.get(..size) {
            Some(header) => size + self.decoder.trailer(header),
            None => size,
        }
    }

    #[inline]
    fn record(&mut self, frame: &[u8], sink: &mut Sink) -> Result<(), TraceError> {
        let place = self.before;
        self.before += frame.len() as u64;
        sink.frames += 1;
        match self.decoder.decode(frame) {
            Ok(item) => {
                sink.take(item, place);
                Ok(())
            }
            Err(bad) => sink.bad_record(frame, place, bad),
        }
    }
}

const TOO_LONG: Bad = Bad { from: 0, to: LONGEST_LINE, expected: "a line of at most 65,536 bytes" };
