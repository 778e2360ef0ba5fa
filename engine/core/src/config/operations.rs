//! What the requests of a stream are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Issue;
use super::check::check_fraction;
use crate::units::{Bytes, Fraction, SECTOR_BYTES};

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

    fn check(&self, path: &str, issues: &mut Vec<Issue>) {
        let sizes: Vec<(String, Bytes)> = match self {
            Self::Constant { value } => vec![("value".to_owned(), *value)],
            Self::Choice { options } => options
                .iter()
                .enumerate()
                .map(|(index, option)| (format!("options[{index}].value"), option.value))
                .collect(),
        };
        for (name, size) in sizes {
            if size.0 == 0 || !size.0.is_multiple_of(SECTOR_BYTES) || size.0 > 64 << 20 {
                issues.push(Issue::new(
                    format!("{path}.{name}"),
                    format!("{} bytes; allowed is a multiple of 512 bytes up to 64 MiB", size.0),
                ));
            }
        }
        if let Self::Choice { options } = self
            && options.iter().any(|option| option.weight <= 0.0 || !option.weight.is_finite())
        {
            issues.push(Issue::new(format!("{path}.options"), "a weight must be more than 0"));
        }
    }
}

impl Operations {
    /// The largest request.
    pub fn largest(&self) -> Bytes {
        let writes = self.write_size.as_ref().map_or(Bytes(0), Size::largest);
        self.size.largest().max(writes)
    }

    /// Notes the rules that it breaks.
    pub(super) fn check(&self, path: &str, issues: &mut Vec<Issue>) {
        self.size.check(&format!("{path}.size"), issues);
        if let Some(size) = &self.write_size {
            size.check(&format!("{path}.write_size"), issues);
        }
        if let Some(alignment) = self.alignment
            && (alignment.0 == 0 || !alignment.0.is_multiple_of(SECTOR_BYTES))
        {
            issues.push(Issue::new(
                format!("{path}.alignment"),
                format!("{} bytes; allowed is a multiple of 512 bytes", alignment.0),
            ));
        }
        for (name, value) in [
            ("read_fraction", Some(self.read_fraction)),
            ("fua_fraction", Some(self.fua_fraction)),
            ("rewrite_fraction", self.rewrite_fraction),
        ] {
            if let Some(value) = value {
                check_fraction(&format!("{path}.{name}"), value, issues);
            }
        }
    }

    /// Sets what cannot matter to nothing.
    pub(super) fn normalise(&mut self) {
        if self.write_size.as_ref() == Some(&self.size) {
            self.write_size = None;
        }
        if self.rewrite_fraction == Some(Fraction(0.0)) {
            self.rewrite_fraction = None;
        }
    }
}
