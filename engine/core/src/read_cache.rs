//! The read cache: lines that were read or read ahead, and the detection of sequential reads.
//!
//! A line is valid, or pending while a fetch brings it. A write makes a line leave, whatever its state, so that a
//! fetch that was under way when its data changed never becomes valid.

use crate::config::{ReadAhead, ReadMode};
use crate::lru::Lru;
use crate::units::Bytes;

/// What the cache knows of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Its data are here; whether they came by read-ahead.
    Valid {
        /// Whether read-ahead brought them.
        is_prefetched: bool,
    },
    /// A fetch is bringing its data.
    Pending {
        /// The fetch.
        fetch: u32,
    },
}

/// The read cache of a controller.
#[derive(Debug)]
pub struct ReadCache {
    lines: Lru<Line>,
    mode: ReadMode,
    detector: Option<Detector>,
}

const ARRAY_SHIFT: u32 = 48;

const fn key(array: u16, line: u64) -> u64 {
    (array as u64) << ARRAY_SHIFT | line
}

impl ReadCache {
    /// An empty cache of `capacity`, in lines of `line`.
    pub fn new(capacity: Bytes, line: Bytes, mode: ReadMode, ahead: Option<ReadAhead>) -> Self {
        Self { lines: Lru::new((capacity.0 / line.0) as usize), mode, detector: ahead.map(Detector::new) }
    }

    /// Whether all data that is read is kept.
    pub fn keeps_all(&self) -> bool {
        self.mode == ReadMode::Cached
    }

    /// Whether it is full.
    pub fn is_full(&self) -> bool {
        self.lines.len() == self.lines.capacity()
    }

    /// Lines that it holds at most.
    pub const fn capacity(&self) -> usize {
        self.lines.capacity()
    }

    /// What is known of `line`, which becomes the most recently used.
    #[inline]
    pub fn touch(&mut self, array: u16, line: u64) -> Option<Line> {
        self.lines.touch(key(array, line)).copied()
    }

    /// Whether `line` is here or on its way.
    #[inline]
    pub fn has(&mut self, array: u16, line: u64) -> bool {
        self.lines.peek(key(array, line)).is_some()
    }

    /// Puts `line` in.
    #[inline]
    pub fn insert(&mut self, array: u16, line: u64, state: Line) {
        self.lines.insert(key(array, line), state);
    }

    /// The data of `line` have changed.
    #[inline]
    pub fn invalidate(&mut self, array: u16, line: u64) {
        self.lines.remove(key(array, line));
    }

    /// `fetch` has brought `line`; gives whether it was still waited for, and is valid now.
    #[inline]
    pub fn arrive(&mut self, array: u16, line: u64, fetch: u32, is_prefetched: bool) -> bool {
        if let Some(state) = self.lines.peek(key(array, line))
            && *state == (Line::Pending { fetch })
        {
            *state = Line::Valid { is_prefetched };
            return true;
        }
        false
    }

    /// Notes a read of `sectors` from `lba` on; gives whether it continues a sequence, and what to read ahead as
    /// first sector and number of sectors, where it is time.
    #[inline]
    pub fn notice(&mut self, array: u16, lba: u64, sectors: u64) -> (bool, Option<(u64, u64)>) {
        match &mut self.detector {
            Some(detector) => detector.notice(key(array, lba), sectors),
            None => (false, None),
        }
    }
}

/// How many streams are followed at a time, and how many single reads are remembered as possible starts of one.
const STREAMS: usize = 32;
const CANDIDATES: usize = 64;

#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    next: u64,
    edge: u64,
    used: u64,
}

/// Finds sequential streams among the reads: a read that starts where another ended continues it.
#[derive(Debug)]
struct Detector {
    trigger: u32,
    size: u64,
    streams: Vec<Sequence>,
    /// Ends of recent reads that continue no stream, with the length of their run so far.
    candidates: [u64; CANDIDATES],
    runs: [u32; CANDIDATES],
    oldest: usize,
    clock: u64,
}

impl Detector {
    fn new(ahead: ReadAhead) -> Self {
        Self {
            trigger: ahead.trigger,
            size: ahead.size.sectors().0,
            streams: Vec::with_capacity(STREAMS),
            candidates: [u64::MAX; CANDIDATES],
            runs: [0; CANDIDATES],
            oldest: 0,
            clock: 0,
        }
    }

    fn notice(&mut self, start: u64, sectors: u64) -> (bool, Option<(u64, u64)>) {
        self.clock += 1;
        let end = start + sectors;
        if let Some(stream) = self.streams.iter_mut().find(|stream| stream.next == start) {
            stream.next = end;
            stream.used = self.clock;
            return (true, Self::ahead(stream, self.size));
        }
        if let Some(place) = self.candidates.iter().position(|&next| next == start) {
            let run = self.runs[place] + 1;
            if run < self.trigger {
                self.candidates[place] = end;
                self.runs[place] = run;
                return (true, None);
            }
            self.candidates[place] = u64::MAX;
            let mut stream = Sequence { next: end, edge: end, used: self.clock };
            let ahead = Self::ahead(&mut stream, self.size);
            self.follow(stream);
            return (true, ahead);
        }
        if self.trigger <= 1 {
            let mut stream = Sequence { next: end, edge: end, used: self.clock };
            let ahead = Self::ahead(&mut stream, self.size);
            self.follow(stream);
            return (false, ahead);
        }
        self.candidates[self.oldest] = end;
        self.runs[self.oldest] = 1;
        self.oldest = (self.oldest + 1) % CANDIDATES;
        (false, None)
    }

    /// Reads ahead when less than half of the read-ahead size is left before the edge.
    fn ahead(stream: &mut Sequence, size: u64) -> Option<(u64, u64)> {
        let left = stream.edge.saturating_sub(stream.next);
        if left * 2 > size {
            return None;
        }
        let from = stream.edge.max(stream.next);
        stream.edge = from + size;
        Some((from & ((1 << ARRAY_SHIFT) - 1), size))
    }

    fn follow(&mut self, stream: Sequence) {
        if self.streams.len() < STREAMS {
            self.streams.push(stream);
        } else if let Some(place) = (0..STREAMS).min_by_key(|&index| self.streams[index].used) {
            self.streams[place] = stream;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(trigger: u32) -> ReadCache {
        let ahead = ReadAhead { trigger, size: Bytes(64 << 10) };
        ReadCache::new(Bytes(1 << 20), Bytes(8 << 10), ReadMode::PrefetchOnly, Some(ahead))
    }

    #[test]
    fn the_second_consecutive_read_starts_read_ahead() {
        let mut cache = cache(2);
        assert_eq!(cache.notice(0, 0, 16), (false, None));
        assert_eq!(cache.notice(0, 16, 16), (true, Some((32, 128))));
        assert_eq!(cache.notice(0, 32, 16), (true, None));
        assert_eq!(cache.notice(0, 500, 16), (false, None));
        assert_eq!(cache.notice(0, 48, 16), (true, None));
        assert_eq!(cache.notice(0, 64, 16), (true, None));
        // 64 of 128 sectors are left before the edge: half.
        assert_eq!(cache.notice(0, 80, 16), (true, Some((160, 128))));
    }

    #[test]
    fn sequences_of_two_arrays_are_kept_apart() {
        let mut cache = cache(2);
        cache.notice(0, 0, 16);
        assert_eq!(cache.notice(1, 16, 16), (false, None));
    }

    #[test]
    fn a_write_during_a_fetch_keeps_the_old_data_out() {
        let mut cache = cache(2);
        cache.insert(0, 7, Line::Pending { fetch: 3 });
        cache.invalidate(0, 7);
        assert!(!cache.arrive(0, 7, 3, true));
        assert_eq!(cache.touch(0, 7), None);
    }
}
