//! A reader: takes the bytes of a trace in pieces, and gives records.

use super::format::Format;
use super::frame::{Bad, Feed, Item};
use super::problems::{Problem, Problems};
use super::{Columns, Record, Trace, TraceError, spread};

/// What is asked of a reader besides the format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The trace's name in messages; may be empty.
    pub file: String,
    /// How many lines or records that are wrong may be left out.
    pub skip_bad: u64,
    /// The only volume to take, where not all are wanted.
    pub volume: Option<u32>,
}

/// Where a format puts what it finds.
#[derive(Debug)]
pub(super) struct Sink {
    /// The I/Os in the order of the trace, until they are taken away.
    pub records: Vec<Record>,
    pub problems: Problems,
    /// Lines or binary records so far.
    pub frames: u64,
    /// Those that are sound but no I/O.
    pub others: u64,
    /// I/Os so far, those of other volumes among them.
    pub count: u64,
    options: Options,
    /// The latest time so far \[ns\].
    latest: u64,
}

impl Sink {
    pub fn new(options: Options) -> Self {
        Self {
            records: Vec::new(),
            problems: Problems::default(),
            frames: 0,
            others: 0,
            count: 0,
            options,
            latest: 0,
        }
    }

    /// Takes what stands at `place`; gives whether the trace ends there.
    #[inline]
    pub fn take(&mut self, item: Item, place: u64) -> bool {
        let record = match item {
            Item::Record(record) => record,
            Item::Rounded(record) => {
                self.problems.note(Problem::Rounded, place);
                record
            }
            Item::Noted(record, problem) => {
                self.problems.note(problem, place);
                record
            }
            Item::Left(problem) => {
                self.others += 1;
                self.problems.note(problem, place);
                return false;
            }
            Item::Nothing => {
                self.others += 1;
                return false;
            }
            Item::End => return true,
        };
        self.count += 1;
        let time = record.time.0;
        if time < self.latest {
            self.problems.note(Problem::OutOfOrder, place);
            self.problems.longest_back_ns = self.problems.longest_back_ns.max(self.latest - time);
        } else {
            self.latest = time;
        }
        if self.options.volume.is_none_or(|volume| volume == record.volume) {
            self.records.push(record);
        }
        false
    }

    /// Leaves out one more frame that is wrong, as long as that is allowed.
    fn skip(&mut self, place: u64, error: TraceError) -> Result<(), TraceError> {
        if self.problems.count(Problem::Bad) == self.options.skip_bad {
            return Err(error);
        }
        self.problems.note(Problem::Bad, place);
        Ok(())
    }

    #[cold]
    pub fn bad_line(&mut self, line: &[u8], number: u64, bad: Bad) -> Result<(), TraceError> {
        let value = &line[bad.from.min(line.len())..bad.to.min(line.len())];
        let error = TraceError::BadLine {
            file: self.options.file.clone(),
            line: number,
            column: bad.from + 1,
            value: printable(value),
            expected: bad.expected.into(),
        };
        self.skip(number, error)
    }

    #[cold]
    pub fn bad_record(&mut self, frame: &[u8], place: u64, bad: Bad) -> Result<(), TraceError> {
        let bytes = &frame[bad.from.min(frame.len())..bad.to.min(frame.len())];
        let hex = bytes.iter().rev().fold(String::from("0x"), |hex, byte| format!("{hex}{byte:02x}"));
        let error = TraceError::BadRecord {
            file: self.options.file.clone(),
            offset: place + bad.from as u64,
            value: hex,
            expected: bad.expected.into(),
        };
        self.skip(place, error)
    }
}

/// At most 40 bytes of a value, as people can read it.
fn printable(value: &[u8]) -> String {
    String::from_utf8_lossy(&value[..value.len().min(40)])
        .chars()
        .map(|letter| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter })
        .collect()
}

/// A trace of one format on its way in.
///
/// Memory: a frame that is not yet whole, what the format keeps, and the records that nobody has taken away: at most
/// one for each 5 bytes of text or 24 of a binary trace that were fed since.
pub struct Reader {
    format: &'static Format,
    feed: Box<dyn Feed>,
    sink: Sink,
}

impl Reader {
    /// A reader for one trace.
    pub fn new(format: &'static Format, options: Options) -> Self {
        Self { format, feed: format.open(), sink: Sink::new(options) }
    }

    /// The format.
    pub const fn format(&self) -> &'static Format {
        self.format
    }

    /// Takes more bytes of the trace.
    ///
    /// # Errors
    /// A line or record that does not read as the format says, where no more may be left out.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        self.feed.feed(bytes, &mut self.sink)
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// The last line is wrong, where no more may be left out; or there was no read, write or flush at all.
    pub fn finish(&mut self) -> Result<(), TraceError> {
        self.feed.finish(&mut self.sink)?;
        if self.sink.count == 0 {
            return Err(TraceError::Empty {
                file: self.sink.options.file.clone(),
                frames: self.sink.frames,
                is_text: self.format.is_text(),
            });
        }
        Ok(())
    }

    /// The records read since they were last taken away, in the order of the trace, times as they are recorded.
    pub fn take(&mut self) -> std::vec::Drain<'_, Record> {
        self.sink.records.drain(..)
    }

    /// What was wrong so far.
    pub const fn problems(&self) -> &Problems {
        &self.sink.problems
    }

    /// Lines or binary records so far.
    pub const fn frames(&self) -> u64 {
        self.sink.frames
    }
}

/// Records of a format collected to a trace in memory: sorted whole, and spread within their seconds where the format
/// has no finer times.
#[derive(Debug, Default)]
pub struct Collection {
    columns: Columns,
}

impl Collection {
    /// Adds what `reader` has read.
    pub fn add(&mut self, reader: &mut Reader) {
        for record in reader.take() {
            self.columns.push(record);
        }
    }

    /// The trace.
    ///
    /// # Errors
    /// No record of the volume that was asked for, or volumes that are too large together.
    pub fn into_trace(mut self, reader: &Reader) -> Result<Trace, TraceError> {
        self.columns.sort();
        if reader.format.is_whole_seconds() {
            spread::all(&mut self.columns.time_ns);
        }
        if self.columns.time_ns.is_empty() {
            let options = &reader.sink.options;
            return Err(TraceError::NoSuchVolume {
                file: options.file.clone(),
                volume: options.volume.unwrap_or(0),
            });
        }
        Trace::from_columns(self.columns)
    }
}
