//! The sink: collects what the decoder of a trace finds.

use super::decoder::{BadField, Item};
use super::error::{Position, TraceError};
use super::problems::{Problem, Problems};
use super::record::Record;

/// Requests below which the time between them says nothing.
const FEWEST: u64 = 4;
/// Mean time between requests above which their times may be in another unit \[ns\].
const LONGEST_GAP: u64 = 100_000_000_000;

/// Options of reading a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReaderOptions {
    /// Maximum bad lines or records to skip.
    pub skip_bad: u64,
    /// The only volume to read; all if none.
    pub volume: Option<u32>,
}

/// The records of a trace so far, and counts.
#[derive(Debug, Default)]
pub(super) struct Sink {
    /// The I/Os in the order of the trace that were not taken yet.
    pub records: Vec<Record>,
    pub problems: Problems,
    /// Lines or binary records.
    pub frames: u64,
    /// Valid ones that are not an I/O.
    pub others: u64,
    /// I/Os, including those of other volumes.
    pub count: u64,
    pub options: ReaderOptions,
    /// The earliest time \[ns\], if there is a record.
    earliest: Option<u64>,
    /// The latest time \[ns\].
    latest: u64,
}

impl Sink {
    pub fn new(options: ReaderOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Adds the item at `place`, a line or byte; returns whether the trace ends there.
    #[inline]
    pub fn add(&mut self, item: Item, place: u64) -> bool {
        let record = match item {
            Item::Record(record) => record,
            Item::Flagged(record, problem) => {
                self.problems.count_at(problem, place);
                record
            }
            Item::Skipped(problem) => {
                self.others += 1;
                self.problems.count_at(problem, place);
                return false;
            }
            Item::Ignored => {
                self.others += 1;
                return false;
            }
            Item::End => return true,
        };
        self.count += 1;
        self.earliest = Some(self.earliest.map_or(record.time.0, |earliest| earliest.min(record.time.0)));
        if record.time.0 < self.latest {
            self.problems.count_at(Problem::OutOfOrder, place);
        } else {
            self.latest = record.time.0;
        }
        if self.options.volume.is_none_or(|volume| volume == record.volume) {
            self.records.push(record);
        }
        false
    }

    /// Ends the trace, at `place`: warns about times that may be in another unit.
    pub fn finish(&mut self, place: u64) {
        let length = self.latest - self.earliest.unwrap_or(self.latest);
        let is_doubtful = self.count >= FEWEST && length / self.count > LONGEST_GAP;
        if is_doubtful && self.problems.count(Problem::DoubtfulTimes) == 0 {
            self.problems.count_at(Problem::DoubtfulTimes, place);
        }
    }

    /// Skips a bad line.
    ///
    /// # Errors
    /// No more may be skipped.
    #[cold]
    pub fn skip_line(&mut self, line: &[u8], number: u64, bad: BadField) -> Result<(), TraceError> {
        let value = &line[bad.from.min(line.len())..bad.to.min(line.len())];
        let position = Position::Line { line: number, column: Some(bad.from + 1) };
        self.skip(number, position, printable(value), bad.expected)
    }

    /// Skips a bad binary record, which begins at byte `offset`.
    ///
    /// # Errors
    /// No more may be skipped.
    #[cold]
    pub fn skip_record(&mut self, frame: &[u8], offset: u64, bad: BadField) -> Result<(), TraceError> {
        let bytes = &frame[bad.from.min(frame.len())..bad.to.min(frame.len())];
        let hex = bytes.iter().rev().fold(String::from("0x"), |hex, byte| format!("{hex}{byte:02x}"));
        self.skip(offset, Position::Byte { offset: offset + bad.from as u64 }, hex, bad.expected)
    }

    fn skip(
        &mut self,
        place: u64,
        position: Position,
        value: String,
        expected: &'static str,
    ) -> Result<(), TraceError> {
        let skipped = self.problems.count(Problem::Bad);
        if skipped == self.options.skip_bad {
            return Err(TraceError::BadRecord { position, value, expected, skipped });
        }
        self.problems.count_at(Problem::Bad, place);
        Ok(())
    }
}

/// At most 40 bytes of a value, control characters replaced.
fn printable(value: &[u8]) -> String {
    String::from_utf8_lossy(&value[..value.len().min(40)])
        .chars()
        .map(|letter| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter })
        .collect()
}
