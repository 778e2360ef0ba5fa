//! Segments of a buffer.

/// A segment with the sectors `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::disk) struct Segment {
    pub start: u64,
    pub end: u64,
    /// Whether it is not on the media yet.
    pub is_dirty: bool,
}

impl Segment {
    /// A segment without data.
    pub const EMPTY: Self = Self { start: 0, end: 0, is_dirty: false };

    #[expect(clippy::needless_bitwise_bool, reason = "a lazy operator branches at random")]
    pub const fn holds(&self, sector: u64) -> bool {
        (self.start <= sector) & (sector < self.end)
    }

    #[expect(clippy::needless_bitwise_bool, reason = "a lazy operator branches at random")]
    pub const fn overlaps(&self, first: u64, end: u64) -> bool {
        (self.start < end) & (first < self.end)
    }
}

/// The places of the ones in a set of bits, in order.
pub(super) fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (place < u64::BITS).then_some(place as usize)
    })
}
