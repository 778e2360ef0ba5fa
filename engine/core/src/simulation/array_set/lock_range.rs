//! The part of a stripe that an operation locks.

use crate::raid::Layout;
use crate::write_cache::Extent;

/// The part of a stripe that an operation locks \[sectors of the array\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRange {
    /// The stripe.
    pub stripe: u64,
    start: u64,
    end: u64,
    /// Whether other shared ranges may be locked at the same time.
    is_shared: bool,
}

impl LockRange {
    /// What a write of `extents`, in order of address, locks: all of `stripe` if there is parity.
    pub fn of(layout: &Layout, stripe: u64, extents: &[Extent]) -> Self {
        if layout.level().parities() > 0 {
            return Self::whole(stripe);
        }
        let start = extents.first().map_or(0, |extent| extent.lba.0);
        let end = extents.last().map_or(0, |extent| extent.lba.0 + extent.sectors.0);
        Self::part(stripe, start, end)
    }

    /// All of `stripe`.
    pub const fn whole(stripe: u64) -> Self {
        Self { stripe, start: 0, end: u64::MAX, is_shared: false }
    }

    /// All of `stripe`, for operations that only read it.
    pub const fn shared(stripe: u64) -> Self {
        Self { is_shared: true, ..Self::whole(stripe) }
    }

    /// The sectors of the array from `start` to `end` in `stripe`.
    pub const fn part(stripe: u64, start: u64, end: u64) -> Self {
        Self { stripe, start, end, is_shared: false }
    }

    /// For a mutation: without parity, a range that overlaps no other.
    pub const fn without_overlap(&self) -> Self {
        if self.end == u64::MAX { *self } else { Self { start: 0, end: 0, ..*self } }
    }

    /// Whether operations with these ranges have to run one after the other.
    pub const fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end && !(self.is_shared && other.is_shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raid::Level;
    use crate::units::{Lba, Sectors};

    /// Whether writes of the extents `one` and `other`, by (lba, sectors), to stripe 0 wait for each other.
    fn overlap(level: Level, one: &[(u64, u64)], other: &[(u64, u64)]) -> bool {
        let layout = Layout::new(level, 4, Sectors(16), Sectors(1600)).unwrap();
        let [one, other] = [one, other].map(|extents| {
            let extents: Vec<_> =
                extents.iter().map(|&(lba, n)| Extent { lba: Lba(lba), sectors: Sectors(n) }).collect();
            LockRange::of(&layout, 0, &extents)
        });
        assert_eq!(one.overlaps(&other), other.overlaps(&one));
        one.overlaps(&other)
    }

    #[test]
    fn without_parity_only_overlapping_writes_wait() {
        for level in [Level::Raid0, Level::Raid10] {
            assert!(overlap(level, &[(0, 8)], &[(7, 2)]));
            assert!(!overlap(level, &[(0, 8)], &[(8, 8)]));
            assert!(overlap(level, &[(0, 2), (12, 4)], &[(15, 1)]));
        }
    }

    #[test]
    fn operations_that_only_read_a_stripe_share_it() {
        let (shared, whole) = (LockRange::shared(3), LockRange::whole(3));
        assert!(!shared.overlaps(&shared));
        assert!(shared.overlaps(&whole) && whole.overlaps(&shared) && whole.overlaps(&whole));
    }

    #[test]
    fn with_parity_all_writes_to_a_stripe_wait() {
        assert!(overlap(Level::Raid5, &[(0, 8)], &[(8, 8)]));
        assert!(overlap(Level::Raid6, &[(0, 1)], &[(31, 1)]));
    }
}
