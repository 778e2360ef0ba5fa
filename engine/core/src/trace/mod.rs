//! Traces: recorded block I/Os, ready for replay.
//!
//! A trace holds its records column by column, in recorded order. What a record asks for is an operation and flags:
//!
//! | recorded                          | operation         | sectors | flags                                   |
//! |-----------------------------------|-------------------|---------|-----------------------------------------|
//! | read                              | [`Op::Read`]      | >= 1    | `READ_AHEAD` where nobody waits for it  |
//! | write                             | [`Op::Write`]     | >= 1    | `SYNC` where its process waits for it   |
//! | write that must reach the media   | [`Op::Write`]     | >= 1    | `FUA`                                   |
//! | flush, then a write               | [`Op::Write`]     | >= 1    | `PREFLUSH`, mostly with `FUA` and `SYNC`|
//! | flush alone                       | [`Op::Flush`]     | 0       | mostly `SYNC`                           |
//!
//! `PREFLUSH` asks that all writes completed before are durable before this one begins; `FUA` that this one is durable
//! before it completes. An [`Op::Flush`] is the first without the second. Any record may carry `META` (the file system's
//! own data).
//!
//! Cost: 26 bytes for each record.

pub mod blkparse;

use thiserror::Error;

use crate::units::{Lba, Sectors, SimDuration};

/// What a record asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// Read sectors.
    Read = 0,
    /// Write sectors.
    Write = 1,
    /// Make all completed writes durable; it has no sectors of its own.
    Flush = 2,
}

impl Op {
    /// The operation with this code in a column.
    #[inline]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Read),
            1 => Some(Self::Write),
            2 => Some(Self::Flush),
            _ => None,
        }
    }
}

/// Properties of a record, a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u8);

impl Flags {
    /// No property.
    pub const NONE: Self = Self(0);
    /// A process waits for the completion.
    pub const SYNC: Self = Self(1);
    /// Durable before it completes ("force unit access").
    pub const FUA: Self = Self(2);
    /// The file system's own data.
    pub const META: Self = Self(4);
    /// Read ahead of demand.
    pub const READ_AHEAD: Self = Self(8);
    /// A flush goes before the write.
    pub const PREFLUSH: Self = Self(16);
    const ALL: u8 = 31;

    /// The set with these bits; `None` where a bit has no meaning.
    #[inline]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits & !Self::ALL == 0 { Some(Self(bits)) } else { None }
    }

    /// The set as it stands in a column.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all of `other` is in this set.
    #[inline]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a process waits for the completion.
    pub const fn is_sync(self) -> bool {
        self.contains(Self::SYNC)
    }

    /// Whether the write is durable before it completes.
    pub const fn is_forced(self) -> bool {
        self.contains(Self::FUA)
    }

    /// Both sets together.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One recorded I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Since the first record \[ns\].
    pub time: SimDuration,
    /// Process id that asked for it.
    pub process: u32,
    /// First sector; 0 for a flush.
    pub lba: Lba,
    /// Length; 0 for a flush.
    pub sectors: Sectors,
    /// What it asks for.
    pub op: Op,
    /// Its properties.
    pub flags: Flags,
}

/// The columns of a trace, all of one length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Time since the first record \[ns\]; never falls.
    pub time_ns: Vec<u64>,
    /// Process id.
    pub process: Vec<u32>,
    /// First sector \[sectors of 512 bytes\].
    pub lba: Vec<u64>,
    /// Length \[sectors of 512 bytes\].
    pub sectors: Vec<u32>,
    /// Code of an [`Op`].
    pub op: Vec<u8>,
    /// Bits of [`Flags`].
    pub flags: Vec<u8>,
}

impl Columns {
    pub(crate) fn push(&mut self, record: Record) {
        self.time_ns.push(record.time.0);
        self.process.push(record.process);
        self.lba.push(record.lba.0);
        self.sectors.push(record.sectors.0 as u32);
        self.op.push(record.op as u8);
        self.flags.push(record.flags.bits());
    }
}

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
    /// There is nothing to replay.
    #[error("{}no read, write or flush in {lines} lines; expected queue events (action Q)", place(file))]
    Empty {
        /// The trace's name, or empty.
        file: String,
        /// Lines read.
        lines: u64,
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
}

fn place(file: &str) -> String {
    if file.is_empty() { String::new() } else { format!("{file}: ") }
}

/// What a trace amounts to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Flushes without data.
    pub flushes: u64,
    /// Writes that carry a flush before them.
    pub preflushes: u64,
    /// Writes that must be durable before they complete.
    pub fua_writes: u64,
    /// Writes that a process waits for.
    pub sync_writes: u64,
    /// Sectors read.
    pub read_sectors: Sectors,
    /// Sectors written.
    pub written_sectors: Sectors,
    /// Different processes.
    pub processes: u64,
}

/// A recorded sequence of block I/Os, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    columns: Columns,
    end: Lba,
}

impl Trace {
    /// A trace out of its columns. Times may start anywhere; they are counted from the first record from here on.
    ///
    /// # Errors
    /// No record at all, columns of different lengths, times that fall, unknown operations or flags, a read or write
    /// without sectors, a flush with some, or an address beyond 2^63.
    pub fn from_columns(mut columns: Columns) -> Result<Self, TraceError> {
        let expected = columns.time_ns.len();
        let lengths = [
            ("process", columns.process.len()),
            ("lba", columns.lba.len()),
            ("sectors", columns.sectors.len()),
            ("op", columns.op.len()),
            ("flags", columns.flags.len()),
        ];
        for (column, length) in lengths {
            if length != expected {
                return Err(TraceError::Lengths { column, length, expected });
            }
        }
        let Some(&first) = columns.time_ns.first() else {
            return Err(TraceError::Empty { file: String::new(), lines: 0 });
        };
        let (mut before, mut end) = (first, 0);
        for record in 0..expected {
            let bad = |column, value, expected: String| {
                Err(TraceError::BadValue { record, column, value, expected })
            };
            let (time, lba) = (columns.time_ns[record], columns.lba[record]);
            let sectors = u64::from(columns.sectors[record]);
            if time < before {
                return bad("time_ns", time, format!("at least {before}, the time of the record before"));
            }
            before = time;
            let Some(op) = Op::from_code(columns.op[record]) else {
                return bad("op", columns.op[record].into(), "0 read, 1 write or 2 flush".into());
            };
            if Flags::from_bits(columns.flags[record]).is_none() {
                return bad("flags", columns.flags[record].into(), format!("0 to {}", Flags::ALL));
            }
            match op {
                Op::Flush if sectors > 0 => return bad("sectors", sectors, "0 for a flush".into()),
                Op::Read | Op::Write if sectors == 0 => {
                    return bad("sectors", 0, "1 or more for a read or write".into());
                }
                Op::Flush => {}
                Op::Read | Op::Write if lba >= 1 << 63 => {
                    return bad("lba", lba, format!("less than {}", 1_u64 << 63));
                }
                Op::Read | Op::Write => end = end.max(lba + sectors),
            }
        }
        for time in &mut columns.time_ns {
            *time -= first;
        }
        Ok(Self { columns, end: Lba(end) })
    }

    /// Records.
    #[inline]
    pub const fn len(&self) -> usize {
        self.columns.time_ns.len()
    }

    /// Always false: a trace holds at least one record.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.columns.time_ns.is_empty()
    }

    /// Record `index`. Precondition: it is below [`Self::len`].
    #[inline]
    pub fn record(&self, index: usize) -> Record {
        let columns = &self.columns;
        Record {
            time: SimDuration(columns.time_ns[index]),
            process: columns.process[index],
            lba: Lba(columns.lba[index]),
            sectors: Sectors(columns.sectors[index].into()),
            op: match columns.op[index] {
                0 => Op::Read,
                1 => Op::Write,
                _ => Op::Flush,
            },
            flags: Flags(columns.flags[index]),
        }
    }

    /// The records in recorded order.
    pub fn records(&self) -> impl ExactSizeIterator<Item = Record> + '_ {
        (0..self.len()).map(|index| self.record(index))
    }

    /// The columns.
    pub const fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The address just beyond the last sector that is read or written: what an array must hold.
    #[inline]
    pub const fn end(&self) -> Lba {
        self.end
    }

    /// From the first record to the last \[ns\].
    pub fn duration(&self) -> SimDuration {
        SimDuration(self.columns.time_ns.last().copied().unwrap_or(0))
    }

    /// Counts over all records.
    pub fn statistics(&self) -> Statistics {
        let mut sums = Statistics::default();
        for record in self.records() {
            match record.op {
                Op::Read => {
                    sums.reads += 1;
                    sums.read_sectors.0 += record.sectors.0;
                }
                Op::Write => {
                    sums.writes += 1;
                    sums.written_sectors.0 += record.sectors.0;
                    sums.preflushes += u64::from(record.flags.contains(Flags::PREFLUSH));
                    sums.fua_writes += u64::from(record.flags.contains(Flags::FUA));
                    sums.sync_writes += u64::from(record.flags.contains(Flags::SYNC));
                }
                Op::Flush => sums.flushes += 1,
            }
        }
        let mut processes = self.columns.process.clone();
        processes.sort_unstable();
        processes.dedup();
        sums.processes = processes.len() as u64;
        sums
    }
}

#[cfg(test)]
mod tests;
