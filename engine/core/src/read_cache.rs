//! The read cache: lines that were read or prefetched.
//!
//! A line is valid, or pending while it is fetched. A write removes a line in any state, so that a fetch that was in flight
//! when its data changed never becomes valid.

use crate::config::{self, ReadMode};
use crate::read_ahead::{Noticed, ReadAhead, Stretch};
use crate::replacement::{Replacement, Room};
use crate::slab::Link;
use crate::units::Bytes;

/// State of a line for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Valid.
    Valid {
        /// Whether it was prefetched.
        is_prefetched: bool,
    },
    /// Pending.
    Pending {
        /// The fetch in flight.
        fetch: u32,
    },
}

/// Why a line is in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// It was read.
    Read,
    /// It was prefetched and not read.
    Ahead,
    /// It was prefetched and read.
    AheadUsed,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// The fetch in flight.
    fetch: Link,
    origin: Origin,
}

/// Counts of prefetched lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AheadCounts {
    /// Lines prefetched.
    pub fetched: u64,
    /// Of these, lines that were read.
    pub used: u64,
    /// Of these, lines that left unread.
    pub wasted: u64,
}

/// The read cache of a controller.
#[derive(Debug)]
pub struct ReadCache {
    config: config::ReadCache,
    line: Bytes,
    room: Room,
    lines: Replacement,
    /// The state of each line, by its slot.
    states: Vec<State>,
    ahead: Option<ReadAhead>,
    counts: AheadCounts,
}

const ARRAY_SHIFT: u32 = 48;

const fn key(array: u16, line: u64) -> u64 {
    (array as u64) << ARRAY_SHIFT | line
}

impl ReadCache {
    /// An empty cache of `capacity`, in lines of `line`. Precondition: it has room for one.
    pub fn new(capacity: Bytes, line: Bytes, config: &config::ReadCache) -> Self {
        let capacity = (capacity.0 / line.0) as usize;
        let share = |share: Option<crate::units::Fraction>| share.map(|share| share.0);
        let room = config.policy.room(capacity, share(config.probation), share(config.ghosts));
        Self {
            config: config.clone(),
            line,
            room,
            lines: Replacement::new(config.policy, room),
            states: Vec::new(),
            ahead: config.read_ahead.map(|ahead| ReadAhead::new(ahead, line, capacity)),
            counts: AheadCounts::default(),
        }
    }

    /// Whether all read data are kept.
    pub fn keeps_all(&self) -> bool {
        self.config.mode == ReadMode::Cached
    }

    /// Whether it is full.
    pub fn is_full(&self) -> bool {
        self.lines.held() == self.room.capacity
    }

    /// Capacity in lines.
    pub const fn capacity(&self) -> usize {
        self.room.capacity
    }

    /// Counts of prefetched lines since the last restart.
    pub const fn counts(&self) -> AheadCounts {
        self.counts
    }

    /// Restarts the counts.
    pub fn restart_counts(&mut self) {
        self.counts = AheadCounts::default();
    }

    /// The state of `line` for a read.
    #[inline]
    pub fn touch(&mut self, array: u16, line: u64) -> Option<Line> {
        let slot = self.lines.access(key(array, line))?;
        let state = &mut self.states[slot as usize];
        let is_prefetched = state.origin != Origin::Read;
        let fetch = state.fetch.get();
        if state.origin == Origin::Ahead {
            state.origin = Origin::AheadUsed;
            self.counts.used += 1;
            self.learn(false);
        }
        Some(fetch.map_or(Line::Valid { is_prefetched }, |fetch| Line::Pending { fetch }))
    }

    /// Whether `line` is valid or pending.
    #[inline]
    pub fn has(&self, array: u16, line: u64) -> bool {
        self.lines.find(key(array, line)).is_some()
    }

    /// Adds `line`, pending for `fetch` or valid; `is_ahead` for a prefetch. Precondition: it is absent.
    #[inline]
    pub fn insert(&mut self, array: u16, line: u64, fetch: Option<u32>, is_ahead: bool) {
        let admission = self.lines.admit(key(array, line));
        if let Some(slot) = admission.evicted {
            self.leave(slot);
        }
        let origin = if is_ahead { Origin::Ahead } else { Origin::Read };
        self.counts.fetched += u64::from(is_ahead);
        let state = State { fetch: fetch.map_or(Link::END, Link::to), origin };
        let slot = admission.slot as usize;
        if slot >= self.states.len() {
            self.states.resize(slot + 1, state);
        }
        self.states[slot] = state;
    }

    /// The data of `line` changed.
    #[inline]
    pub fn invalidate(&mut self, array: u16, line: u64) {
        if let Some(slot) = self.lines.remove(key(array, line)) {
            self.leave(slot);
        }
    }

    /// `fetch` completed for `line`; returns whether the line was still pending for it, and is valid now.
    #[inline]
    pub fn arrive(&mut self, array: u16, line: u64, fetch: u32) -> bool {
        let Some(slot) = self.lines.find(key(array, line)) else { return false };
        let state = &mut self.states[slot as usize];
        let is_awaited = state.fetch == Link::to(fetch);
        if is_awaited {
            state.fetch = Link::END;
        }
        is_awaited
    }

    /// Records a read of `sectors` from `lba` for the read-ahead.
    #[inline]
    pub fn notice(&mut self, array: u16, lba: u64, sectors: u64) -> Noticed {
        self.ahead.as_mut().map_or_else(Noticed::default, |ahead| ahead.notice(array, lba, sectors))
    }

    /// A read of `sectors` that was noticed in `sequence` is complete.
    #[inline]
    pub fn complete(&mut self, sequence: u8, sectors: u64) {
        if let Some(ahead) = &mut self.ahead {
            ahead.complete(sequence, sectors);
        }
    }

    /// A prefetch of `sectors` for `sequence` is on its way.
    #[inline]
    pub fn issue_ahead(&mut self, sequence: u8, sectors: u64) {
        if let Some(ahead) = &mut self.ahead {
            ahead.issue(sequence, sectors);
        }
    }

    /// A prefetch of `sectors` for `sequence` has arrived.
    #[inline]
    pub fn arrive_ahead(&mut self, sequence: u8, sectors: u64) {
        if let Some(ahead) = &mut self.ahead {
            ahead.arrive(sequence, sectors);
        }
    }

    /// What else to prefetch for `sequence`, and the array.
    #[inline]
    pub fn top_up(&mut self, sequence: u8) -> Option<(u16, Stretch)> {
        self.ahead.as_mut()?.top_up(sequence)
    }

    /// The memory loses power: all lines and known sequences are lost.
    pub fn cut_power(&mut self) {
        let unused = self.states.iter().filter(|state| state.origin == Origin::Ahead).count();
        self.counts.wasted += unused as u64;
        self.states.clear();
        self.lines = Replacement::new(self.config.policy, self.room);
        self.ahead = self.config.read_ahead.map(|ahead| ReadAhead::new(ahead, self.line, self.room.capacity));
    }

    /// The line in `slot` left.
    fn leave(&mut self, slot: u32) {
        let state = &mut self.states[slot as usize];
        if state.origin == Origin::Ahead {
            state.origin = Origin::Read;
            self.counts.wasted += 1;
            self.learn(true);
        }
    }

    fn learn(&mut self, is_wasted: bool) {
        if let Some(ahead) = &mut self.ahead {
            ahead.learn(is_wasted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(lines: u64) -> ReadCache {
        let line = Bytes(8 << 10);
        ReadCache::new(Bytes(lines * line.0), line, &config::ReadCache::default())
    }

    #[test]
    fn a_write_during_a_fetch_discards_the_old_data() {
        let mut cache = cache(128);
        cache.insert(0, 7, Some(3), true);
        cache.invalidate(0, 7);
        assert!(!cache.arrive(0, 7, 3));
        assert_eq!(cache.touch(0, 7), None);
        // The fetch that the write made outdated does not make it valid either.
        cache.insert(0, 7, Some(4), false);
        assert!(!cache.arrive(0, 7, 3));
        assert_eq!(cache.touch(0, 7), Some(Line::Pending { fetch: 4 }));
    }

    #[test]
    fn each_line_read_ahead_is_used_or_wasted_once() {
        let mut cache = cache(2);
        cache.insert(0, 1, Some(1), true);
        cache.insert(0, 2, Some(1), true);
        // Read while pending, and again when valid.
        assert_eq!(cache.touch(0, 1), Some(Line::Pending { fetch: 1 }));
        assert!(cache.arrive(0, 1, 1));
        assert_eq!(cache.touch(0, 1), Some(Line::Valid { is_prefetched: true }));
        // Line 2 is evicted, line 3 overwritten, line 1 was used.
        cache.insert(0, 3, None, true);
        cache.invalidate(0, 3);
        cache.invalidate(0, 1);
        cache.insert(0, 4, None, true);
        assert_eq!(cache.counts(), AheadCounts { fetched: 4, used: 1, wasted: 2 });
        cache.cut_power();
        assert_eq!(cache.counts(), AheadCounts { fetched: 4, used: 1, wasted: 3 });
        assert_eq!(cache.touch(0, 4), None);
    }
}
