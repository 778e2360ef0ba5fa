//! The read side of the cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// The read side of the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadCache {
    /// What is kept.
    pub mode: ReadMode,
    /// Sequential read-ahead; none where it is null.
    pub read_ahead: Option<ReadAhead>,
}

impl Default for ReadCache {
    fn default() -> Self {
        Self { mode: ReadMode::PrefetchOnly, read_ahead: Some(ReadAhead::default()) }
    }
}

/// What the read cache keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadMode {
    /// Only data that was read ahead (what Smart Array controllers do).
    PrefetchOnly,
    /// All data that was read, least recently used line out first.
    Cached,
}

/// Sequential read-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadAhead {
    /// Consecutive sequential reads that start the read-ahead.
    #[schemars(range(min = 1, max = 100))]
    pub trigger: u32,
    /// Data read at a time beyond what was asked for.
    #[schemars(extend("maximum" = 64 << 20))]
    pub size: Bytes,
}

impl Default for ReadAhead {
    fn default() -> Self {
        Self { trigger: 2, size: Bytes(128 << 10) }
    }
}
