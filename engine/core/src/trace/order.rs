//! Puts records in order of time on the way, within a window, and spreads whole seconds.
//!
//! [`WINDOW`] records or more are held back, so a record may stand up to that many places too late. One that comes later
//! still is refused, or counted and given where it stands. Records of one time keep their order.
//!
//! Memory: at most 2 [`WINDOW`] records, and those of one second where seconds are spread. Cost: nothing is moved where
//! the records are in order.

use super::format::Format;
use super::problems::{Problem, Problems};
use super::spread::Spread;
use super::{Record, TraceError};

/// Records that are at least held back.
pub const WINDOW: usize = 1 << 16;

/// What is done about a record that comes too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// The trace is refused.
    Refused,
    /// It is counted, and given where it stands.
    Counted,
}

/// Records on their way into order.
#[derive(Debug)]
pub struct Ordering {
    late: Late,
    file: String,
    held: Vec<Record>,
    is_sorted: bool,
    /// Records given away so far, and the time of the last of them \[ns\].
    given: u64,
    last: u64,
    spread: Option<Spread>,
    /// Late records.
    pub problems: Problems,
}

impl Ordering {
    /// Nothing held. `file` names the trace in messages.
    pub fn new(format: &Format, late: Late, file: &str) -> Self {
        Self {
            late,
            file: file.into(),
            held: Vec::with_capacity(2 * WINDOW),
            is_sorted: true,
            given: 0,
            last: 0,
            spread: format.is_whole_seconds().then(Spread::default),
            problems: Problems::default(),
        }
    }

    /// Takes a record, and puts those that are in order by now into `out`.
    ///
    /// # Errors
    /// The record is earlier than one that was given away, where such are refused.
    #[inline]
    pub fn push(&mut self, record: Record, out: &mut Vec<Record>) -> Result<(), TraceError> {
        if record.time.0 < self.last {
            self.note_late(&record)?;
        }
        self.is_sorted &= self.held.last().is_none_or(|before| before.time <= record.time);
        self.held.push(record);
        if self.held.len() == 2 * WINDOW {
            self.give(WINDOW, out);
        }
        Ok(())
    }

    /// Gives all that is held: nothing follows.
    pub fn finish(&mut self, out: &mut Vec<Record>) {
        self.give(self.held.len(), out);
        if let Some(spread) = &mut self.spread {
            spread.finish(out);
        }
    }

    #[cold]
    fn note_late(&mut self, record: &Record) -> Result<(), TraceError> {
        let number = self.given + self.held.len() as u64 + 1;
        match self.late {
            Late::Refused => Err(TraceError::NotSorted {
                file: self.file.clone(),
                record: number,
                back_ns: self.last - record.time.0,
                window: WINDOW,
            }),
            Late::Counted => {
                self.problems.note(Problem::Late, number);
                Ok(())
            }
        }
    }

    fn give(&mut self, count: usize, out: &mut Vec<Record>) {
        if !self.is_sorted {
            self.held.sort_by_key(|record| record.time);
            self.is_sorted = true;
        }
        self.given += count as u64;
        if let Some(last) = self.held[..count].last() {
            self.last = self.last.max(last.time.0);
        }
        match &mut self.spread {
            None => out.extend(self.held.drain(..count)),
            Some(spread) => {
                for record in self.held.drain(..count) {
                    spread.push(record, out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::format;
    use crate::trace::{Flags, Op};
    use crate::units::{Lba, Sectors, SimDuration};

    fn at(time: u64, lba: u64) -> Record {
        Record {
            time: SimDuration(time),
            process: 0,
            volume: 0,
            lba: Lba(lba),
            sectors: Sectors(1),
            op: Op::Read,
            flags: Flags::NONE,
            response: None,
        }
    }

    fn ordering(late: Late) -> Ordering {
        Ordering::new(format::find("msr").unwrap(), late, "t")
    }

    #[test]
    fn a_record_up_to_a_window_too_late_is_put_in_its_place() {
        let mut out = Vec::new();
        let mut ordering = ordering(Late::Refused);
        for time in 1..=3 * WINDOW as u64 {
            ordering.push(at(time, 0), &mut out).unwrap();
        }
        let newest_given = out.last().unwrap().time.0;
        ordering.push(at(newest_given, 1), &mut out).unwrap();
        ordering.finish(&mut out);
        assert_eq!(out.len(), 3 * WINDOW + 1);
        assert!(out.is_sorted_by_key(|record| record.time));
    }

    #[test]
    fn a_later_one_is_refused_or_counted() {
        let late = |late| {
            let (mut out, mut ordering) = (Vec::new(), ordering(late));
            for time in 0..2 * WINDOW as u64 {
                ordering.push(at(10 + time, 0), &mut out).unwrap();
            }
            let result = ordering.push(at(5, 1), &mut out);
            ordering.finish(&mut out);
            (result, ordering.problems.count(Problem::Late), out.len())
        };
        let (refused, _, _) = late(Late::Refused);
        let message = refused.unwrap_err().to_string();
        assert!(
            message.starts_with("t: not in order of time: record 131073 is 65540 ns earlier"),
            "{message}"
        );
        assert_eq!(late(Late::Counted), (Ok(()), 1, 2 * WINDOW + 1));
    }

    proptest! {
        #[test]
        fn what_fits_the_window_comes_out_as_if_sorted_whole(times in prop::collection::vec(0_u64..50, 0..400)) {
            let records: Vec<_> = times.iter().enumerate().map(|(lba, &time)| at(time, lba as u64)).collect();
            let (mut out, mut ordering) = (Vec::new(), ordering(Late::Refused));
            for record in &records {
                ordering.push(*record, &mut out).unwrap();
            }
            ordering.finish(&mut out);
            let mut sorted = records;
            sorted.sort_by_key(|record| record.time);
            prop_assert_eq!(out, sorted);
        }
    }
}
