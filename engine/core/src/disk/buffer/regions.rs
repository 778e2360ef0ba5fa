//! The regions of a disk in which a buffer may hold data.
//!
//! Few reads find their data in a drive's buffer, and a drive asks for all waiting ones before each I/O. A map of marks
//! answers most of them without a look at the segments: no mark, no data.
//!
//! ```text
//!   sector ─► region = sector / size of a segment ─► mark = region mod 1024
//! ```
//!
//! Marks are added with each segment and its read-ahead, and only removed together, when the buffer marks everything again.

use super::Buffer;

/// Words of the map: with a few dozen marks, one unmarked read in twenty is looked for.
const WORDS: usize = 16;
const MARKS: u64 = 64 * WORDS as u64;

/// The mark of an I/O: its place in the map, which is computed once and looked up whenever the drive chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::disk) struct Mark(u32);

impl Mark {
    /// The mark of all writes, which is there if the buffer accepts writes.
    pub const WRITE: Self = Self(MARKS as u32);
}
/// Marks added after which the map is stale.
const STALE: u64 = 64;

/// A map of the regions with data.
#[derive(Debug)]
pub(super) struct Regions {
    /// The marks of reads, and then that of writes; as many again keep an index within bounds.
    words: [u64; 2 * WORDS],
    /// log2 of the sectors of a region.
    shift: u32,
    /// Marks added since the map was new.
    added: u64,
}

impl Regions {
    /// An empty map for segments of `size` sectors.
    pub fn new(size: u64, accepts_writes: bool) -> Self {
        let shift = size.max(1).next_power_of_two().ilog2();
        let mut words = [0; 2 * WORDS];
        words[WORDS] = u64::from(accepts_writes);
        Self { words, shift, added: 0 }
    }

    /// Whether many marks may belong to data that are gone.
    pub const fn is_stale(&self) -> bool {
        self.added >= STALE
    }

    /// A new map with the data at `extents` (first sector, end).
    pub fn restart(&mut self, extents: impl Iterator<Item = (u64, u64)>) {
        self.words[..WORDS].fill(0);
        for (first, end) in extents {
            self.mark(first, end);
        }
        self.added = 0;
    }

    /// Marks the sectors from `first` to `end`, inclusive.
    #[inline]
    pub fn mark(&mut self, first: u64, end: u64) {
        let (from, to) = (first >> self.shift, end >> self.shift);
        let regions = (to.saturating_sub(from) + 1).min(MARKS);
        for region in from..from + regions {
            let Mark(mark) = Self::place(region);
            self.words[(mark / 64) as usize] |= 1 << (mark % 64);
        }
        self.added += regions;
    }

    /// Whether there may be data from `sector` on.
    #[inline]
    pub const fn may_hold(&self, sector: u64) -> bool {
        self.has(self.mark_of(sector))
    }

    /// The mark of a read from `sector` on.
    #[inline]
    pub const fn mark_of(&self, sector: u64) -> Mark {
        Self::place(sector >> self.shift)
    }

    /// Whether the mark is there.
    #[inline]
    pub const fn has(&self, Mark(mark): Mark) -> bool {
        self.words[(mark / 64) as usize % (2 * WORDS)] >> (mark % 64) & 1 != 0
    }

    /// Whether there may be data in `first..end`.
    #[inline]
    pub fn may_overlap(&self, first: u64, end: u64) -> bool {
        let (from, to) = (first >> self.shift, end >> self.shift);
        let marked = |region| self.has(Self::place(region));
        to.saturating_sub(from) >= MARKS || (from..=to).fold(false, |found, region| found | marked(region))
    }

    #[inline]
    const fn place(region: u64) -> Mark {
        Mark((region % MARKS) as u32)
    }
}

impl Buffer {
    /// Marks data from `first` to `end`, which are in a segment or will be when its read-ahead ends.
    pub(super) fn mark(&mut self, first: u64, end: u64) {
        if self.regions.is_stale() {
            let filling = self.fill.map(|fill| {
                let start = self.segments[fill.segment].start;
                (fill.whole.map_or(start, |(_, whole)| start.min(whole)), fill.limit)
            });
            let kept = self.segments.iter().filter(|segment| segment.start < segment.end);
            let kept = kept.map(|segment| (segment.start, segment.end));
            self.regions.restart(kept.chain(filling));
        }
        self.regions.mark(first, end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// No sector of a marked extent is denied, however far apart the extents are, or after a restart with some of them.
        #[test]
        fn marked_sectors_are_found(
            size in 1_u64..5_000,
            extents in prop::collection::vec((0_u64..1 << 40, 1_u64..20_000), 1..40),
            kept in 0_usize..40,
        ) {
            let mut regions = Regions::new(size, false);
            for &(first, sectors) in &extents {
                regions.mark(first, first + sectors);
            }
            for step in 0..2 {
                let seen = if step == 0 { &extents[..] } else { &extents[..kept.min(extents.len())] };
                if step == 1 {
                    regions.restart(seen.iter().map(|&(first, sectors)| (first, first + sectors)));
                }
                for &(first, sectors) in seen {
                    for sector in [first, first + sectors / 2, first + sectors] {
                        prop_assert!(regions.may_hold(sector));
                    }
                    prop_assert!(regions.may_overlap(first.saturating_sub(sectors), first + 1));
                    prop_assert!(regions.may_overlap(first + sectors - 1, first + 3 * sectors));
                }
            }
        }
    }

    #[test]
    fn other_regions_are_denied() {
        let mut regions = Regions::new(1000, false);
        regions.mark(10_240, 12_000);
        assert!(!regions.may_hold(10_239) && !regions.may_hold(12_288) && !regions.may_overlap(0, 10_000));
        assert!(regions.may_hold(10_240) && regions.may_hold(12_287));
        assert!(!regions.is_stale());
        regions.mark(0, 1 << 40);
        assert!(regions.is_stale() && regions.may_hold(1 << 50));
        regions.restart([(5_000, 5_000)].into_iter());
        assert!(!regions.is_stale() && regions.may_hold(5_000) && !regions.may_hold(12_000));
    }
}
