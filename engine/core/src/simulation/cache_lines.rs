//! The division of an array's sectors into cache lines.

use std::ops::RangeInclusive;

use crate::units::{Bytes, SECTOR_BYTES};

/// The division of an array's sectors into cache lines, whose size is a power of two.
#[derive(Clone, Copy, Debug)]
pub struct CacheLines {
    /// A line has two to this power sectors.
    bits: u32,
}

impl CacheLines {
    /// Lines of size `line`.
    pub const fn new(line: Bytes) -> Self {
        Self { bits: (line.0 / SECTOR_BYTES).ilog2() }
    }

    /// Sectors of a line.
    #[inline]
    pub const fn sectors(self) -> u64 {
        1 << self.bits
    }

    /// The line of `sector`.
    #[inline]
    pub const fn line_of(self, sector: u64) -> u64 {
        sector >> self.bits
    }

    /// First sector of `line`.
    #[inline]
    pub const fn start(self, line: u64) -> u64 {
        line << self.bits
    }

    /// The lines that the sectors from `lba` on touch; there is at least one sector.
    #[inline]
    pub const fn touched(self, lba: u64, sectors: u64) -> RangeInclusive<u64> {
        self.line_of(lba)..=self.line_of(lba + sectors - 1)
    }
}
