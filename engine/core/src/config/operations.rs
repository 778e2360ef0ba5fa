//! Operations of a stream: reads and writes, sizes, durability.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Fraction};

/// Operations of a stream: reads and writes, sizes, durability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operations {
    /// Share of reads among reads and writes.
    pub read_fraction: Fraction,
    /// Share of writes that are forced to stable storage (FUA).
    #[serde(default)]
    pub fua_fraction: Fraction,
    /// Share of writes that go to the last read of the same user, with its size, instead of the address process (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewrite_fraction: Option<Fraction>,
    /// Writes between two flushes (default: no flushes).
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub flush_every: Option<u32>,
    /// Sizes of requests.
    pub size: Size,
    /// Sizes of writes (default: those of `size`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_size: Option<Size>,
    /// Alignment of addresses (default: the size of each request).
    #[serde(default)]
    pub alignment: Option<Bytes>,
}

/// Sizes of requests, in whole sectors of 512 bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Size {
    /// Constant size.
    Constant {
        /// Size.
        value: Bytes,
    },
    /// A random choice by weight.
    Choice {
        /// Sizes and their weights.
        #[schemars(length(min = 1))]
        options: Vec<SizeOption>,
    },
    /// All sizes from `min` to `max` in steps, equally likely (fio's `bsrange`).
    Uniform {
        /// Smallest size.
        min: Bytes,
        /// Largest size.
        max: Bytes,
        /// Distance between two sizes (default: `min`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<Bytes>,
    },
}

/// One size of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeOption {
    /// Size.
    pub value: Bytes,
    /// Weight, relative to the sum of all options.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub weight: f64,
}

impl Size {
    /// Largest size.
    fn largest(&self) -> Bytes {
        match self {
            Self::Constant { value } => *value,
            Self::Choice { options } => options.iter().map(|option| option.value).max().unwrap_or_default(),
            Self::Uniform { min, max, step } => {
                let step = step.unwrap_or(*min).0;
                Bytes(min.0 + (max.0 - min.0) / step * step)
            }
        }
    }

    /// Smallest size.
    fn smallest(&self) -> Bytes {
        match self {
            Self::Constant { value } => *value,
            Self::Choice { options } => options.iter().map(|option| option.value).min().unwrap_or_default(),
            Self::Uniform { min, .. } => *min,
        }
    }

    /// Whether all sizes are multiples of `unit`.
    fn is_multiple_of(&self, unit: Bytes) -> bool {
        let is_multiple = |size: &Bytes| size.0.is_multiple_of(unit.0);
        match self {
            Self::Constant { value } => is_multiple(value),
            Self::Choice { options } => options.iter().all(|option| is_multiple(&option.value)),
            Self::Uniform { min, max, step } => {
                is_multiple(min) && (min == max || is_multiple(&step.unwrap_or(*min)))
            }
        }
    }
}

impl Operations {
    /// Largest request.
    pub fn largest(&self) -> Bytes {
        let writes = self.write_size.as_ref().map_or(Bytes(0), Size::largest);
        self.size.largest().max(writes)
    }

    /// Smallest request.
    pub fn smallest(&self) -> Bytes {
        self.write_size.iter().fold(self.size.smallest(), |smallest, size| smallest.min(size.smallest()))
    }

    /// Whether all sizes are multiples of `unit`.
    pub fn are_multiples_of(&self, unit: Bytes) -> bool {
        self.size.is_multiple_of(unit) && self.write_size.iter().all(|size| size.is_multiple_of(unit))
    }

    /// Removes settings without effect.
    pub(crate) fn normalise(&mut self) {
        if self.write_size.as_ref() == Some(&self.size) {
            self.write_size = None;
        }
        if self.rewrite_fraction == Some(Fraction(0.0)) {
            self.rewrite_fraction = None;
        }
    }
}
