//! A trace in memory: checked records, volumes laid end to end.
//!
//! A trace of several volumes is replayed on one array. The volumes follow each other in the order of their numbers; each
//! begins at a multiple of 1 MiB and is as long as its highest address requires. Sequential requests within a volume stay
//! sequential, and no two volumes share a sector.

use std::collections::BTreeMap;

use super::columns::Columns;
use super::error::TraceError;
use super::record::{Op, Record};
use crate::units::{Lba, Sectors, SimDuration};

/// Volumes begin at multiples of this \[sectors\]: 1 MiB.
const ALIGNMENT: u64 = 2048;

/// A volume of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Number.
    pub number: u32,
    /// First address on the array.
    pub base: Lba,
    /// Length: the address in the volume just beyond the last sector that is read or written.
    pub length: Sectors,
}

/// A recorded sequence of block I/Os, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    columns: Columns,
    end: Lba,
    /// By number; empty with only one volume.
    volumes: Vec<Volume>,
}

impl Trace {
    /// A trace from its columns, with addresses from the start of each volume. Times may start anywhere; the trace counts
    /// them from its first record.
    ///
    /// # Errors
    /// No record, columns of different lengths, decreasing times, unknown operations or flags, a read or write without
    /// sectors, a flush with sectors, or an address beyond 2^63.
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

    /// The volumes by number; empty with only one volume.
    pub fn volumes(&self) -> &[Volume] {
        &self.volumes
    }

    /// The addresses as recorded: each from the start of its volume.
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

    /// The number of records.
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

    /// The columns, with addresses as replayed: the volumes laid end to end.
    pub const fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The address just beyond the last sector that is read or written: the capacity that an array must have.
    #[inline]
    pub const fn end(&self) -> Lba {
        self.end
    }

    /// Time from the first record to the last \[ns\].
    pub fn duration(&self) -> SimDuration {
        SimDuration(self.columns.time_ns.last().copied().unwrap_or(0))
    }
}

/// Lays the volumes end to end; returns none if there is only one.
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
