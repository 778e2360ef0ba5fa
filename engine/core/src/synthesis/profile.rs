//! The profile of a trace: the distributions that requests are drawn from.

use serde::Serialize;

use super::bins::{DepthBin, GapBin};
use crate::trace::Op;

/// Which requests used the first block of a request before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reuse {
    /// Requests of the same operation.
    Own,
    /// Only requests of the other operation.
    Other,
    /// None.
    Fresh,
}

/// Classes of gaps between requests.
pub const GAP_CLASSES: usize = 8;
/// Kinds of requests: reads and writes, by reuse and sequentiality, and flushes.
pub const KINDS: usize = 13;
/// The kind of flushes.
pub const FLUSH: usize = KINDS - 1;

/// The number of a kind.
pub const fn kind(op: Op, reuse: Reuse, is_sequential: bool) -> usize {
    let of_op = match op {
        Op::Read => 0,
        Op::Write => 6,
        Op::Flush => return FLUSH,
    };
    of_op + 2 * reuse as usize + is_sequential as usize
}

/// A request apart from its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Shape {
    /// Offset in its first block \[sectors\].
    pub offset: u64,
    /// Length \[sectors\].
    pub sectors: u64,
    /// Bits of [`crate::trace::Flags`].
    pub flags: u8,
    /// Whether it covers several blocks, the last of which its operation never used before.
    pub is_extending: bool,
}

impl Shape {
    /// The number of blocks of `block` sectors that it covers.
    pub const fn blocks(&self, block: u64) -> u64 {
        (self.offset + self.sectors).div_ceil(block)
    }
}

/// The requests of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestKind {
    /// Operation.
    pub op: &'static str,
    /// Reuse of the first block; none for flushes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reuse: Option<Reuse>,
    /// Whether they begin at the end of the last request of their operation.
    pub is_sequential: bool,
    /// Number of requests.
    pub count: u64,
    /// Shapes with their counts.
    pub shapes: Vec<(Shape, u64)>,
    /// Stack distances of the first blocks \[blocks\].
    pub depths: Vec<DepthBin>,
}

/// The distributions that requests are drawn from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// The unit of reuse \[sectors\].
    pub block_sectors: u64,
    /// Number of requests of the trace.
    pub requests: u64,
    /// Time from its first request to its last \[ns\].
    pub duration_ns: u64,
    /// Number of blocks from address 0 to its end.
    pub end_blocks: u64,
    /// Kinds of requests.
    pub kinds: Vec<RequestKind>,
    /// Where fresh, non-sequential requests begin: bins of equally many, first and last block, ascending.
    pub places: Vec<(u64, u64)>,
    /// Gaps before a request, by class, ascending.
    pub gaps: Vec<Vec<GapBin>>,
    /// The first state. The number of a state is its kind times the number of gap classes, plus its class.
    pub first: usize,
    /// For each state, the next states with their counts.
    pub next: Vec<Vec<(usize, u64)>>,
}

impl Profile {
    /// The profile as JSON.
    ///
    /// # Panics
    /// Never: a profile holds only numbers, texts and lists.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a profile can be serialised")
    }
}
