//! Sequential read-ahead: detection of sequences, and the extent of prefetches.
//!
//! A read that starts where another ended continues its sequence. The `trigger`-th read of a sequence starts a
//! read-ahead of `size`; when less than half of it remains before the prefetched edge, the next `size` is
//! prefetched.
//!
//! ```text
//!   done | outstanding reads | newest │ ahead: half of `size`; with a queue all of it, or what is outstanding │ edge
//! ```
//!
//! A host that queues its reads is itself ahead by what it has outstanding. The read-ahead of its sequence is counted from
//! the newest read, and is never less than `size` or than the sequence has outstanding, up to a share of the cache: less
//! would put fewer I/Os on the disks than the host does without a cache, since a read waits for all of a prefetch. For the same
//! reason as much as is outstanding and twice `size` is kept in flight while there is a queue, up to that share: what has
//! arrived keeps no disk busy, and a disk that waits for a part of a turn has to be asked early.
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

/// Share of the cache that one sequence may prefetch because of its queue: prefetched lines leave unread if it is more than
/// the half that the lines between them and the newest read leave.
const QUEUE_SHARE: u64 = 4;

/// Used or wasted lines between two adaptations.
const FATES: u32 = 256;
/// Maximum restraint: a sequence needs 2^8 times the trigger.
const MAX_RESTRAINT: u32 = 8;

#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    next: u64,
    edge: u64,
    used: u64,
    /// Reads that are not complete, and their sectors.
    reads: u32,
    outstanding: u64,
    /// Sectors of its prefetches that have not arrived.
    in_flight: u64,
}

/// What a read means for the read-ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noticed {
    /// Whether it continues a sequence.
    pub is_sequential: bool,
    /// What to prefetch, if it is time.
    pub ahead: Option<Stretch>,
    /// The sequence in which it is outstanding until [`ReadAhead::complete`].
    pub sequence: Option<u8>,
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
    /// Most that a sequence prefetches because of its queue \[sectors\].
    limit: u64,
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
    /// Read-ahead without sequences into a cache of `capacity` lines of the size `line`.
    pub fn new(ahead: config::ReadAhead, line: Bytes, capacity: usize) -> Self {
        Self {
            trigger: ahead.trigger,
            size: ahead.size.sectors().0,
            line: line.sectors().0,
            limit: line.sectors().0 * capacity as u64 / QUEUE_SHARE,
            restraint: ahead.adaptive.then(Restraint::default),
            sequences: Vec::with_capacity(SEQUENCES),
            candidates: [u64::MAX; CANDIDATES],
            runs: [0; CANDIDATES],
            tags: [u32::MAX; SEQUENCES + CANDIDATES],
            oldest: 0,
            clock: 0,
        }
    }

    /// Records a read of `sectors` from `lba`.
    pub fn notice(&mut self, array: u16, lba: u64, sectors: u64) -> Noticed {
        self.clock += 1;
        let start = u64::from(array) << ARRAY_SHIFT | lba;
        let end = start + sectors;
        let (steps, size) = (self.steps(), self.restrained_size());
        let trigger = self.trigger << steps;
        #[expect(clippy::needless_bitwise_bool, reason = "a lazy operator compares one tag at a time")]
        let may_continue = self.tags.iter().fold(false, |found, &tag| found | (tag == start as u32));
        let sequences = if may_continue { &self.sequences[..] } else { &[] };
        if let Some(place) = sequences.iter().position(|sequence| sequence.next == start) {
            let sequence = &mut self.sequences[place];
            sequence.next = end;
            sequence.used = self.clock;
            let is_queued = sequence.outstanding > 0;
            sequence.outstanding += sectors;
            sequence.reads += 1;
            let reserve =
                if is_queued { size.max((sequence.outstanding >> steps).min(self.limit)) } else { size / 2 };
            self.tags[place] = end as u32;
            let ahead = Self::stretch(sequence, size, reserve);
            return Noticed { is_sequential: true, ahead, sequence: Some(place as u8) };
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
            let mut sequence = Sequence {
                next: end,
                edge: end,
                used: self.clock,
                reads: 1,
                outstanding: sectors,
                in_flight: 0,
            };
            let ahead = Self::stretch(&mut sequence, size, size / 2);
            let place = self.follow(sequence);
            return Noticed { is_sequential, ahead, sequence: Some(place as u8) };
        }
        let place = candidate.unwrap_or_else(|| {
            self.oldest = (self.oldest + 1) % CANDIDATES;
            (self.oldest + CANDIDATES - 1) % CANDIDATES
        });
        self.runs[place] = run;
        self.set_candidate(place, end);
        Noticed { is_sequential, ahead: None, sequence: None }
    }

    /// A read of `sectors` of a sequence is complete. A sequence that took the place of another has its own count.
    #[inline]
    pub fn complete(&mut self, sequence: u8, sectors: u64) {
        if let Some(sequence) = self.sequences.get_mut(usize::from(sequence)) {
            sequence.outstanding = sequence.outstanding.saturating_sub(sectors);
            sequence.reads = sequence.reads.saturating_sub(1);
        }
    }

    /// A prefetch of `sectors` of a sequence is on its way.
    #[inline]
    pub fn issue(&mut self, sequence: u8, sectors: u64) {
        if let Some(sequence) = self.sequences.get_mut(usize::from(sequence)) {
            sequence.in_flight += sectors;
        }
    }

    /// A prefetch of `sectors` of a sequence has arrived.
    #[inline]
    pub fn arrive(&mut self, sequence: u8, sectors: u64) {
        if let Some(sequence) = self.sequences.get_mut(usize::from(sequence)) {
            sequence.in_flight = sequence.in_flight.saturating_sub(sectors);
        }
    }

    /// What else to prefetch of a sequence of which several reads are outstanding, and the array.
    #[inline]
    pub fn top_up(&mut self, sequence: u8) -> Option<(u16, Stretch)> {
        let (steps, size, limit) = (self.steps(), self.restrained_size(), self.limit);
        let sequence = self.sequences.get_mut(usize::from(sequence))?;
        let left = sequence.edge.saturating_sub(sequence.next);
        let is_enough = sequence.in_flight >= (sequence.outstanding >> steps) + 2 * size;
        if sequence.reads < 2 || is_enough || left + size > limit {
            return None;
        }
        Self::stretch(sequence, size, left).map(|stretch| ((sequence.edge >> ARRAY_SHIFT) as u16, stretch))
    }

    fn steps(&self) -> u32 {
        self.restraint.map_or(0, |restraint| restraint.steps)
    }

    /// Size of a prefetch at the present restraint.
    fn restrained_size(&self) -> u64 {
        (self.size >> self.steps()).max(self.line.min(self.size))
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

    /// Prefetches `size`, or what is missing of `reserve`, if no more than that remains before the edge.
    fn stretch(sequence: &mut Sequence, size: u64, reserve: u64) -> Option<Stretch> {
        let left = sequence.edge.saturating_sub(sequence.next);
        if left > reserve {
            return None;
        }
        let from = sequence.edge.max(sequence.next);
        sequence.edge = from + size.max(reserve - left);
        Some(Stretch { first: from & ((1 << ARRAY_SHIFT) - 1), sectors: sequence.edge - from })
    }

    /// Tracks a sequence; returns its place.
    fn follow(&mut self, sequence: Sequence) -> usize {
        let place = if self.sequences.len() < SEQUENCES {
            self.sequences.push(sequence);
            self.sequences.len() - 1
        } else {
            let oldest = (0..SEQUENCES).min_by_key(|&index| self.sequences[index].used).unwrap_or_default();
            self.sequences[oldest] = sequence;
            oldest
        };
        self.tags[place] = sequence.next as u32;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ahead(trigger: u32, adaptive: bool) -> ReadAhead {
        let config = config::ReadAhead { trigger, size: Bytes(64 << 10), adaptive };
        ReadAhead::new(config, Bytes(8 << 10), 256)
    }

    /// A read that is complete before the next one: whether it continues a sequence, and what to prefetch.
    fn read(ahead: &mut ReadAhead, array: u16, lba: u64) -> (bool, Option<Stretch>) {
        let noticed = ahead.notice(array, lba, 16);
        if let Some(sequence) = noticed.sequence {
            ahead.complete(sequence, 16);
        }
        (noticed.is_sequential, noticed.ahead)
    }

    const fn stretch(first: u64, sectors: u64) -> Stretch {
        Stretch { first, sectors }
    }

    #[test]
    fn the_second_consecutive_read_starts_read_ahead() {
        let mut ahead = ahead(2, false);
        assert_eq!(read(&mut ahead, 0, 0), (false, None));
        assert_eq!(read(&mut ahead, 0, 16), (true, Some(stretch(32, 128))));
        assert_eq!(read(&mut ahead, 0, 32), (true, None));
        assert_eq!(read(&mut ahead, 0, 500), (false, None));
        assert_eq!(read(&mut ahead, 0, 48), (true, None));
        assert_eq!(read(&mut ahead, 0, 64), (true, None));
        // 64 of 128 sectors remain before the edge: half.
        assert_eq!(read(&mut ahead, 0, 80), (true, Some(stretch(160, 128))));
    }

    #[test]
    fn a_queue_is_read_ahead_of_its_newest_read() {
        let mut ahead = ahead(2, false);
        let mut queue = |reads: std::ops::Range<u64>| {
            reads.filter_map(|read| ahead.notice(0, read * 16, 16).ahead).collect::<Vec<_>>()
        };
        // The third read is the second of the sequence: from now on all of the size remains before the edge.
        assert_eq!(queue(0..3), [stretch(32, 128), stretch(160, 128)]);
        // Ten reads of the sequence are outstanding, then eleven: the edge is as far ahead of the newest.
        assert_eq!(queue(3..9), []);
        assert_eq!(queue(9..12), [stretch(288, 128)]);
        let edge = queue(12..60).last().map(|last| last.first + last.sectors);
        assert!(edge.is_some_and(|edge| edge >= 60 * 16 + 59 * 16), "{edge:?}");
        // No further than a quarter of the cache, of 4,096 sectors.
        let edge = queue(60..400).last().map(|last| last.first + last.sectors);
        assert!(edge.is_some_and(|edge| edge.abs_diff(400 * 16 + 1_024) <= 128), "{edge:?}");
        // When they are complete, half of the size is enough again.
        (1..400).for_each(|_| ahead.complete(0, 16));
        assert_eq!(read(&mut ahead, 0, 400 * 16), (true, None));
    }

    #[test]
    fn a_queue_keeps_prefetches_in_flight() {
        let mut ahead = ahead(2, false);
        let mut sequence = 0;
        for read in 0..2 {
            sequence = ahead.notice(1, read * 16, 16).sequence.unwrap_or_default();
        }
        // One read of the sequence is outstanding: the rule for single reads suffices.
        ahead.issue(sequence, 128);
        assert_eq!(ahead.top_up(sequence), None);
        // With two there are 32 sectors outstanding, and 32 + 2 x 128 are to be in flight.
        assert_eq!(ahead.notice(1, 32, 16).ahead, Some(stretch(160, 128)));
        ahead.issue(sequence, 128);
        assert_eq!(ahead.top_up(sequence), Some((1, stretch(288, 128))));
        ahead.issue(sequence, 128);
        assert_eq!(ahead.top_up(sequence), None);
        ahead.arrive(sequence, 128);
        assert_eq!(ahead.top_up(sequence), Some((1, stretch(416, 128))));
        // No further than a quarter of the cache beyond the newest read, at 48.
        let topped: Vec<_> = std::iter::from_fn(|| ahead.top_up(sequence)).collect();
        assert_eq!(topped.last(), Some(&(1, stretch(928, 128))));
    }

    #[test]
    fn sequences_of_two_arrays_are_kept_apart() {
        let mut ahead = ahead(2, false);
        read(&mut ahead, 0, 0);
        assert_eq!(read(&mut ahead, 1, 16), (false, None));
    }

    #[test]
    fn waste_restrains_read_ahead_and_use_restores_it() {
        let mut ahead = ahead(2, true);
        (0..FATES).for_each(|fate| ahead.learn(fate % 2 == 0));
        assert_eq!(read(&mut ahead, 0, 0), (false, None));
        // Half was wasted, not more: no change.
        assert_eq!(read(&mut ahead, 0, 16), (true, Some(stretch(32, 128))));
        (0..FATES).for_each(|fate| ahead.learn(fate <= FATES / 2));
        assert_eq!(read(&mut ahead, 0, 1_000), (false, None));
        assert_eq!(read(&mut ahead, 0, 1_016), (true, None));
        assert_eq!(read(&mut ahead, 0, 1_032), (true, None));
        assert_eq!(read(&mut ahead, 0, 1_048), (true, Some(stretch(1_064, 64))));
        // At maximum restraint a sequence of 512 reads still starts a read-ahead of a line.
        (0..20 * FATES).for_each(|_| ahead.learn(true));
        let starts = (0..2_000_u64).find(|step| read(&mut ahead, 0, 10_000 + step * 16).1.is_some());
        assert_eq!(starts, Some(511));
        assert_eq!(read(&mut ahead, 0, 10_000 + 512 * 16).1.map(|stretch| stretch.sectors), Some(16));
        (0..20 * FATES).for_each(|_| ahead.learn(false));
        assert_eq!(read(&mut ahead, 0, 50_000), (false, None));
        assert_eq!(read(&mut ahead, 0, 50_016), (true, Some(stretch(50_032, 128))));
    }

    #[test]
    fn fixed_read_ahead_does_not_adapt() {
        let mut ahead = ahead(2, false);
        (0..20 * FATES).for_each(|_| ahead.learn(true));
        read(&mut ahead, 0, 0);
        assert_eq!(read(&mut ahead, 0, 16), (true, Some(stretch(32, 128))));
    }
}
