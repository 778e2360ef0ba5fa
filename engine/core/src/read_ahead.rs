//! Sequential read-ahead: detection of sequences, and the extent of prefetches.
//!
//! A read that starts where another ended continues its sequence. The `trigger`-th read of a sequence starts a
//! read-ahead of `size`; when less than half of it remains before the prefetched edge, the next `size` is
//! prefetched.
//!
//! **Adaptive** read-ahead reacts to waste. Each prefetched line is either *used* (read, also while pending) or
//! *wasted* (evicted unread, or its data changed). Of every 256 such lines the wasted ones are counted: if more than half,
//! the restraint r grows by 1; if less than a quarter, it falls by 1. A
//! sequence needs `trigger` x 2^r reads to start, and prefetches `size` / 2^r at a time, at least a line. So short runs,
//! which end before their prefetches are used, soon start none, while a long sequence always does and its use lowers r
//! again; and if more sequences than the cache has room for evict each other's data, each prefetches less.
//!
//! Smart Array controllers adapt their read-ahead to its use (HP Smart Array technology brief, 4th
//! ed., p. 4), by an unpublished rule; this one follows B. S. Gill, L. A. D. Bathen: AMP: adaptive multi-stream prefetching
//! in a shared cache, FAST 2007, which lowers a sequence's degree when its data near eviction unused and raises it when
//! they are used. Unlike AMP it keeps one degree for the controller, since short runs end before they can adapt.
//!
//! Not modelled: backward and strided sequences.

use crate::config;
use crate::units::Bytes;

/// Number of sequences that are tracked, and of single reads that are remembered as possible starts.
const SEQUENCES: usize = 32;
const CANDIDATES: usize = 64;

/// Used or wasted lines between two adaptations.
const FATES: u32 = 256;
/// Maximum restraint: a sequence needs 2^8 times the trigger.
const MAX_RESTRAINT: u32 = 8;

#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    next: u64,
    edge: u64,
    used: u64,
}

/// A range to prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First sector.
    pub first: u64,
    /// Number of sectors.
    pub sectors: u64,
}

/// The read-ahead of a controller.
#[derive(Debug)]
pub struct ReadAhead {
    trigger: u32,
    size: u64,
    line: u64,
    restraint: Option<Restraint>,
    sequences: Vec<Sequence>,
    /// Ends of recent reads without a sequence, with the length of their run so far.
    candidates: [u64; CANDIDATES],
    runs: [u32; CANDIDATES],
    /// Where the sequences and the candidates would continue, without the upper halves: many are compared at a time, and most
    /// reads continue nothing.
    tags: [u32; SEQUENCES + CANDIDATES],
    oldest: usize,
    clock: u64,
}

/// State of adaptive read-ahead.
#[derive(Clone, Copy, Debug, Default)]
struct Restraint {
    steps: u32,
    fates: u32,
    wasted: u32,
}

const ARRAY_SHIFT: u32 = 48;

impl ReadAhead {
    /// Read-ahead without sequences; `line` is the size of a cache line.
    pub fn new(ahead: config::ReadAhead, line: Bytes) -> Self {
        Self {
            trigger: ahead.trigger,
            size: ahead.size.sectors().0,
            line: line.sectors().0,
            restraint: ahead.adaptive.then(Restraint::default),
            sequences: Vec::with_capacity(SEQUENCES),
            candidates: [u64::MAX; CANDIDATES],
            runs: [0; CANDIDATES],
            tags: [u32::MAX; SEQUENCES + CANDIDATES],
            oldest: 0,
            clock: 0,
        }
    }

    /// Records a read of `sectors` from `lba`; returns whether it continues a sequence, and what to prefetch, if it is time.
    pub fn notice(&mut self, array: u16, lba: u64, sectors: u64) -> (bool, Option<Stretch>) {
        self.clock += 1;
        let start = u64::from(array) << ARRAY_SHIFT | lba;
        let end = start + sectors;
        let steps = self.restraint.map_or(0, |restraint| restraint.steps);
        let (trigger, size) = (self.trigger << steps, (self.size >> steps).max(self.line.min(self.size)));
        #[expect(clippy::needless_bitwise_bool, reason = "a lazy operator compares one tag at a time")]
        let may_continue = self.tags.iter().fold(false, |found, &tag| found | (tag == start as u32));
        let sequences = if may_continue { &self.sequences[..] } else { &[] };
        if let Some(place) = sequences.iter().position(|sequence| sequence.next == start) {
            let sequence = &mut self.sequences[place];
            sequence.next = end;
            sequence.used = self.clock;
            self.tags[place] = end as u32;
            return (true, Self::stretch(sequence, size));
        }
        let mut run = 1;
        let candidates = if may_continue { &self.candidates[..] } else { &[] };
        let candidate = candidates.iter().position(|&next| next == start);
        if let Some(place) = candidate {
            run = self.runs[place].saturating_add(1);
            self.set_candidate(place, u64::MAX);
        }
        let is_sequential = run > 1;
        if run >= trigger {
            let mut sequence = Sequence { next: end, edge: end, used: self.clock };
            let ahead = Self::stretch(&mut sequence, size);
            self.follow(sequence);
            return (is_sequential, ahead);
        }
        let place = candidate.unwrap_or_else(|| {
            self.oldest = (self.oldest + 1) % CANDIDATES;
            (self.oldest + CANDIDATES - 1) % CANDIDATES
        });
        self.runs[place] = run;
        self.set_candidate(place, end);
        (is_sequential, None)
    }

    /// Remembers that a read which starts at `next` continues the candidate at `place`.
    fn set_candidate(&mut self, place: usize, next: u64) {
        self.candidates[place] = next;
        self.tags[SEQUENCES + place] = next as u32;
    }

    /// Records whether a prefetched line was used.
    #[inline]
    pub fn learn(&mut self, is_wasted: bool) {
        let Some(restraint) = &mut self.restraint else { return };
        restraint.fates += 1;
        restraint.wasted += u32::from(is_wasted);
        if restraint.fates == FATES {
            if restraint.wasted * 2 > FATES {
                restraint.steps = (restraint.steps + 1).min(MAX_RESTRAINT);
            } else if restraint.wasted * 4 < FATES {
                restraint.steps = restraint.steps.saturating_sub(1);
            }
            (restraint.fates, restraint.wasted) = (0, 0);
        }
    }

    /// Prefetches if less than half of the read-ahead size remains before the edge.
    fn stretch(sequence: &mut Sequence, size: u64) -> Option<Stretch> {
        let left = sequence.edge.saturating_sub(sequence.next);
        if left * 2 > size {
            return None;
        }
        let from = sequence.edge.max(sequence.next);
        sequence.edge = from + size;
        Some(Stretch { first: from & ((1 << ARRAY_SHIFT) - 1), sectors: size })
    }

    fn follow(&mut self, sequence: Sequence) {
        let place = if self.sequences.len() < SEQUENCES {
            self.sequences.push(sequence);
            self.sequences.len() - 1
        } else {
            let oldest = (0..SEQUENCES).min_by_key(|&index| self.sequences[index].used).unwrap_or_default();
            self.sequences[oldest] = sequence;
            oldest
        };
        self.tags[place] = sequence.next as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ahead(trigger: u32, adaptive: bool) -> ReadAhead {
        let config = config::ReadAhead { trigger, size: Bytes(64 << 10), adaptive };
        ReadAhead::new(config, Bytes(8 << 10))
    }

    const fn stretch(first: u64, sectors: u64) -> Stretch {
        Stretch { first, sectors }
    }

    #[test]
    fn the_second_consecutive_read_starts_read_ahead() {
        let mut ahead = ahead(2, false);
        assert_eq!(ahead.notice(0, 0, 16), (false, None));
        assert_eq!(ahead.notice(0, 16, 16), (true, Some(stretch(32, 128))));
        assert_eq!(ahead.notice(0, 32, 16), (true, None));
        assert_eq!(ahead.notice(0, 500, 16), (false, None));
        assert_eq!(ahead.notice(0, 48, 16), (true, None));
        assert_eq!(ahead.notice(0, 64, 16), (true, None));
        // 64 of 128 sectors remain before the edge: half.
        assert_eq!(ahead.notice(0, 80, 16), (true, Some(stretch(160, 128))));
    }

    #[test]
    fn sequences_of_two_arrays_are_kept_apart() {
        let mut ahead = ahead(2, false);
        ahead.notice(0, 0, 16);
        assert_eq!(ahead.notice(1, 16, 16), (false, None));
    }

    #[test]
    fn waste_restrains_read_ahead_and_use_restores_it() {
        let mut ahead = ahead(2, true);
        (0..FATES).for_each(|fate| ahead.learn(fate % 2 == 0));
        assert_eq!(ahead.notice(0, 0, 16), (false, None));
        // Half was wasted, not more: no change.
        assert_eq!(ahead.notice(0, 16, 16), (true, Some(stretch(32, 128))));
        (0..FATES).for_each(|fate| ahead.learn(fate <= FATES / 2));
        assert_eq!(ahead.notice(0, 1_000, 16), (false, None));
        assert_eq!(ahead.notice(0, 1_016, 16), (true, None));
        assert_eq!(ahead.notice(0, 1_032, 16), (true, None));
        assert_eq!(ahead.notice(0, 1_048, 16), (true, Some(stretch(1_064, 64))));
        // At maximum restraint a sequence of 512 reads still starts a read-ahead of a line.
        (0..20 * FATES).for_each(|_| ahead.learn(true));
        let starts = (0..2_000_u64).find(|step| ahead.notice(0, 10_000 + step * 16, 16).1.is_some());
        assert_eq!(starts, Some(511));
        assert_eq!(ahead.notice(0, 10_000 + 512 * 16, 16).1.map(|stretch| stretch.sectors), Some(16));
        (0..20 * FATES).for_each(|_| ahead.learn(false));
        assert_eq!(ahead.notice(0, 50_000, 16), (false, None));
        assert_eq!(ahead.notice(0, 50_016, 16), (true, Some(stretch(50_032, 128))));
    }

    #[test]
    fn fixed_read_ahead_does_not_adapt() {
        let mut ahead = ahead(2, false);
        (0..20 * FATES).for_each(|_| ahead.learn(true));
        ahead.notice(0, 0, 16);
        assert_eq!(ahead.notice(0, 16, 16), (true, Some(stretch(32, 128))));
    }
}
