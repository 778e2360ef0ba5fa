//! Layout: how the address space of an array is striped over its disks.
//!
//! A *stripe unit* is what lies on one disk before the next takes over; a *stripe* is one stripe unit on each disk; a
//! *strip* is a stripe unit that holds data. Parity moves one disk to the left from stripe to stripe and the data
//! follows on its right, wrapping round ("left-symmetric"), so that consecutive strips lie on consecutive disks:
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
//! RAID 1 is one mirrored pair. The sectors of a disk beyond its last whole stripe unit are not used.
//!
//! Cost: two multiplications to locate an address, none to go on to the next strip; nothing allocates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::divisor::Divisor;
use crate::units::{Lba, Sectors};

/// RAID level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Level {
    /// Striping without redundancy, on one disk or more.
    #[serde(rename = "0")]
    Raid0,
    /// One mirrored pair: two disks.
    #[serde(rename = "1")]
    Raid1,
    /// Striping over mirrored pairs (1+0): an even number of disks.
    #[serde(rename = "10")]
    Raid10,
    /// Striping with one rotating parity, on three disks or more.
    #[serde(rename = "5")]
    Raid5,
    /// Striping with two rotating parities, on four disks or more.
    #[serde(rename = "6")]
    Raid6,
}

impl Level {
    /// Parity strips in each stripe.
    #[inline]
    pub const fn parities(self) -> u32 {
        match self {
            Self::Raid0 | Self::Raid1 | Self::Raid10 => 0,
            Self::Raid5 => 1,
            Self::Raid6 => 2,
        }
    }

    /// Whether each strip is held by two disks.
    #[inline]
    pub const fn is_mirrored(self) -> bool {
        matches!(self, Self::Raid1 | Self::Raid10)
    }

    /// The name that people write: `0`, `1`, `1+0`, `5`, `6`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raid0 => "0",
            Self::Raid1 => "1",
            Self::Raid10 => "1+0",
            Self::Raid5 => "5",
            Self::Raid6 => "6",
        }
    }

    /// Whether an array of `disks` disks is possible.
    const fn takes(self, disks: u32) -> bool {
        match self {
            Self::Raid0 => disks >= 1,
            Self::Raid1 => disks == 2,
            Self::Raid10 => disks >= 2 && disks.is_multiple_of(2),
            Self::Raid5 => disks >= 3,
            Self::Raid6 => disks >= 4,
        }
    }

    const fn allowed(self) -> &'static str {
        match self {
            Self::Raid0 => "1 or more",
            Self::Raid1 => "exactly 2 (1+0 takes more)",
            Self::Raid10 => "an even number, 2 or more",
            Self::Raid5 => "3 or more",
            Self::Raid6 => "4 or more",
        }
    }
}

/// Why an array cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// The level does not work on that many disks.
    #[error("{disks} disks in RAID {}; it needs {}", level.name(), level.allowed())]
    Disks {
        /// The level asked for.
        level: Level,
        /// The number of disks given.
        disks: u32,
    },
    /// The stripe unit is empty or larger than a disk.
    #[error("a stripe unit of {stripe_unit} sectors; 1 to {disk_sectors} sectors, one disk, are allowed")]
    StripeUnit {
        /// The stripe unit given \[sectors\].
        stripe_unit: u64,
        /// The size of a disk \[sectors\].
        disk_sectors: u64,
    },
}

/// Where one sector of an array lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The stripe.
    pub stripe: u64,
    /// Which of the stripe's data strips, counted in the order of array addresses.
    pub index: u32,
    /// From the start of the strip \[sectors\].
    pub offset: Sectors,
    /// The disk; of a mirrored pair the first, see [`Layout::mirror`].
    pub disk: u32,
    /// The address on that disk (and on its mirror).
    pub disk_lba: Lba,
}

/// The part of a request that lies in one strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins.
    pub strip: Strip,
    /// Its address on the array.
    pub lba: Lba,
    /// Its length, at most a stripe unit.
    pub sectors: Sectors,
}

/// The mapping of one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    level: Level,
    disks: Divisor,
    data_disks: Divisor,
    stripe_unit: Divisor,
    stripes: u64,
}

impl Layout {
    /// The layout of `disks` equal disks of `disk_sectors` each.
    ///
    /// # Errors
    /// A number of disks on which the level does not work, or a stripe unit that is zero or does not fit on a disk.
    pub fn new(
        level: Level,
        disks: u32,
        stripe_unit: Sectors,
        disk_sectors: Sectors,
    ) -> Result<Self, LayoutError> {
        if !level.takes(disks) {
            return Err(LayoutError::Disks { level, disks });
        }
        if stripe_unit.0 == 0 || stripe_unit > disk_sectors {
            return Err(LayoutError::StripeUnit { stripe_unit: stripe_unit.0, disk_sectors: disk_sectors.0 });
        }
        let data_disks = if level.is_mirrored() { disks / 2 } else { disks - level.parities() };
        Ok(Self {
            level,
            disks: Divisor::new(disks.into()),
            data_disks: Divisor::new(data_disks.into()),
            stripe_unit: Divisor::new(stripe_unit.0),
            stripes: disk_sectors.0 / stripe_unit.0,
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
        self.disks.get() as u32
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

    /// Stripes on the array.
    #[inline]
    pub const fn stripes(&self) -> u64 {
        self.stripes
    }

    /// What the array holds.
    #[inline]
    pub const fn capacity(&self) -> Sectors {
        Sectors(self.stripes * self.stripe_sectors().0)
    }

    /// The stripe that holds `lba`.
    #[inline]
    pub const fn stripe_of(&self, lba: Lba) -> u64 {
        self.data_disks.div_rem(self.stripe_unit.div_rem(lba.0).0).0
    }

    /// The array address at which `stripe` begins.
    #[inline]
    pub const fn stripe_start(&self, stripe: u64) -> Lba {
        Lba(stripe * self.stripe_sectors().0)
    }

    /// The address of `stripe` on each disk.
    #[inline]
    pub const fn disk_lba(&self, stripe: u64) -> Lba {
        Lba(stripe * self.stripe_unit.get())
    }

    /// Where the sector at `lba` lies. Precondition: `lba` is below [`Self::capacity`].
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

    /// The disk of data strip `index` of `stripe`; of a mirrored pair the first.
    #[inline]
    pub const fn data_disk(&self, stripe: u64, index: u32) -> u32 {
        match self.level {
            Level::Raid0 => index,
            Level::Raid1 | Level::Raid10 => 2 * index,
            Level::Raid5 => self.wrap(self.after_parity(stripe) + index),
            Level::Raid6 => self.wrap(self.wrap(self.after_parity(stripe) + 1) + index),
        }
    }

    /// The disks of the parity strips P and Q of `stripe`.
    #[inline]
    pub const fn parity_disks(&self, stripe: u64) -> [Option<u32>; 2] {
        let after = self.after_parity(stripe);
        let parity = if after == 0 { self.disks() - 1 } else { after - 1 };
        match self.level {
            Level::Raid0 | Level::Raid1 | Level::Raid10 => [None, None],
            Level::Raid5 => [Some(parity), None],
            Level::Raid6 => [Some(parity), Some(after)],
        }
    }

    /// The other disk of a mirrored pair.
    #[inline]
    pub const fn mirror(&self, disk: u32) -> Option<u32> {
        if self.level.is_mirrored() { Some(disk ^ 1) } else { None }
    }

    /// The parts of the request of `sectors` from `lba` on, one per strip, in the order of addresses.
    /// Precondition: the request ends on the array.
    #[inline]
    pub fn pieces(&self, lba: Lba, sectors: Sectors) -> Pieces {
        debug_assert!(lba.0 + sectors.0 <= self.capacity().0, "{} + {} sectors", lba.0, sectors.0);
        let (strip, offset) = self.stripe_unit.div_rem(lba.0);
        let (stripe, index) = self.data_disks.div_rem(strip);
        Pieces { layout: *self, lba: lba.0, left: sectors.0, stripe, index: index as u32, offset }
    }

    /// The disk to the right of P, which moves left by one from stripe to stripe.
    #[inline]
    const fn after_parity(&self, stripe: u64) -> u32 {
        let turned = self.disks.div_rem(stripe).1 as u32;
        if turned == 0 { 0 } else { self.disks() - turned }
    }

    /// Disk numbers go round; `disk` is below twice their number.
    #[inline]
    const fn wrap(&self, disk: u32) -> u32 {
        let disks = self.disks();
        if disk >= disks { disk - disks } else { disk }
    }
}

/// Iterator over the parts of a request, one per strip. See [`Layout::pieces`].
#[derive(Clone, Debug)]
pub struct Pieces {
    layout: Layout,
    lba: u64,
    left: u64,
    stripe: u64,
    index: u32,
    offset: u64,
}

impl Iterator for Pieces {
    type Item = Piece;

    #[inline]
    fn next(&mut self) -> Option<Piece> {
        if self.left == 0 {
            return None;
        }
        let layout = &self.layout;
        let sectors = self.left.min(layout.stripe_unit.get() - self.offset);
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
