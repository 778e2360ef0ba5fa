//! Extents: the sectors that a range of bytes touches.

use crate::units::{Lba, SECTOR_BYTES, Sectors};

/// A range of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub lba: Lba,
    pub sectors: Sectors,
    /// Whether it was rounded out from bytes that do not begin and end at sectors.
    pub is_rounded: bool,
}

impl Extent {
    /// The sectors that `size` bytes from byte `offset` on touch; `None` beyond the largest address or size.
    #[inline]
    pub fn of_bytes(offset: u64, size: u64) -> Option<Self> {
        let end = offset.checked_add(size)?;
        let first = offset / SECTOR_BYTES;
        let sectors = end.div_ceil(SECTOR_BYTES) - first;
        let is_rounded = !(offset | size).is_multiple_of(SECTOR_BYTES);
        (sectors <= u32::MAX.into()).then_some(Self {
            lba: Lba(first),
            sectors: Sectors(sectors),
            is_rounded,
        })
    }

    /// A range given in sectors.
    #[inline]
    pub const fn of_sectors(lba: u64, sectors: u64) -> Self {
        Self { lba: Lba(lba), sectors: Sectors(sectors), is_rounded: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_rounded_outward_to_sectors() {
        let extent = |offset, size| {
            Extent::of_bytes(offset, size).map(|found| (found.lba.0, found.sectors.0, found.is_rounded))
        };
        assert_eq!(extent(1024, 512), Some((2, 1, false)));
        assert_eq!(extent(1000, 100), Some((1, 2, true)));
        assert_eq!(extent(511, 1), Some((0, 1, true)));
        assert_eq!(extent(0, 0), Some((0, 0, false)));
        assert_eq!(extent(u64::MAX, 1), None);
        assert_eq!(extent(0, 1 << 42), None);
    }
}
