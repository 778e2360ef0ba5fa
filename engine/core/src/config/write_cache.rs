//! The write side of the cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bandwidth, Bytes, Fraction, SECTOR_BYTES, SimDuration};

/// The write side of the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WriteCache {
    /// When a write is acknowledged.
    pub policy: WritePolicy,
    /// Which dirty stripes go to the disks next, and when.
    pub destage_policy: DestagePolicy,
    /// Dirty share of the write cache at which destage starts; for `linear_threshold` the share at which it reaches full
    /// depth, for `idle_time` the share from which it waits for no idle disks.
    pub high_water: Fraction,
    /// Dirty share of the write cache at which destage stops; for `linear_threshold` the share above which it begins, for
    /// `idle_time` the share above which it uses idle disks.
    pub low_water: Fraction,
    /// Stripes that are destaged at a time, for each disk of the array.
    #[schemars(range(min = 1, max = 256))]
    pub destage_depth: u32,
    /// Whether a disk serves waiting foreground I/Os before destage I/Os, as long as no write is stalled.
    pub yield_to_reads: bool,
    /// For `idle_time`: how long an array's disks have had no foreground I/O when they count as idle; a revolution or more.
    pub idle_delay: SimDuration,
    /// A stripe whose first line has been dirty for this long is destaged whatever the marks, before all others; no limit
    /// where it is null.
    pub age_limit: Option<SimDuration>,
    /// Whether stripes that are dirty as a whole leave before all others, by address: they need no reads of old data.
    pub prefer_full_stripes: bool,
    /// A write of at least this size goes around the cache to the disks, and is acknowledged when it is there; none does
    /// where it is null.
    #[schemars(extend("minimum" = SECTOR_BYTES))]
    pub bypass_threshold: Option<Bytes>,
    /// The second copy of all written data, in the memory of a partner controller; none where it is null. It takes as
    /// much room as the data themselves: half of the write cache is left.
    pub mirror: Option<Mirror>,
    /// Whether destaged data stay readable in the write cache until their place is needed.
    pub keep_clean: bool,
}

/// The path to the second copy of written data: one transfer at a time, before a write is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mirror {
    /// Rate of the transfer; it takes no time where it is not given.
    pub bandwidth: Option<Bandwidth>,
    /// Time from the end of the transfer to its confirmation.
    pub latency: SimDuration,
}

impl Default for WriteCache {
    fn default() -> Self {
        Self {
            policy: WritePolicy::WriteBack,
            destage_policy: DestagePolicy::CScan,
            high_water: Fraction(0.8),
            low_water: Fraction(0.6),
            destage_depth: 4,
            yield_to_reads: true,
            idle_delay: SimDuration(10_000_000),
            age_limit: None,
            prefer_full_stripes: false,
            bypass_threshold: None,
            mirror: None,
            keep_clean: false,
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

/// Which dirty stripes go to the disks next, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DestagePolicy {
    /// By address, upwards and then from the lowest again, between the water marks.
    CScan,
    /// By address, with another round for stripes that were written again (Gill & Modha), between the water marks.
    Wow,
    /// The stripe whose last write lies furthest back first, between the water marks.
    LeastRecentlyWritten,
    /// The stripes with the most dirty lines first, at a depth that grows with occupancy (Varma & Jacobson).
    LinearThreshold,
    /// By address, when the disks are idle; at the high water mark in any case.
    IdleTime,
}
