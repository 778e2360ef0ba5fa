//! Frames: cuts a stream of bytes, given in pieces of any size, into the lines or binary records of a format.
//!
//! Memory: the decoder's own, and one incomplete frame: at most [`LONGEST_LINE`] bytes of a line, or 64 KiB and a header of
//! a binary record. A longer line is bad and is skipped without being kept.

use memchr::memchr;

use super::decoder::{BadField, Decoder, Framing};
use super::error::TraceError;
use super::problems::Problem;
use super::sink::Sink;

/// Maximum bytes of a line.
const LONGEST_LINE: usize = 1 << 16;

/// Bytes of an overlong line that a message shows.
const SHOWN: usize = 64;

/// Accepts the bytes of a trace.
pub(super) trait Feed: Send {
    /// Decodes more bytes.
    ///
    /// # Errors
    /// A bad frame, if no more may be skipped.
    fn feed(&mut self, bytes: &[u8], sink: &mut Sink) -> Result<(), TraceError>;

    /// Decodes what is left: nothing follows.
    ///
    /// # Errors
    /// The last line is bad, if no more may be skipped.
    fn finish(&mut self, sink: &mut Sink) -> Result<(), TraceError>;
}

/// The frames of a trace on their way to a decoder.
#[derive(Debug)]
pub(super) struct Frames<D> {
    decoder: D,
    /// The beginning of an incomplete frame.
    carry: Vec<u8>,
    /// Whether the rest of an overlong line is being skipped.
    is_skipping: bool,
    /// Whether the decoder reported the end of the trace.
    is_over: bool,
    /// Bytes or lines before the current frame.
    before: u64,
}

impl<D: Decoder> Default for Frames<D> {
    fn default() -> Self {
        Self::new(D::default())
    }
}

impl<D: Decoder> Frames<D> {
    /// The frames for a decoder.
    pub const fn new(decoder: D) -> Self {
        Self { decoder, carry: Vec::new(), is_skipping: false, is_over: false, before: 0 }
    }
}

impl<D: Decoder> Feed for Frames<D> {
    fn feed(&mut self, bytes: &[u8], sink: &mut Sink) -> Result<(), TraceError> {
        match D::FRAMING {
            Framing::Lines => self.feed_text(bytes, sink),
            Framing::Bytes(size) => self.feed_binary(bytes, size, sink),
        }
    }

    fn finish(&mut self, sink: &mut Sink) -> Result<(), TraceError> {
        let last = std::mem::take(&mut self.carry);
        if self.is_over || last.is_empty() {
            return Ok(());
        }
        match D::FRAMING {
            Framing::Lines => self.decode_line(&last, sink),
            Framing::Bytes(_) => {
                sink.problems.count_at(Problem::Truncated, self.before);
                Ok(())
            }
        }
    }
}

impl<D: Decoder> Frames<D> {
    fn feed_text(&mut self, mut bytes: &[u8], sink: &mut Sink) -> Result<(), TraceError> {
        if !self.carry.is_empty() || self.is_skipping {
            let end = memchr(b'\n', bytes);
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            self.keep(piece, sink)?;
            let Some(end) = end else { return Ok(()) };
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.carry);
            if std::mem::take(&mut self.is_skipping) {
                self.before += 1;
            } else {
                self.decode_line(&line, sink)?;
            }
            self.carry = line;
            self.carry.clear();
        }
        while let Some(end) = memchr(b'\n', bytes) {
            if self.is_over {
                return Ok(());
            }
            self.decode_line(&bytes[..end], sink)?;
            bytes = &bytes[end + 1..];
        }
        self.keep(bytes, sink)
    }

    /// Keeps the beginning of a line, unless it is overlong.
    fn keep(&mut self, piece: &[u8], sink: &mut Sink) -> Result<(), TraceError> {
        if self.is_skipping || self.is_over {
            return Ok(());
        }
        if self.carry.len() + piece.len() > LONGEST_LINE {
            self.is_skipping = true;
            sink.frames += 1;
            self.carry.extend_from_slice(&piece[..piece.len().min(SHOWN)]);
            let line = std::mem::take(&mut self.carry);
            return sink.skip_line(&line, self.before + 1, TOO_LONG);
        }
        self.carry.extend_from_slice(piece);
        Ok(())
    }

    #[inline]
    fn decode_line(&mut self, line: &[u8], sink: &mut Sink) -> Result<(), TraceError> {
        self.before += 1;
        sink.frames += 1;
        if line.len() > LONGEST_LINE {
            return sink.skip_line(line, self.before, TOO_LONG);
        }
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return Ok(());
        }
        if self.before == 1
            && let Some(header) = D::HEADER
            && line.len() >= header.len()
            && line[..header.len()].eq_ignore_ascii_case(header.as_bytes())
        {
            sink.others += 1;
            return Ok(());
        }
        match self.decoder.decode(line) {
            Ok(item) => self.is_over |= sink.add(item, self.before),
            Err(bad) => sink.skip_line(line, self.before, bad)?,
        }
        Ok(())
    }

    fn feed_binary(&mut self, mut bytes: &[u8], size: usize, sink: &mut Sink) -> Result<(), TraceError> {
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
                self.decode_record(&frame, sink)?;
            }
        }
        while bytes.len() >= size {
            let length = size + self.decoder.trailer(&bytes[..size]);
            if bytes.len() < length {
                break;
            }
            self.decode_record(&bytes[..length], sink)?;
            bytes = &bytes[length..];
        }
        self.carry.extend_from_slice(bytes);
        Ok(())
    }

    /// The length of the incomplete frame, as far as it is known.
    fn needed(&self, size: usize) -> usize {
        match self.carry.get(..size) {
            Some(header) => size + self.decoder.trailer(header),
            None => size,
        }
    }

    #[inline]
    fn decode_record(&mut self, frame: &[u8], sink: &mut Sink) -> Result<(), TraceError> {
        let place = self.before;
        self.before += frame.len() as u64;
        sink.frames += 1;
        match self.decoder.decode(frame) {
            Ok(item) => {
                sink.add(item, place);
                Ok(())
            }
            Err(bad) => sink.skip_record(frame, place, bad),
        }
    }
}

const TOO_LONG: BadField = BadField { from: 0, to: LONGEST_LINE, expected: "a line of at most 65,536 bytes" };
