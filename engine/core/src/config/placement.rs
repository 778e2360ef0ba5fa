//! Placement of a footprint on the array.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Fraction};

/// Placement of a footprint on the array.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Placement {
    /// One contiguous range.
    Contiguous {
        /// Start of the range.
        #[serde(default)]
        offset: Bytes,
    },
    /// Extents at random positions on the array.
    Scattered {
        /// Size of an extent.
        #[serde(default = "one_mib")]
        extent: Bytes,
        /// Share of the array, from its start, over which the extents lie: of a file on a file system, the share in use
        /// (default: the whole array).
        #[serde(default = "whole", skip_serializing_if = "is_whole")]
        share: Fraction,
    },
    /// Extents at equal distances over the array.
    Spread {
        /// Size of an extent.
        #[serde(default = "one_mib")]
        extent: Bytes,
        /// Share of the array, from its start, over which the extents lie (default: the whole array).
        #[serde(default = "whole", skip_serializing_if = "is_whole")]
        share: Fraction,
    },
}

impl Placement {
    /// The part of an array of `capacity` on which the footprint lies.
    pub fn region(self, capacity: Bytes) -> Bytes {
        match self {
            Self::Scattered { share, .. } | Self::Spread { share, .. } if share.0 < 1.0 => {
                Bytes((capacity.0 as f64 * share.0) as u64)
            }
            _ => capacity,
        }
    }

    /// Default footprint: what the placement can use of an array of `capacity`.
    pub fn default_footprint(self, capacity: Bytes) -> Bytes {
        match self {
            Self::Contiguous { offset } => Bytes(capacity.0.saturating_sub(offset.0)),
            Self::Scattered { extent, .. } | Self::Spread { extent, .. } if extent.0 > 0 => {
                Bytes(self.region(capacity).0 / extent.0 * extent.0)
            }
            _ => capacity,
        }
    }
}

impl Default for Placement {
    fn default() -> Self {
        Self::Contiguous { offset: Bytes(0) }
    }
}

const fn whole() -> Fraction {
    Fraction(1.0)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_whole(share: &Fraction) -> bool {
    share.0 >= 1.0
}

const fn one_mib() -> Bytes {
    Bytes(1 << 20)
}
