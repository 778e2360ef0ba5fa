//! Layout: the mapping of array addresses to disks.
//!
//! A *stripe unit* is the consecutive data on one disk; a *stripe* is one stripe unit on each disk; a *strip* is a stripe
//! unit with data. Parity moves one disk to the left from stripe to stripe, and the data follow on its right and wrap
//! ("left-symmetric"), so that consecutive strips are on consecutive disks:
//!
//! ```text
//!   RAID 0         RAID 1+0       RAID 5         RAID 6
//!   d0 d1 d2 d3    d0 d1 d2 d3    d0 d1 d2 d3    d0 d1 d2 d3 d4
//!    0  1  2  3     0  0  1  1     0  1  2  P     Q  0  1  2  P    stripe 0
//!    4  5  6  7     2  2  3  3     4  5  P  3     3  4  5  P  Q    stripe 1
//!    8  9 10 11     4  4  5  5     8  P  6  7     7  8  P  Q  6    stripe 2
//!   12 13 14 15     6  6  7  7     P  9 10 11    11  P  Q  9 10    stripe 3
//! ```
//!
//! RAID 1 is one mirrored pair. RAID 50 and 60 divide the disks into adjacent *parity groups* of equal size, each with the
//! layout of RAID 5 or RAID 6, and consecutive stripes are on consecutive groups:
//!
//! ```text
//!   RAID 50, two groups
//!   d0 d1 d2   d3 d4 d5
//!    0  1  P    2  3  P    stripes 0 and 1, row 0
//!    5  P  4    7  P  6    stripes 2 and 3, row 1
//! ```
//!
//! A *row* is one stripe unit on every disk, and so one stripe of each group. Sectors beyond the last whole stripe unit of
//! a disk are not used. If all data are on one disk or one mirrored pair, addresses are contiguous across stripe units and
//! requests are not split.
//!
//! Cost: two multiplications to locate an address (three with groups), none for the next strip; nothing allocates.

use thiserror::Error;

use super::{DEFAULT_GROUPS, Level};
use crate::divisor::Divisor;
use crate::units::{Lba, Sectors};

/// Error of an impossible array.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// The level does not support the number of disks.
    #[error("{disks} disks; RAID {} allows {}", level.name(), level.allowed())]
    Disks {
        /// RAID level.
        level: Level,
        /// Number of disks.
        disks: u32,
    },
    /// The disks do not divide into groups of equal and sufficient size, or there is one group only.
    #[error("{groups} groups of {disks} disks; RAID {} allows 2 or more groups of equal size: {}", level.name(), level.allowed())]
    Groups {
        /// RAID level.
        level: Level,
        /// Number of disks.
        disks: u32,
        /// Number of groups.
        groups: u32,
    },
    /// The stripe unit is empty or larger than a disk.
    #[error("{stripe_unit} sectors; allowed are 1 to {disk_sectors} sectors, the size of a disk")]
    StripeUnit {
        /// Stripe unit \[sectors\].
        stripe_unit: u64,
        /// Size of a disk \[sectors\].
        disk_sectors: u64,
    },
}

/// Location of a sector of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The stripe.
    pub stripe: u64,
    /// Data strip within the stripe, in the order of array addresses.
    pub index: u32,
    /// Offset within the strip \[sectors\].
    pub offset: Sectors,
    /// The disk, or the first of a mirrored pair (see [`Layout::mirror`]).
    pub disk: u32,
    /// The address on that disk (and on its mirror).
    pub disk_lba: Lba,
}

/// The part of a request in one strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Location of its start.
    pub strip: Strip,
    /// Its address on the array.
    pub lba: Lba,
    /// Length, up to the end of the strip or, if requests are not split, of the request.
    pub sectors: Sectors,
}

/// The address mapping of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    level: Level,
    disks: u32,
    /// Number of parity groups; 1 for levels without groups.
    groups: Divisor,
    /// Disks per group.
    group_disks: Divisor,
    data_disks: Divisor,
    stripe_unit: Divisor,
    rows: u64,
}

impl Layout {
    /// The layout of `disks` equal disks of `disk_sectors`, with two groups for RAID 50 and 60.
    ///
    /// # Errors
    /// The level does not support the number of disks, or the stripe unit is zero or larger than a disk.
    pub fn new(
        level: Level,
        disks: u32,
        stripe_unit: Sectors,
        disk_sectors: Sectors,
    ) -> Result<Self, LayoutError> {
        Self::grouped(level, disks, DEFAULT_GROUPS, stripe_unit, disk_sectors)
    }

    /// The layout of `disks` equal disks of `disk_sectors`, with `groups` groups for RAID 50 and 60.
    ///
    /// # Errors
    /// The level does not support the number of disks or groups, or the stripe unit is zero or larger than a disk.
    pub fn grouped(
        level: Level,
        disks: u32,
        groups: u32,
        stripe_unit: Sectors,
        disk_sectors: Sectors,
    ) -> Result<Self, LayoutError> {
        let groups = if level.is_grouped() { groups } else { 1 };
        if level.is_grouped() {
            let is_even = groups >= 2 && disks.is_multiple_of(groups);
            if !is_even || !level.takes(disks / groups) {
                return Err(LayoutError::Groups { level, disks, groups });
            }
        } else if !level.takes(disks) {
            return Err(LayoutError::Disks { level, disks });
        }
        if stripe_unit.0 == 0 || stripe_unit > disk_sectors {
            return Err(LayoutError::StripeUnit { stripe_unit: stripe_unit.0, disk_sectors: disk_sectors.0 });
        }
        let group_disks = disks / groups;
        let data_disks = if level.is_mirrored() { disks / 2 } else { group_disks - level.parities() };
        Ok(Self {
            level,
            disks,
            groups: Divisor::new(groups.into()),
            group_disks: Divisor::new(group_disks.into()),
            data_disks: Divisor::new(data_disks.into()),
            stripe_unit: Divisor::new(stripe_unit.0),
            rows: disk_sectors.0 / stripe_unit.0,
        })
    }

    /// The RAID level.
    #[inline]
    pub const fn level(&self) -> Level {
        self.level
    }

    /// All disks of the array.
    #[inline]
    pub const fn disks(&self) -> u32 {
        self.disks
    }

    /// The disks of a stripe and its parity, a group or all: the first disk and their number.
    #[inline]
    pub const fn group_of(&self, stripe: u64) -> (u32, u32) {
        (self.place(stripe).1, self.group_disks.get() as u32)
    }

    /// Data strips in a stripe.
    #[inline]
    pub const fn data_disks(&self) -> u32 {
        self.data_disks.get() as u32
    }

    /// Consecutive data on one disk.
    #[inline]
    pub const fn stripe_unit(&self) -> Sectors {
        Sectors(self.stripe_unit.get())
    }

    /// Data in one stripe.
    #[inline]
    pub const fn stripe_sectors(&self) -> Sectors {
        Sectors(self.stripe_unit.get() * self.data_disks.get())
    }

    /// Stripe units per disk.
    #[inline]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Stripes on the array.
    #[inline]
    pub const fn stripes(&self) -> u64 {
        self.rows * self.groups.get()
    }

    /// The stripe that has a stripe unit in `row` of `disk`.
    #[inline]
    pub const fn stripe_on(&self, disk: u32, row: u64) -> u64 {
        row * self.groups.get() + self.group_disks.div_rem(disk as u64).0
    }

    /// The row of `stripe`.
    #[inline]
    pub const fn row_of(&self, stripe: u64) -> u64 {
        self.place(stripe).0
    }

    /// Capacity of the array.
    #[inline]
    pub const fn capacity(&self) -> Sectors {
        Sectors(self.stripes() * self.stripe_sectors().0)
    }

    /// The stripe that holds `lba`.
    #[inline]
    pub const fn stripe_of(&self, lba: Lba) -> u64 {
        self.data_disks.div_rem(self.stripe_unit.div_rem(lba.0).0).0
    }

    /// The array address of the start of `stripe`.
    #[inline]
    pub const fn stripe_start(&self, stripe: u64) -> Lba {
        Lba(stripe * self.stripe_sectors().0)
    }

    /// The address of `stripe` on each disk.
    #[inline]
    pub const fn disk_lba(&self, stripe: u64) -> Lba {
        Lba(self.place(stripe).0 * self.stripe_unit.get())
    }

    /// The location of the sector at `lba`. Precondition: `lba` is below [`Self::capacity`].
    #[inline]
    pub fn locate(&self, lba: Lba) -> Strip {
        debug_assert!(lba.0 < self.capacity().0, "sector {} of {}", lba.0, self.capacity().0);
        let (strip, offset) = self.stripe_unit.div_rem(lba.0);
        let (stripe, index) = self.data_disks.div_rem(strip);
        let index = index as u32;
        Strip {
            stripe,
            index,
            offset: Sectors(offset),
            disk: self.data_disk(stripe, index),
            disk_lba: Lba(self.disk_lba(stripe).0 + offset),
        }
    }

    /// The disk of data strip `index` of `stripe`, or the first of its mirrored pair.
    #[inline]
    pub const fn data_disk(&self, stripe: u64, index: u32) -> u32 {
        let (row, first) = self.place(stripe);
        match self.level {
            Level::Raid0 => index,
            Level::Raid1 | Level::Raid10 => 2 * index,
            Level::Raid5 | Level::Raid50 => first + self.wrap(self.after_parity(row) + index),
            Level::Raid6 | Level::Raid60 => first + self.wrap(self.wrap(self.after_parity(row) + 1) + index),
        }
    }

    /// The disks of the parity strips P and Q of `stripe`.
    #[inline]
    pub const fn parity_disks(&self, stripe: u64) -> [Option<u32>; 2] {
        let (row, first) = self.place(stripe);
        let after = self.after_parity(row);
        let parity = if after == 0 { self.group_disks.get() as u32 - 1 } else { after - 1 };
        match self.level {
            Level::Raid0 | Level::Raid1 | Level::Raid10 => [None, None],
            Level::Raid5 | Level::Raid50 => [Some(first + parity), None],
            Level::Raid6 | Level::Raid60 => [Some(first + parity), Some(first + after)],
        }
    }

    /// The data strip of `stripe` on `disk` or its mirror; `None` for a disk with parity.
    /// Precondition: `stripe` uses `disk`.
    pub fn index_on(&self, stripe: u64, disk: u32) -> Option<u32> {
        let disk = if self.level.is_mirrored() { disk & !1 } else { disk };
        (0..self.data_disks()).find(|&index| self.data_disk(stripe, index) == disk)
    }

    /// The other disk of a mirrored pair.
    #[inline]
    pub const fn mirror(&self, disk: u32) -> Option<u32> {
        if self.level.is_mirrored() { Some(disk ^ 1) } else { None }
    }

    /// The parts of a request of `sectors` at `lba`, one per strip in order of addresses, or the whole request if the
    /// array [is one column](Self::is_one_column).
    /// Precondition: the request ends within the array.
    #[inline]
    pub fn pieces(&self, lba: Lba, sectors: Sectors) -> Pieces<'_> {
        debug_assert!(lba.0 + sectors.0 <= self.capacity().0, "{} + {} sectors", lba.0, sectors.0);
        let (strip, offset) = self.stripe_unit.div_rem(lba.0);
        let (stripe, index) = self.data_disks.div_rem(strip);
        Pieces { layout: self, lba: lba.0, left: sectors.0, stripe, index: index as u32, offset }
    }

    /// The first of the [pieces](Self::pieces) of a request, with fewer steps: most requests have only one.
    /// Precondition: as for [`Self::pieces`], and the request is not empty.
    #[inline]
    pub fn first_piece(&self, lba: Lba, sectors: Sectors) -> Piece {
        if self.is_one_column() {
            let strip = Strip { stripe: 0, index: 0, offset: Sectors(0), disk: 0, disk_lba: lba };
            return Piece { strip, lba, sectors };
        }
        let strip = self.locate(lba);
        Piece { strip, lba, sectors: Sectors(sectors.0.min(self.stripe_unit.get() - strip.offset.0)) }
    }

    /// Whether all data are on one disk or one mirrored pair, so that addresses of the array are those of the disk.
    #[inline]
    pub const fn is_one_column(&self) -> bool {
        self.data_disks.get() == 1 && self.level.parities() == 0
    }

    /// The row of `stripe`, and the first disk of its group.
    #[inline]
    const fn place(&self, stripe: u64) -> (u64, u32) {
        if self.groups.get() == 1 {
            return (stripe, 0);
        }
        let (row, group) = self.groups.div_rem(stripe);
        (row, (group * self.group_disks.get()) as u32)
    }

    /// The disk of a group after P, which moves left by one per row.
    #[inline]
    const fn after_parity(&self, row: u64) -> u32 {
        let turned = self.group_disks.div_rem(row).1 as u32;
        if turned == 0 { 0 } else { self.group_disks.get() as u32 - turned }
    }

    /// Wraps a disk number within a group; `disk` is below twice the size of the group.
    #[inline]
    const fn wrap(&self, disk: u32) -> u32 {
        let disks = self.group_disks.get() as u32;
        if disk >= disks { disk - disks } else { disk }
    }
}

/// Iterator over the parts of a request; see [`Layout::pieces`].
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    layout: &'a Layout,
    lba: u64,
    left: u64,
    stripe: u64,
    index: u32,
    offset: u64,
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    #[inline]
    fn next(&mut self) -> Option<Piece> {
        if self.left == 0 {
            return None;
        }
        let layout = self.layout;
        let room = if layout.is_one_column() { u64::MAX } else { layout.stripe_unit.get() - self.offset };
        let sectors = self.left.min(room);
        let piece = Piece {
            strip: Strip {
                stripe: self.stripe,
                index: self.index,
                offset: Sectors(self.offset),
                disk: layout.data_disk(self.stripe, self.index),
                disk_lba: Lba(layout.disk_lba(self.stripe).0 + self.offset),
            },
            lba: Lba(self.lba),
            sectors: Sectors(sectors),
        };
        self.lba += sectors;
        self.left -= sectors;
        self.offset = 0;
        self.index += 1;
        if self.index == layout.data_disks() {
            self.index = 0;
            self.stripe += 1;
        }
        Some(piece)
    }
}

#[cfg(test)]
mod tests;
