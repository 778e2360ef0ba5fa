//! The reader of a trace: bytes in, records out.

use std::vec::Drain;

use super::columns::Columns;
use super::error::{Position, TraceError};
use super::formats::delimited::{Delimited, Layout};
use super::formats::{DELIMITED, Format};
use super::frames::{Feed, Frames};
use super::problems::{Finding, Problems};
use super::record::Record;
use super::recorded::Trace;
use super::sink::{ReaderOptions, Sink};
use super::spread;

/// Reads a trace of one format.
///
/// Memory: an incomplete frame, what the decoder keeps, and the records that were not taken yet: at most one for each 5
/// bytes of text or 24 of a binary trace.
pub struct Reader {
    format: &'static Format,
    feed: Box<dyn Feed>,
    sink: Sink,
}

impl Reader {
    /// A reader for one trace.
    pub fn new(format: &'static Format, options: ReaderOptions) -> Self {
        Self { format, feed: format.open(), sink: Sink::new(options) }
    }

    /// A reader for one delimited text.
    pub fn delimited(layout: Layout, options: ReaderOptions) -> Self {
        let feed = Box::new(Frames::new(Delimited::new(layout)));
        Self { format: &DELIMITED, feed, sink: Sink::new(options) }
    }

    /// The format.
    pub const fn format(&self) -> &'static Format {
        self.format
    }

    /// Reads more bytes of the trace.
    ///
    /// # Errors
    /// A line or record does not match the format, and no more may be skipped.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        self.feed.feed(bytes, &mut self.sink)
    }

    /// Ends the trace: nothing follows.
    ///
    /// # Errors
    /// The last line is bad, and no more may be skipped; or there was no read, write or flush.
    pub fn finish(&mut self) -> Result<(), TraceError> {
        self.feed.finish(&mut self.sink)?;
        self.sink.finish(if self.format.is_text() { self.sink.frames } else { 0 });
        if self.sink.count == 0 {
            return Err(TraceError::Empty {
                frames: self.sink.frames,
                is_text: self.format.is_text(),
                needs: self.format.needs(),
            });
        }
        Ok(())
    }

    /// Takes the records read so far, in the order of the trace, with times as recorded.
    pub fn take(&mut self) -> Drain<'_, Record> {
        self.sink.records.drain(..)
    }

    /// The warnings so far, counted.
    pub const fn problems(&self) -> &Problems {
        &self.sink.problems
    }

    /// The warnings so far, described.
    pub fn findings(&self) -> Vec<Finding> {
        let is_text = self.format.is_text();
        self.sink.problems.findings(|place| {
            if is_text {
                Position::Line { line: place, column: None }
            } else {
                Position::Byte { offset: place }
            }
        })
    }

    /// Lines or binary records so far.
    pub const fn frames(&self) -> u64 {
        self.sink.frames
    }
}

/// Collects the records of a reader into a trace: sorted as a whole, and spread within their seconds if the format has
/// no finer times.
#[derive(Debug, Default)]
pub struct TraceBuilder {
    columns: Columns,
}

impl TraceBuilder {
    /// Takes the records of `reader`.
    pub fn take_from(&mut self, reader: &mut Reader) {
        for record in reader.take() {
            self.columns.push(record);
        }
    }

    /// Builds the trace of all records of `reader`.
    ///
    /// # Errors
    /// No record belongs to the selected volume, or the volumes together are too large.
    pub fn build(mut self, reader: &Reader) -> Result<Trace, TraceError> {
        self.columns.sort();
        if reader.format.is_whole_seconds() {
            spread::spread_times(&mut self.columns.time_ns);
        }
        if let Some(volume) = reader.sink.options.volume
            && self.columns.time_ns.is_empty()
        {
            return Err(TraceError::NoSuchVolume { volume });
        }
        Trace::from_columns(self.columns)
    }
}
