//! A trace in memory: its records checked, its volumes laid end to end.
//!
//! A trace of several volumes is replayed on one array: the volumes lie one behind the other in the order of their
//! numbers, each from a multiple of 1 MiB on and as large as the highest address in it asks for. Requests that follow
//! each other within a volume stay together, and no two volumes share a sector.

use std::collections::BTreeMap;

use super::{Columns, Flags, Op, Record, TraceError};
use crate::units::{Lba, Sectors, SimDuration};

/// Volumes begin at multiples of this \[sectors\]: 1 MiB.
const ALIGNMENT: u64 = 2048;

/// One of the volumes of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Its number.
    pub number: u32,
    /// Where it begins in the trace's addresses.
    pub base: Lba,
    /// Its length: the address just beyond the last sector that is read or written.
    pub length: Sectors,
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
    /// By number; empty where there is one only.
    volumes: Vec<Volume>,
}

impl Trace {
    /// A trace out of its columns, addresses counted from the start of each volume. Times may start anywhere; they are
    /// counted from the first record from here on.
    ///
    /// # Errors
    /// No record at all, columns of different lengths, times that fall, unknown operations or flags, a read or write
    /// without sectors, a flush with some, or an address beyond 2^63.
    pub fn from_columns(mut columns: Columns) -> Result<Self, TraceError> {
        columns.check_lengths()?;
        let mut end = 0;
        let mut before = columns.time_ns[0];
        for record in 0..columns.time_ns.len() {
            end = end.max(columns.check_record(record, before)?);
            before = columns.time_ns[record];
        }
        let first = columns.time_ns[0];
        for time in &mut columns.time_ns {
            *time -= first;
        }
        if columns.response.iter().all(Option::is_none) {
            columns.response = Vec::new();
        }
        let volumes = lay_out(&mut columns)?;
        if let Some(last) = volumes.last() {
            end = last.base.0 + last.length.0;
        }
        Ok(Self { columns, end: Lba(end), volumes })
    }

    /// The volumes by number, where there are several; nothing where there is one only.
    pub fn volumes(&self) -> &[Volume] {
        &self.volumes
    }

    /// The columns as they were recorded: each address counted from the start of its volume.
    pub fn recorded_addresses(&self) -> Vec<u64> {
        let mut lba = self.columns.lba.clone();
        if !self.volumes.is_empty() {
            for (index, lba) in lba.iter_mut().enumerate() {
                if self.columns.op[index] != Op::Flush as u8 {
                    *lba -= base_of(&self.volumes, self.columns.volume[index]);
                }
            }
        }
        lba
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
        self.columns.record(index)
    }

    /// The records in recorded order.
    pub fn records(&self) -> impl ExactSizeIterator<Item = Record> + '_ {
        (0..self.len()).map(|index| self.record(index))
    }

    /// The columns, addresses as they are replayed: the volumes laid end to end.
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

/// Lays the volumes end to end; gives none where there is one only.
fn lay_out(columns: &mut Columns) -> Result<Vec<Volume>, TraceError> {
    let is_single = columns.volume.first().is_none_or(|first| columns.volume.iter().all(|it| it == first));
    if is_single {
        columns.volume = Vec::new();
        return Ok(Vec::new());
    }
    let mut lengths: BTreeMap<u32, u64> = BTreeMap::new();
    for (index, &volume) in columns.volume.iter().enumerate() {
        let length = lengths.entry(volume).or_default();
        if columns.op[index] != Op::Flush as u8 {
            *length = (*length).max(columns.lba[index] + u64::from(columns.sectors[index]));
        }
    }
    let too_large = TraceError::TooLarge { volumes: lengths.len() };
    let mut next = 0_u64;
    let mut volumes = Vec::with_capacity(lengths.len());
    for (number, length) in lengths {
        volumes.push(Volume { number, base: Lba(next), length: Sectors(length) });
        next = next.saturating_add(length.div_ceil(ALIGNMENT) * ALIGNMENT);
        if next >= 1 << 63 {
            return Err(too_large);
        }
    }
    for (index, lba) in columns.lba.iter_mut().enumerate() {
        if columns.op[index] != Op::Flush as u8 {
            *lba += base_of(&volumes, columns.volume[index]);
        }
    }
    Ok(volumes)
}

fn base_of(volumes: &[Volume], number: u32) -> u64 {
    let place = volumes.partition_point(|volume| volume.number < number);
    volumes[place].base.0
}
