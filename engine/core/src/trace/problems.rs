//! What is wrong with a trace that can be read all the same.

use serde::Serialize;

/// A kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// A line or record that does not read as the format says, left out as was asked for.
    Bad,
    /// Offset or size is no multiple of 512 bytes; the sectors touched are taken.
    Rounded,
    /// A read or write of nothing, left out.
    ZeroLength,
    /// A record is earlier than one before it.
    OutOfOrder,
    /// A record is earlier than the records that were already put in order and given away.
    Late,
    /// A discard (trim), left out.
    Discard,
    /// A command that is no read, write or flush, left out.
    Command,
    /// A request without a kind, left out.
    NoKind,
    /// A number of an object beyond the addresses, folded into them.
    Folded,
    /// A request that began before the clock's zero; it is taken to begin there.
    BeforeZero,
    /// The last record ends in its middle, and is left out.
    Torn,
}

/// All kinds with what they mean.
const MEANINGS: [(Problem, &str); 11] = [
    (Problem::Bad, "lines or records that do not read as the format says; left out"),
    (Problem::Rounded, "offset or size no multiple of 512 bytes; all sectors touched are taken"),
    (Problem::ZeroLength, "reads or writes of nothing; left out"),
    (Problem::OutOfOrder, "records earlier than one before them; sorted"),
    (Problem::Late, "records too late to be sorted on the way; taken where they stand"),
    (Problem::Discard, "discards (trim); left out"),
    (Problem::Command, "commands that are no read, write or flush; left out"),
    (Problem::NoKind, "requests without sectors or without a kind; left out"),
    (Problem::Folded, "object numbers beyond all addresses; folded into 2^62 sectors"),
    (Problem::BeforeZero, "requests that began before the clock's zero; taken to begin there"),
    (Problem::Torn, "the last record ends in its middle; left out"),
];

/// How often something was wrong, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    counts: [u64; MEANINGS.len()],
    first: [u64; MEANINGS.len()],
    /// How much earlier than one before it a record is at most \[ns\].
    pub longest_back_ns: u64,
}

/// One kind of trouble that was met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The kind.
    pub problem: Problem,
    /// What it means and what is done about it.
    pub meaning: &'static str,
    /// How often it was met.
    pub count: u64,
    /// Where it was met first: the line from 1, or the byte from 0 of a binary trace.
    pub first: u64,
}

impl Problems {
    /// Notes one more at `place`, a line or a byte.
    #[inline]
    pub(super) fn note(&mut self, problem: Problem, place: u64) {
        let count = &mut self.counts[problem as usize];
        if *count == 0 {
            self.first[problem as usize] = place;
        }
        *count += 1;
    }

    /// How often it was met.
    pub const fn count(&self, problem: Problem) -> u64 {
        self.counts[problem as usize]
    }

    /// All that was met.
    pub fn findings(&self) -> Vec<Finding> {
        MEANINGS
            .iter()
            .filter(|(problem, _)| self.count(*problem) > 0)
            .map(|&(problem, meaning)| Finding {
                problem,
                meaning,
                count: self.count(problem),
                first: self.first[problem as usize],
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meanings_stand_at_their_kind() {
        for (index, (problem, _)) in MEANINGS.iter().enumerate() {
            assert_eq!(*problem as usize, index);
        }
    }

    #[test]
    fn the_first_place_is_kept() {
        let mut problems = Problems::default();
        problems.note(Problem::Rounded, 7);
        problems.note(Problem::Rounded, 9);
        let found = problems.findings();
        assert_eq!((found.len(), found[0].count, found[0].first), (1, 2, 7));
        assert_eq!(problems.count(Problem::Torn), 0);
    }
}
