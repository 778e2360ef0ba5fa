//! Errors of traces: code, place, message and data.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

/// A position in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Position {
    /// In a text.
    Line {
        /// Line, from 1.
        line: u64,
        /// Byte of the line, from 1; none for the whole line.
        #[serde(skip_serializing_if = "Option::is_none")]
        column: Option<usize>,
    },
    /// In a binary trace.
    Byte {
        /// Byte of the trace, from 0.
        offset: u64,
    },
    /// In the sequence of records.
    Record {
        /// Record, from 1.
        record: u64,
    },
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, column: Some(column) } => write!(out, "line {line}, column {column}"),
            Self::Line { line, column: None } => write!(out, "line {line}"),
            Self::Byte { offset } => write!(out, "byte {offset}"),
            Self::Record { record } => write!(out, "record {record}"),
        }
    }
}

/// Why a trace cannot be used. All are fatal for the trace.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "the names say it")]
pub enum TraceError {
    /// A line or record does not match the format.
    #[error("expected {expected}, found {}{}", quoted(value), after(*skipped))]
    BadRecord {
        #[serde(flatten)]
        position: Position,
        /// The value found, hexadecimal for a binary trace.
        value: String,
        expected: &'static str,
        /// Bad lines or records that were skipped before, which is all that may be.
        skipped: u64,
    },
    /// No format matches.
    #[error("unrecognised trace format; name one with `--format`: {}", known.join(", "))]
    UnrecognisedFormat { known: Vec<&'static str> },
    /// Several formats match equally well.
    #[error("ambiguous trace format; name one with `--format`: {}", matching.join(", "))]
    AmbiguousFormat { matching: Vec<&'static str> },
    /// The named format does not exist.
    #[error("unknown trace format `{name}`; known formats: {}", known.join(", "))]
    UnknownFormat { name: String, known: Vec<&'static str> },
    /// A record is too late to be sorted within the window.
    #[error("{back_ns} ns earlier than a record more than {window} records before; sort the whole trace")]
    NotSorted {
        #[serde(flatten)]
        position: Position,
        /// How much earlier it is \[ns\].
        back_ns: u64,
        /// Size of the window \[records\].
        window: usize,
    },
    /// There is nothing to replay.
    #[error("no read, write or flush in {frames} {}{needs}", if *is_text { "lines" } else { "records" })]
    Empty {
        /// Lines or binary records read.
        frames: u64,
        is_text: bool,
        /// What the format must have to be read, as the end of the message.
        #[serde(skip)]
        needs: &'static str,
    },
    /// No record belongs to the selected volume.
    #[error("no record for volume {volume}")]
    NoSuchVolume { volume: u32 },
    /// A column is longer or shorter than the column of times.
    #[error("column {column} has {length} values; expected {expected}, as many as there are times")]
    BadColumn { column: &'static str, length: usize, expected: usize },
    /// A value of a column is not allowed.
    #[error("{column} is {value}; expected {expected}")]
    BadValue {
        #[serde(flatten)]
        position: Position,
        column: &'static str,
        value: u64,
        expected: String,
    },
    /// The volumes together exceed the address space.
    #[error("the {volumes} volumes laid end to end exceed 2^63 sectors; replay one of them")]
    TooLarge { volumes: usize },
}

impl TraceError {
    /// The error code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BadRecord { skipped: 0, .. } => "trace.bad-record",
            Self::BadRecord { .. } => "trace.too-many-bad-records",
            Self::UnrecognisedFormat { .. } => "trace.unrecognised-format",
            Self::AmbiguousFormat { .. } => "trace.ambiguous-format",
            Self::UnknownFormat { .. } => "trace.unknown-format",
            Self::NotSorted { .. } => "trace.not-in-order",
            Self::Empty { .. } | Self::NoSuchVolume { .. } => "trace.empty",
            Self::BadColumn { .. } => "trace.bad-column",
            Self::BadValue { .. } => "trace.bad-value",
            Self::TooLarge { .. } => "trace.too-large",
        }
    }

    /// The position in the trace, as text; empty for the whole trace.
    pub fn place(&self) -> String {
        match self {
            Self::BadRecord { position, .. }
            | Self::NotSorted { position, .. }
            | Self::BadValue { position, .. } => position.to_string(),
            _ => String::new(),
        }
    }

    /// The fields, as a JSON object.
    pub fn data(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

fn quoted(value: &str) -> String {
    if value.is_empty() { "nothing".into() } else { format!("`{value}`") }
}

fn after(skipped: u64) -> String {
    if skipped == 0 { String::new() } else { format!(" ({skipped} bad records already skipped)") }
}
