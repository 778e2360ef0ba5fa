//! Why a trace cannot be used.

use thiserror::Error;

/// Why a trace cannot be used. All are fatal for the trace.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TraceError {
    /// A line of a text trace does not read as the format says.
    #[error("{}line {line}, column {column}: `{value}`; expected {expected}", place(file))]
    BadLine {
        /// The trace's name, or empty.
        file: String,
        /// Line, from 1.
        line: u64,
        /// First byte of the value within the line, from 1.
        column: usize,
        /// What stands there.
        value: String,
        /// What may stand there.
        expected: String,
    },
    /// A record of a binary trace does not read as the format says.
    #[error("{}byte {offset}: {value}; expected {expected}", place(file))]
    BadRecord {
        /// The trace's name, or empty.
        file: String,
        /// Where the value begins, from 0.
        offset: u64,
        /// What stands there.
        value: String,
        /// What may stand there.
        expected: String,
    },
    /// No format can be recognised.
    #[error("{}the format is not recognised; name it; known are {known}", place(file))]
    Unrecognised {
        /// The trace's name, or empty.
        file: String,
        /// The names of all formats.
        known: String,
    },
    /// Several formats fit equally well.
    #[error("{}may be {fitting}; name the format", place(file))]
    Ambiguous {
        /// The trace's name, or empty.
        file: String,
        /// The names of the formats that fit.
        fitting: String,
    },
    /// There is no such format.
    #[error("there is no trace format {name:?}; known are {known}")]
    UnknownFormat {
        /// What was asked for.
        name: String,
        /// The names of all formats.
        known: String,
    },
    /// A record comes too late to be put in order on the way.
    #[error(
        "{}not in order of time: record {record} is {back_ns} ns earlier than one more than {window} records before; sort the whole trace",
        place(file)
    )]
    NotSorted {
        /// The trace's name, or empty.
        file: String,
        /// The record, from 1.
        record: u64,
        /// How much earlier it is \[ns\].
        back_ns: u64,
        /// How many records are held back to be put in order.
        window: usize,
    },
    /// There is nothing to replay.
    #[error("{}no read, write or flush in {frames} {}", place(file), if *is_text { "lines" } else { "records" })]
    Empty {
        /// The trace's name, or empty.
        file: String,
        /// Lines or binary records read.
        frames: u64,
        /// Whether it is a text.
        is_text: bool,
    },
    /// Nothing goes to the volume that was asked for.
    #[error("{}nothing goes to volume {volume}", place(file))]
    NoSuchVolume {
        /// The trace's name, or empty.
        file: String,
        /// The number of the volume.
        volume: u32,
    },
    /// A column is longer or shorter than the times.
    #[error("column {column} has {length} values; expected {expected}, as many as there are times")]
    Lengths {
        /// The column.
        column: &'static str,
        /// Its values.
        length: usize,
        /// The number of times.
        expected: usize,
    },
    /// A value of a column is not allowed.
    #[error("record {record}: {column} is {value}; expected {expected}")]
    BadValue {
        /// The record, from 0.
        record: usize,
        /// The column.
        column: &'static str,
        /// The value.
        value: u64,
        /// What is allowed.
        expected: String,
    },
    /// The volumes together are larger than any address.
    #[error("the {volumes} volumes laid end to end reach beyond sector 2^63; replay one of them")]
    TooLarge {
        /// Volumes of the trace.
        volumes: usize,
    },
}

impl TraceError {
    /// The error code.
    pub const fn code(&self) -> &'static str {
        "trace.bad-record"
    }

    /// The position in the trace, as text; empty for the whole trace.
    pub const fn place(&self) -> String {
        String::new()
    }
}

fn place(file: &str) -> String {
    if file.is_empty() { String::new() } else { format!("{file}: ") }
}
