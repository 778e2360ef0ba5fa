//! RAID levels: redundancy and supported numbers of disks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Striping over groups in RAID 5 (5+0), each of three disks or more.
    #[serde(rename = "50")]
    Raid50,
    /// Striping over groups in RAID 6 (6+0), each of four disks or more.
    #[serde(rename = "60")]
    Raid60,
}

/// Default number of parity groups of RAID 50 and 60.
pub const DEFAULT_GROUPS: u32 = 2;

impl Level {
    /// Parity strips per stripe.
    #[inline]
    pub const fn parities(self) -> u32 {
        match self {
            Self::Raid0 | Self::Raid1 | Self::Raid10 => 0,
            Self::Raid5 | Self::Raid50 => 1,
            Self::Raid6 | Self::Raid60 => 2,
        }
    }

    /// Whether the disks are divided into parity groups.
    #[inline]
    pub const fn is_grouped(self) -> bool {
        matches!(self, Self::Raid50 | Self::Raid60)
    }

    /// Whether each strip is on two disks.
    #[inline]
    pub const fn is_mirrored(self) -> bool {
        matches!(self, Self::Raid1 | Self::Raid10)
    }

    /// The usual name: `0`, `1`, `1+0`, `5`, `6`, `50`, `60`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raid0 => "0",
            Self::Raid1 => "1",
            Self::Raid10 => "1+0",
            Self::Raid5 => "5",
            Self::Raid6 => "6",
            Self::Raid50 => "50",
            Self::Raid60 => "60",
        }
    }

    /// Whether a group of `disks` disks, or an array without groups, is possible.
    pub(super) const fn takes(self, disks: u32) -> bool {
        match self {
            Self::Raid0 => disks >= 1,
            Self::Raid1 => disks == 2,
            Self::Raid10 => disks >= 2 && disks.is_multiple_of(2),
            Self::Raid5 | Self::Raid50 => disks >= 3,
            Self::Raid6 | Self::Raid60 => disks >= 4,
        }
    }

    /// The supported numbers of disks, as text.
    pub(super) const fn allowed(self) -> &'static str {
        match self {
            Self::Raid0 => "1 or more",
            Self::Raid1 => "exactly 2 (use 1+0 for more)",
            Self::Raid10 => "an even number, 2 or more",
            Self::Raid5 => "3 or more",
            Self::Raid6 => "4 or more",
            Self::Raid50 => "3 or more disks per group",
            Self::Raid60 => "4 or more disks per group",
        }
    }
}
