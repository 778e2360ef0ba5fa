//! Write cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::destage::Policy;
use crate::units::{Bandwidth, Bytes, Fraction, SECTOR_BYTES, SimDuration};

/// Write cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings")]
pub struct WriteCache {
    /// Completion of writes.
    pub policy: WritePolicy,
    /// Treatment of a write that needs more lines than are free (default: `wait`).
    #[serde(skip_serializing_if = "WhenFull::is_wait")]
    pub when_full: WhenFull,
    /// Choice of the stripes to destage, and when.
    pub destage_policy: Policy,
    /// Dirty share of the write cache at which destage starts; for `linear_threshold`, at which it reaches full depth;
    /// for `idle_time`, at which it no longer waits for idle disks.
    pub high_water: Fraction,
    /// Dirty share of the write cache at which destage stops; for `linear_threshold`, above which it starts; for
    /// `idle_time`, above which it uses idle disks.
    pub low_water: Fraction,
    /// Stripes destaged concurrently, per disk of the array; full stripes count once per data strip.
    #[schemars(range(min = 1, max = 256))]
    pub destage_depth: u32,
    /// Whether disks serve waiting host I/Os before destage I/Os, unless a write is stalled.
    pub yield_to_reads: bool,
    /// For `idle_time`: time without host I/Os after which the disks of an array are idle; use one revolution or more.
    pub idle_delay: SimDuration,
    /// Dirty time after which a stripe is destaged before all others, independent of the water marks (default:
    /// no limit).
    pub age_limit: Option<SimDuration>,
    /// Whether fully dirty stripes are destaged first, by address, since they need no reads of old data.
    pub prefer_full_stripes: bool,
    /// Size from which a write bypasses the cache and completes on the disks (default: no write does).
    #[schemars(extend("minimum" = SECTOR_BYTES))]
    pub bypass_threshold: Option<Bytes>,
    /// Copy of all written data in a partner controller (default: none). The copies use half of the write cache.
    pub mirror: Option<Mirror>,
    /// Whether destaged data remains readable in the write cache until its line is needed.
    pub keep_clean: bool,
    /// Whether destages are forced to the media of disks that cache writes. If not, they complete in the disks' own
    /// caches, and a power cut loses what was not yet on the media, whatever protects the controller's cache.
    #[serde(skip_serializing_if = "is_true")]
    pub force_destages: bool,
}

/// Path to the copy of written data in a partner controller: one transfer at a time, before a write completes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mirror {
    /// Data rate (default: unlimited).
    pub bandwidth: Option<Bandwidth>,
    /// Time from the end of a transfer to its confirmation.
    pub latency: SimDuration,
}

impl Default for WriteCache {
    fn default() -> Self {
        Self {
            policy: WritePolicy::WriteBack,
            when_full: WhenFull::Wait,
            destage_policy: Policy::CScan,
            high_water: Fraction(0.8),
            low_water: Fraction(0.6),
            destage_depth: 8,
            yield_to_reads: true,
            idle_delay: SimDuration(10_000_000),
            age_limit: None,
            prefer_full_stripes: false,
            bypass_threshold: None,
            mirror: None,
            keep_clean: false,
            force_destages: true,
        }
    }
}

/// Completion of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WritePolicy {
    /// A write completes in the protected cache.
    WriteBack,
    /// A write completes on the media.
    WriteThrough,
}

/// Treatment of a write that needs more lines than are free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// The write waits until destages have freed lines.
    #[default]
    Wait,
    /// The write bypasses the cache and completes on the disks.
    WriteThrough,
}

impl WhenFull {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    const fn is_wait(&self) -> bool {
        matches!(self, Self::Wait)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_true(value: &bool) -> bool {
    *value
}
