//! The read side of the cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::replacement::Policy;
use crate::units::{Bytes, Fraction};

/// The read side of the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadCache {
    /// What is kept.
    pub mode: ReadMode,
    /// Which line a full cache gives up, where all data that was read is kept; what was read ahead goes by `lru`.
    pub policy: Policy,
    /// Share of the lines for data that has not proven itself: the queue A1in of `two_q`, the small queue of `s3_fifo`, the
    /// lowest segment of `slru`, the HIR part of `lirs`, the window of `w_tiny_lfu`; where it is null, what the policy's
    /// paper gives.
    pub probation: Option<Fraction>,
    /// Lines that are remembered after they were given up, as a share of the lines: A1out of `two_q`, the ghost queue of
    /// `s3_fifo`; where it is null, what the policy's paper gives.
    pub ghosts: Option<Fraction>,
    /// Sequential read-ahead; none where it is null.
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
    /// Sets what the policy does not have to nothing, and what it takes from its paper to that.
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

/// What the read cache keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadMode {
    /// Only data that was read ahead (what Smart Array controllers do).
    PrefetchOnly,
    /// All data that was read; `policy` says which line leaves.
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
    /// Whether it holds back when more than half of what it brings leaves unused: for every 256 lines read ahead that
    /// were used or lost, `trigger` doubles and `size` halves where more than half were lost, and one such step is taken
    /// back where less than a quarter were, never beyond the values given here.
    pub adaptive: bool,
}

impl Default for ReadAhead {
    fn default() -> Self {
        Self { trigger: 2, size: Bytes(128 << 10), adaptive: false }
    }
}
