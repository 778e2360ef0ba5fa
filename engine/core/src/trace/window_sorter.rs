//! Sorts records by time as they arrive, within a window, and spreads whole seconds.
//!
//! [`WINDOW`] records or more are held back, so that a record may be that many places too late. A later one is an error,
//! or is counted and kept in place. Records of equal time keep their order.
//!
//! Memory: at most 2 [`WINDOW`] records, and those of one second if seconds are spread. Records that are in order are
//! not moved.

use super::error::{Position, TraceError};
use super::formats::Format;
use super::problems::{Finding, Problem, Problems};
use super::record::Record;
use super::spread::Spreader;

/// Minimum records to hold back.
pub const WINDOW: usize = 1 << 16;

/// What to do with a record that is too late to be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatePolicy {
    /// Fail.
    Reject,
    /// Count it, and keep it in place.
    Count,
}

/// Sorts records by time within a window.
#[derive(Debug)]
pub struct WindowSorter {
    late: LatePolicy,
    held: Vec<Record>,
    is_sorted: bool,
    /// Records returned so far, and the time of the last of them \[ns\].
    returned: u64,
    last: u64,
    spreader: Option<Spreader>,
    problems: Problems,
}

impl WindowSorter {
    /// A sorter for the records of a trace of this format.
    pub fn new(format: &Format, late: LatePolicy) -> Self {
        Self {
            late,
            held: Vec::with_capacity(2 * WINDOW),
            is_sorted: true,
            returned: 0,
            last: 0,
            spreader: format.is_whole_seconds().then(Spreader::default),
            problems: Problems::default(),
        }
    }

    /// Adds a record, and appends those whose order is known to `out`.
    ///
    /// # Errors
    /// The record is earlier than one that was returned, and such are rejected.
    #[inline]
    pub fn push(&mut self, record: Record, out: &mut Vec<Record>) -> Result<(), TraceError> {
        if record.time.0 < self.last {
            self.check_late(&record)?;
        }
        self.is_sorted &= self.held.last().is_none_or(|before| before.time <= record.time);
        self.held.push(record);
        if self.held.len() == 2 * WINDOW {
            self.release(WINDOW, out);
        }
        Ok(())
    }

    /// Appends all records that are held to `out`: nothing follows.
    pub fn finish(&mut self, out: &mut Vec<Record>) {
        self.release(self.held.len(), out);
        if let Some(spreader) = &mut self.spreader {
            spreader.finish(out);
        }
    }

    /// The late records.
    pub fn findings(&self) -> Vec<Finding> {
        self.problems.findings(|record| Position::Record { record })
    }

    #[cold]
    fn check_late(&mut self, late: &Record) -> Result<(), TraceError> {
        let record = self.returned + self.held.len() as u64 + 1;
        match self.late {
            LatePolicy::Reject => Err(TraceError::NotSorted {
                position: Position::Record { record },
                back_ns: self.last - late.time.0,
                window: WINDOW,
            }),
            LatePolicy::Count => {
                self.problems.count_at(Problem::Late, record);
                Ok(())
            }
        }
    }

    fn release(&mut self, count: usize, out: &mut Vec<Record>) {
        if !self.is_sorted {
            self.held.sort_by_key(|record| record.time);
            self.is_sorted = true;
        }
        self.returned += count as u64;
        if let Some(last) = self.held[..count].last() {
            self.last = self.last.max(last.time.0);
        }
        match &mut self.spreader {
            None => out.extend(self.held.drain(..count)),
            Some(spreader) => {
                for record in self.held.drain(..count) {
                    spreader.push(record, out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::extent::Extent;
    use crate::trace::formats;
    use crate::trace::record::Op;
    use crate::units::SimDuration;

    fn at(time: u64, lba: u64) -> Record {
        Record::new(SimDuration(time), Op::Read, Extent::of_sectors(lba, 1))
    }

    fn sorter(late: LatePolicy) -> WindowSorter {
        WindowSorter::new(formats::find("msr").unwrap(), late)
    }

    #[test]
    fn a_record_up_to_a_window_too_late_is_sorted() {
        let mut out = Vec::new();
        let mut sorter = sorter(LatePolicy::Reject);
        for time in 1..=3 * WINDOW as u64 {
            sorter.push(at(time, 0), &mut out).unwrap();
        }
        let newest = out.last().unwrap().time.0;
        sorter.push(at(newest, 1), &mut out).unwrap();
        sorter.finish(&mut out);
        assert_eq!(out.len(), 3 * WINDOW + 1);
        assert!(out.is_sorted_by_key(|record| record.time));
    }

    #[test]
    fn a_later_record_is_rejected_or_counted() {
        let late = |late| {
            let (mut out, mut sorter) = (Vec::new(), sorter(late));
            for time in 0..2 * WINDOW as u64 {
                sorter.push(at(10 + time, 0), &mut out).unwrap();
            }
            let result = sorter.push(at(5, 1), &mut out);
            sorter.finish(&mut out);
            (result, sorter.findings(), out.len())
        };
        let error = late(LatePolicy::Reject).0.unwrap_err();
        assert_eq!((error.code(), error.place().as_str()), ("trace.not-in-order", "record 131073"));
        assert_eq!(error.data(), serde_json::json!({"record": 131_073, "back_ns": 65_540, "window": WINDOW}));
        let (result, findings, count) = late(LatePolicy::Count);
        assert_eq!((result, count), (Ok(()), 2 * WINDOW + 1));
        assert_eq!(
            (findings[0].code, findings[0].place.as_str(), findings[0].count),
            ("trace.late", "record 131073", 1)
        );
    }

    proptest! {
        #[test]
        fn records_within_the_window_are_sorted_whole(times in prop::collection::vec(0_u64..50, 0..400)) {
            let records: Vec<_> = times.iter().enumerate().map(|(lba, &time)| at(time, lba as u64)).collect();
            let (mut out, mut sorter) = (Vec::new(), sorter(LatePolicy::Reject));
            for record in &records {
                sorter.push(*record, &mut out).unwrap();
            }
            sorter.finish(&mut out);
            let mut sorted = records;
            sorted.sort_by_key(|record| record.time);
            prop_assert_eq!(out, sorted);
        }
    }
}
