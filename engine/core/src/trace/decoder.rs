//! The interface between a trace format and the code that drives it.

use super::problems::Problem;
use super::record::Record;

/// How the records of a format are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// A text with one record per line.
    Lines,
    /// Records of this many bytes, plus the [`Decoder::trailer`].
    Bytes(usize),
}

/// What a frame (a line or a binary record) holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// An I/O.
    Record(Record),
    /// An I/O with a warning.
    Flagged(Record, Problem),
    /// Something that is skipped with a warning.
    Skipped(Problem),
    /// Something that is not an I/O: another event, a header.
    Ignored,
    /// The end of the trace; later records are ignored.
    End,
}

impl Item {
    /// A read or write, which may have been rounded out to whole sectors.
    #[inline]
    pub const fn transfer(record: Record, is_rounded: bool) -> Self {
        if record.sectors.0 == 0 {
            Self::Skipped(Problem::ZeroLength)
        } else if is_rounded {
            Self::Flagged(record, Problem::Unaligned)
        } else {
            Self::Record(record)
        }
    }
}

/// The bytes `from` up to `to` of a frame do not match the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadField {
    pub from: usize,
    pub to: usize,
    pub expected: &'static str,
}

/// One trace format: decodes one frame after the other.
///
/// It may keep state for later frames in bounded memory, and must not panic on any frame.
pub(super) trait Decoder: Default + Send + 'static {
    /// The name, as in `--format`.
    const NAME: &'static str;
    /// A description in a few words.
    const TITLE: &'static str;
    /// How its records are separated.
    const FRAMING: Framing;
    /// Whether its times are whole seconds, over which the records are spread.
    const IS_WHOLE_SECONDS: bool = false;
    /// How a header line begins, in lower case.
    const HEADER: Option<&'static str> = None;

    /// What a trace without I/Os lacks, as the end of a message.
    const NEEDS: &'static str = "";

    /// Decodes a frame: a line without its end, or a binary record with its trailer.
    ///
    /// # Errors
    /// The field that does not match the format.
    fn decode(&mut self, frame: &[u8]) -> Result<Item, BadField>;

    /// Whether a trace of this format may begin with these records.
    fn is_plausible(_beginning: &[Record]) -> bool {
        true
    }

    /// Bytes that follow the fixed part of a binary record, at most 64 KiB.
    fn trailer(&self, _header: &[u8]) -> usize {
        0
    }
}
