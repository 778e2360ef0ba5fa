//! The columns of a trace: its records in memory.

use super::error::{Position, TraceError};
use super::record::{Flags, Op, Record};
use crate::units::{Lba, Sectors, SimDuration};

/// The columns of a trace, all of one length except the last two, which may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Time since the first record \[ns\]; never decreases.
    pub time_ns: Vec<u64>,
    /// Process id.
    pub process: Vec<u32>,
    /// First sector \[sectors of 512 bytes\].
    pub lba: Vec<u64>,
    /// Length \[sectors of 512 bytes\].
    pub sectors: Vec<u32>,
    /// Code of an [`Op`](super::Op).
    pub op: Vec<u8>,
    /// Bits of [`Flags`](super::Flags).
    pub flags: Vec<u8>,
    /// Number of the volume; empty with only one volume.
    pub volume: Vec<u32>,
    /// Recorded response times; empty if none is known.
    pub response: Vec<Option<SimDuration>>,
}

impl Columns {
    /// Appends a record.
    pub fn push(&mut self, record: Record) {
        let before = self.time_ns.len();
        if record.volume != 0 || !self.volume.is_empty() {
            self.volume.resize(before, 0);
            self.volume.push(record.volume);
        }
        if record.response.is_some() || !self.response.is_empty() {
            self.response.resize(before, None);
            self.response.push(record.response);
        }
        self.time_ns.push(record.time.0);
        self.process.push(record.process);
        self.lba.push(record.lba.0);
        self.sectors.push(record.sectors.0 as u32);
        self.op.push(record.op as u8);
        self.flags.push(record.flags.bits());
    }

    /// Sorts by time; records of equal time keep their order.
    pub(super) fn sort(&mut self) {
        if self.time_ns.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..self.time_ns.len()).collect();
        order.sort_by_key(|&index| self.time_ns[index]);
        reorder(&mut self.time_ns, &order);
        reorder(&mut self.process, &order);
        reorder(&mut self.lba, &order);
        reorder(&mut self.sectors, &order);
        reorder(&mut self.op, &order);
        reorder(&mut self.flags, &order);
        reorder(&mut self.volume, &order);
        reorder(&mut self.response, &order);
    }

    /// The records, checked as those of a trace, with addresses and times unchanged.
    ///
    /// # Errors
    /// See [`Trace::from_columns`](super::Trace::from_columns).
    pub fn records(&self) -> Result<impl ExactSizeIterator<Item = Record> + '_, TraceError> {
        self.check_lengths()?;
        let mut before = 0;
        for record in 0..self.time_ns.len() {
            self.check_record(record, before)?;
            before = self.time_ns[record];
        }
        Ok((0..self.time_ns.len()).map(|index| self.record(index)))
    }

    /// Record `index` of checked columns.
    #[inline]
    pub(super) fn record(&self, index: usize) -> Record {
        Record {
            time: SimDuration(self.time_ns[index]),
            process: self.process[index],
            volume: self.volume.get(index).copied().unwrap_or(0),
            lba: Lba(self.lba[index]),
            sectors: Sectors(self.sectors[index].into()),
            op: match self.op[index] {
                0 => Op::Read,
                1 => Op::Write,
                _ => Op::Flush,
            },
            flags: Flags(self.flags[index]),
            response: self.response.get(index).copied().flatten(),
        }
    }

    pub(super) fn check_lengths(&self) -> Result<(), TraceError> {
        let expected = self.time_ns.len();
        if expected == 0 {
            return Err(TraceError::Empty { frames: 0, is_text: false, needs: "" });
        }
        let lengths = [
            ("process", self.process.len()),
            ("lba", self.lba.len()),
            ("sectors", self.sectors.len()),
            ("op", self.op.len()),
            ("flags", self.flags.len()),
            ("volume", if self.volume.is_empty() { expected } else { self.volume.len() }),
            ("response", if self.response.is_empty() { expected } else { self.response.len() }),
        ];
        match lengths.into_iter().find(|&(_, length)| length != expected) {
            Some((column, length)) => Err(TraceError::BadColumn { column, length, expected }),
            None => Ok(()),
        }
    }

    /// The address just beyond record `record`, which follows one at time `before`.
    pub(super) fn check_record(&self, record: usize, before: u64) -> Result<u64, TraceError> {
        let position = Position::Record { record: record as u64 + 1 };
        let bad =
            |column, value, expected: String| Err(TraceError::BadValue { position, column, value, expected });
        let (time, lba) = (self.time_ns[record], self.lba[record]);
        let sectors = u64::from(self.sectors[record]);
        if time < before {
            return bad("time_ns", time, format!("at least {before}, the time of the record before"));
        }
        let Some(op) = Op::from_code(self.op[record]) else {
            return bad("op", self.op[record].into(), "0 read, 1 write or 2 flush".into());
        };
        if Flags::from_bits(self.flags[record]).is_none() {
            return bad("flags", self.flags[record].into(), format!("0 to {}", Flags::ALL.bits()));
        }
        match op {
            Op::Flush if sectors > 0 => bad("sectors", sectors, "0 for a flush".into()),
            Op::Read | Op::Write if sectors == 0 => bad("sectors", 0, "1 or more for a read or write".into()),
            Op::Flush => Ok(0),
            Op::Read | Op::Write if lba >= 1 << 63 => bad("lba", lba, format!("less than {}", 1_u64 << 63)),
            Op::Read | Op::Write => Ok(lba + sectors),
        }
    }
}

fn reorder<T: Copy>(values: &mut Vec<T>, order: &[usize]) {
    if !values.is_empty() {
        *values = order.iter().map(|&index| values[index]).collect();
    }
}
