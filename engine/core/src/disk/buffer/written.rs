//! Written data of a buffer: dirty segments, and those in flight to the media.
//!
//! ```text
//!   take_write ──► dirty ◄── merge_write       clean ──► in flight ──── arrive ────► clean
//! ```

use super::{Buffer, Recency, Segment};
use crate::units::SimTime;

/// Sectors of a segment in flight to the media.
#[derive(Clone, Copy, Debug)]
pub(super) struct Going {
    pub segment: usize,
    pub first: u64,
    pub end: u64,
    pub until: SimTime,
}

impl Buffer {
    /// Adds written sectors to a dirty segment that they overwrite or continue; returns whether there is one. No two dirty
    /// segments hold the same sector.
    pub fn merge_write(&mut self, first: u64, end: u64) -> bool {
        let is_new = self.dirty_overlap(first, end).is_none();
        let merged = self.segments.iter().position(|segment| {
            segment.is_dirty
                && segment.start <= first
                && (end <= segment.end
                    || (is_new && first == segment.end && end - segment.start <= self.size))
        });
        let Some(index) = merged else { return false };
        self.segments[index].end = self.segments[index].end.max(end);
        self.recency.touch(index);
        self.mark(first, end);
        true
    }

    /// Puts written sectors into a new segment at `now`. Precondition: [`Self::has_room`].
    pub fn take_write(&mut self, first: u64, end: u64, now: SimTime) {
        self.mark(first, end);
        let taken = self.take(first, end, true, now);
        debug_assert!(taken.is_some(), "a segment is taken where none is free");
    }

    /// The dirty segments, by index.
    pub fn dirty(&self) -> impl Iterator<Item = (usize, Segment)> {
        let segments = if self.has_dirty() { &self.segments[..] } else { &[] };
        segments.iter().copied().enumerate().filter(|(_, segment)| segment.is_dirty)
    }

    /// Whether any segment is dirty.
    pub const fn has_dirty(&self) -> bool {
        self.dirty_count > 0
    }

    /// A dirty segment that holds sectors of `first..end`.
    pub fn dirty_overlap(&self, first: u64, end: u64) -> Option<usize> {
        self.dirty().find(|(_, segment)| segment.overlaps(first, end)).map(|(index, _)| index)
    }

    /// Puts a segment in flight to the media, which ends when the arm is idle.
    pub fn clean(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        self.dirty_count -= u32::from(segment.is_dirty);
        segment.is_dirty = false;
        let (first, end) = (segment.start, segment.end);
        self.going.push(Going { segment: index, first, end, until: self.idle_from });
    }

    /// Marks the sectors that reached the media by `now` as clean.
    pub fn arrive(&mut self, now: SimTime) {
        self.going.retain(|going| going.until > now);
    }

    /// The power fails: calls `lose` with the sectors that were not on the media at `now`.
    pub fn lose_power(&mut self, now: SimTime, mut lose: impl FnMut(u64, u64)) {
        for going in self.going.drain(..).filter(|going| going.until > now) {
            lose(going.first, going.end);
        }
        for segment in &mut self.segments {
            if segment.is_dirty {
                lose(segment.start, segment.end);
            }
            *segment = Segment::EMPTY;
        }
        self.recency = Recency::new(self.segments.len());
        self.dirty_count = 0;
        self.fill = None;
        self.idle_from = now;
    }
}
