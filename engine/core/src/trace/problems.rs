//! Warnings about a trace: what was skipped, rounded or sorted while reading it.

use serde::Serialize;

use super::error::Position;

/// A kind of warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A line or record that does not match the format, skipped on request.
    Bad,
    /// Offset or size is not a multiple of 512 bytes.
    Unaligned,
    /// A read or write of zero bytes.
    ZeroLength,
    /// A record earlier than one before it.
    OutOfOrder,
    /// A record too late to be sorted within the window.
    Late,
    /// A discard (trim).
    Discard,
    /// A command other than read, write and flush.
    OtherCommand,
    /// A request without sectors or without an operation.
    NoOperation,
    /// An object number beyond the largest address.
    Folded,
    /// A request that began before the recording clock's zero.
    BeforeZero,
    /// A last record that is incomplete.
    Truncated,
    /// Requests so far apart that the times may be in another unit.
    DoubtfulTimes,
}

use Problem::{
    Bad, BeforeZero, Discard, DoubtfulTimes, Folded, Late, NoOperation, OtherCommand, OutOfOrder, Truncated,
    Unaligned, ZeroLength,
};

/// Code and message of each kind.
const WARNINGS: [(Problem, &str, &str); 12] = [
    (Bad, "trace.bad-record-skipped", "does not match the format; skipped"),
    (Unaligned, "trace.unaligned", "offset or size is not a multiple of 512 bytes; rounded out to sectors"),
    (ZeroLength, "trace.zero-length", "read or write of zero bytes; skipped"),
    (OutOfOrder, "trace.out-of-order", "earlier than a record before it; sorted"),
    (Late, "trace.late", "too late to be sorted within the window; kept in place"),
    (Discard, "trace.discard", "discard (trim); skipped"),
    (OtherCommand, "trace.other-command", "command other than read, write and flush; skipped"),
    (NoOperation, "trace.no-operation", "request without sectors or without an operation; skipped"),
    (Folded, "trace.folded-address", "object number beyond the largest address; folded into 2^62 sectors"),
    (BeforeZero, "trace.before-zero", "request began before the clock's zero; taken to begin there"),
    (Truncated, "trace.truncated", "the last record is incomplete; skipped"),
    (
        DoubtfulTimes,
        "trace.doubtful-times",
        "the last of requests more than 100 s apart in the mean; if the times are in another unit, name the format with \
         --format, or the columns with --columns and --unit time=",
    ),
];

/// The number of warnings by kind, and where each kind occurred first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    counts: [u64; WARNINGS.len()],
    first: [u64; WARNINGS.len()],
}

/// All warnings of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The code.
    pub code: &'static str,
    /// The position of the first one.
    pub place: String,
    /// What it means and what was done about it.
    pub message: &'static str,
    /// How many there are.
    pub count: u64,
}

impl Problems {
    /// Counts one more at `place`: a line, byte or record, by its number.
    #[inline]
    pub(super) fn count_at(&mut self, problem: Problem, place: u64) {
        let count = &mut self.counts[problem as usize];
        if *count == 0 {
            self.first[problem as usize] = place;
        }
        *count += 1;
    }

    /// The number of warnings of a kind.
    pub const fn count(&self, problem: Problem) -> u64 {
        self.counts[problem as usize]
    }

    /// All kinds that occurred; `position` describes the places.
    pub(super) fn findings(&self, position: impl Fn(u64) -> Position) -> Vec<Finding> {
        let finding = |&(problem, code, message): &(Problem, _, _)| Finding {
            code,
            place: position(self.first[problem as usize]).to_string(),
            message,
            count: self.count(problem),
        };
        WARNINGS.iter().filter(|(problem, ..)| self.count(*problem) > 0).map(finding).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_listed_by_kind() {
        for (index, (problem, ..)) in WARNINGS.iter().enumerate() {
            assert_eq!(*problem as usize, index);
        }
    }

    #[test]
    fn a_finding_has_the_first_place() {
        let mut problems = Problems::default();
        problems.count_at(Unaligned, 7);
        problems.count_at(Unaligned, 9);
        let found = problems.findings(|offset| Position::Byte { offset });
        assert_eq!((found.len(), found[0].code, found[0].count), (1, "trace.unaligned", 2));
        assert_eq!(found[0].place, "byte 7");
        assert_eq!(problems.count(Truncated), 0);
    }
}
