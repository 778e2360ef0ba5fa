//! Segments of a buffer.

use std::hint::select_unpredictable;

use crate::units::SimTime;

/// A segment with the sectors `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::disk) struct Segment {
    pub start: u64,
    pub end: u64,
    /// Whether it is not on the media yet.
    pub is_dirty: bool,
    /// Time of its last use.
    pub used: u64,
}

impl Segment {
    #[expect(clippy::needless_bitwise_bool, reason = "a lazy operator branches at random")]
    pub const fn overlaps(&self, first: u64, end: u64) -> bool {
        (self.start < end) & (first < self.end)
    }
}

/// The first segment of those used least recently.
pub(super) fn least_recently_used(segments: &[Segment]) -> usize {
    let mut least = (0, u64::MAX);
    for (index, segment) in segments.iter().enumerate() {
        least = select_unpredictable(segment.used < least.1, (index, segment.used), least);
    }
    least.0
}

/// Sectors of a segment in flight to the media.
#[derive(Clone, Copy, Debug)]
pub(super) struct Going {
    pub segment: usize,
    pub first: u64,
    pub end: u64,
    pub until: SimTime,
}
