//! The write side of the cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Issue;
use super::check::check_fraction;
use crate::units::Fraction;

/// The write side of the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WriteCache {
    /// When a write is acknowledged.
    pub policy: WritePolicy,
    /// Dirty share of the write cache at which destage starts.
    pub high_water: Fraction,
    /// Dirty share of the write cache at which destage stops.
    pub low_water: Fraction,
    /// Stripes that are destaged at a time, for each disk of the array.
    #[schemars(range(min = 1, max = 256))]
    pub destage_depth: u32,
    /// Whether a disk serves waiting foreground I/Os before destage I/Os, as long as no write is stalled.
    pub yield_to_reads: bool,
}

impl Default for WriteCache {
    fn default() -> Self {
        Self {
            policy: WritePolicy::WriteBack,
            high_water: Fraction(0.8),
            low_water: Fraction(0.6),
            destage_depth: 4,
            yield_to_reads: true,
        }
    }
}

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WritePolicy {
    /// When it is in the protected cache.
    WriteBack,
    /// When it is on the media.
    WriteThrough,
}

impl WriteCache {
    /// Notes the rules that it breaks.
    pub(super) fn check(&self, path: &str, issues: &mut Vec<Issue>) {
        check_fraction(&format!("{path}.high_water"), self.high_water, issues);
        check_fraction(&format!("{path}.low_water"), self.low_water, issues);
        if self.low_water.0 > self.high_water.0 {
            issues.push(Issue::new(
                format!("{path}.low_water"),
                format!("{} is above the high water mark of {}", self.low_water.0, self.high_water.0),
            ));
        }
    }
}
