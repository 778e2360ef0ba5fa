//! The columns of a trace, as they are read, kept and written.

use super::Record;
use crate::units::SimDuration;

/// The columns of a trace, all of one length but for the last two, which may be empty.
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
    /// Code of an [`Op`](super::Op).
    pub op: Vec<u8>,
    /// Bits of [`Flags`](super::Flags).
    pub flags: Vec<u8>,
    /// Number of the volume; empty where there is one only.
    pub volume: Vec<u32>,
    /// Recorded response times; empty where none is known.
    pub response: Vec<Option<SimDuration>>,
}

impl Columns {
    /// Adds a record at the end.
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

    /// Sorts by time; records of one time keep their order.
    pub(super) fn sort(&mut self) {
        if self.time_ns.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..self.time_ns.len()).collect();
        order.sort_by_key(|&index| self.time_ns[index]);
        arrange(&mut self.time_ns, &order);
        arrange(&mut self.process, &order);
        arrange(&mut self.lba, &order);
        arrange(&mut self.sectors, &order);
        arrange(&mut self.op, &order);
        arrange(&mut self.flags, &order);
        arrange(&mut self.volume, &order);
        arrange(&mut self.response, &order);
    }
}

fn arrange<T: Copy>(values: &mut Vec<T>, order: &[usize]) {
    if !values.is_empty() {
        *values = order.iter().map(|&index| values[index]).collect();
    }
}
