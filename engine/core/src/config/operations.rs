//! What the requests of a stream are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Fraction};

/// What the requests of a stream are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operations {
    /// Share of reads among reads and writes.
    pub read_fraction: Fraction,
    /// Share of the writes that are forced to stable storage (FUA).
    #[serde(default)]
    pub fua_fraction: Fraction,
    /// Share of the writes that go, whatever the address process says, to the place that this user read last, in the size of that read; none where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewrite_fraction: Option<Fraction>,
    /// A flush follows every so many writes; never where it is not given.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub flush_every: Option<u32>,
    /// Sizes of requests.
    pub size: Size,
    /// Sizes of writes, where they differ from those of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_size: Option<Size>,
    /// Addresses are multiples of this; of the request's size where it is not given.
    #[serde(default)]
    pub alignment: Option<Bytes>,
}

/// Sizes of requests, in whole sectors of 512 bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Size {
    /// Always the same.
    Constant {
        /// The size.
        value: Bytes,
    },
    /// One of several, by weight.
    Choice {
        /// The sizes and their weights.
        #[schemars(length(min = 1))]
        options: Vec<SizeOption>,
    },
}

/// One size of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeOption {
    /// The size.
    pub value: Bytes,
    /// Its weight, relative to the sum of all.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub weight: f64,
}

impl Size {
    /// The greatest.
    fn largest(&self) -> Bytes {
        match self {
            Self::Constant { value } => *value,
            Self::Choice { options } => options.iter().map(|option| option.value).max().unwrap_or_default(),
        }
    }
}

impl Operations {
    /// The largest request.
    pub fn largest(&self) -> Bytes {
        let writes = self.write_size.as_ref().map_or(Bytes(0), Size::largest);
        self.size.largest().max(writes)
    }

    /// Sets what cannot matter to nothing.
    pub(crate) fn normalise(&mut self) {
        if self.write_size.as_ref() == Some(&self.size) {
            self.write_size = None;
        }
        if self.rewrite_fraction == Some(Fraction(0.0)) {
            self.rewrite_fraction = None;
        }
    }
}
