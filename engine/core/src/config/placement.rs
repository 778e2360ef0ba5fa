//! Placement of a footprint on the array.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// Placement of a footprint on the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Placement {
    /// One contiguous range.
    Contiguous {
        /// Start of the range.
        #[serde(default)]
        offset: Bytes,
    },
    /// Extents at random positions on the whole array.
    Scattered {
        /// Size of an extent.
        #[serde(default = "one_mib")]
        extent: Bytes,
    },
    /// Extents at equal distances over the whole array.
    Spread {
        /// Size of an extent.
        #[serde(default = "one_mib")]
        extent: Bytes,
    },
}

impl Placement {
    /// Default footprint: what the placement can use of an array of `capacity`.
    pub const fn default_footprint(self, capacity: Bytes) -> Bytes {
        match self {
            Self::Contiguous { offset } => Bytes(capacity.0.saturating_sub(offset.0)),
            Self::Scattered { extent } | Self::Spread { extent } if extent.0 > 0 => {
                Bytes(capacity.0 / extent.0 * extent.0)
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

const fn one_mib() -> Bytes {
    Bytes(1 << 20)
}
