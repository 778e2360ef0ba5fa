//! Read cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::replacement::Policy;
use crate::units::{Bytes, Fraction};

/// Read cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadCache {
    /// Data that the cache keeps.
    pub mode: ReadMode,
    /// Replacement policy of mode `cached`; prefetched data always uses `lru`.
    pub policy: Policy,
    /// Share of the lines on probation: queue A1in of `two_q`, small queue of `s3_fifo`, lowest segment of `slru`,
    /// HIR part of `lirs`, window of `w_tiny_lfu` (default: that of the policy's paper).
    pub probation: Option<Fraction>,
    /// Evicted lines that are remembered, as a share of the lines: A1out of `two_q`, ghost queue of `s3_fifo`
    /// (default: that of the policy's paper).
    pub ghosts: Option<Fraction>,
    /// Sequential read-ahead (`null`: none).
    pub read_ahead: Option<ReadAhead>,
}

impl Default for ReadCache {
    fn default() -> Self {
        Self {
            mode: ReadMode::PrefetchOnly,
            policy: Policy::Lru,
            probation: None,
            ghosts: None,
            read_ahead: Some(ReadAhead::default()),
        }
    }
}

impl ReadCache {
    /// Removes settings that the policy does not use, and fills in the values of its paper.
    pub(crate) fn normalise(&mut self) {
        if self.read_ahead.is_some_and(|ahead| ahead.size == Bytes(0)) {
            self.read_ahead = None;
        }
        if self.mode == ReadMode::PrefetchOnly {
            self.policy = Policy::Lru;
        }
        let given =
            |share: Option<Fraction>, paper: Option<f64>| paper.map(|paper| share.unwrap_or(Fraction(paper)));
        self.probation = given(self.probation, self.policy.probation());
        self.ghosts = given(self.ghosts, self.policy.ghosts());
    }
}

/// Data that the read cache keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadMode {
    /// Only prefetched data, as in Smart Array controllers.
    PrefetchOnly,
    /// All read data; `policy` chooses the evicted line.
    Cached,
}

/// Sequential read-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadAhead {
    /// Consecutive sequential reads that start read-ahead.
    #[schemars(range(min = 1, max = 100))]
    pub trigger: u32,
    /// Data prefetched beyond each request.
    #[schemars(extend("maximum" = 64 << 20))]
    pub size: Bytes,
    /// Whether read-ahead adapts to its use. Of every 256 prefetched lines that were used or evicted unused: if more
    /// than half were unused, `trigger` doubles and `size` halves; if less than a quarter were, one such step is
    /// undone, up to the values given here.
    pub adaptive: bool,
}

impl Default for ReadAhead {
    fn default() -> Self {
        Self { trigger: 2, size: Bytes(128 << 10), adaptive: false }
    }
}
