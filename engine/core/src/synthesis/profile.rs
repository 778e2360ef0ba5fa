//! The profile of a trace: what its requests are drawn from.

use serde::Serialize;

use super::bins::{DepthBin, GapBin};
use crate::trace::Op;

/// Whether the first block of a request was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reuse {
    /// By a request of the same operation.
    Own,
    /// By requests of the other operation only.
    Other,
    /// Never.
    Fresh,
}

/// Classes of gaps between requests.
pub const GAP_CLASSES: usize = 8;
/// Kinds of requests: reads and writes by reuse and by being sequential, and flushes.
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

/// What a request looks like, but for its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Shape {
    /// From the start of its first block \[sectors\].
    pub offset: u64,
    /// Length \[sectors\].
    pub sectors: u64,
    /// Bits of [`crate::trace::Flags`].
    pub flags: u8,
    /// Whether it covers several blocks of which the last was never used by its operation.
    pub is_extending: bool,
}

impl Shape {
    /// Blocks of `block` sectors that it covers; at least one.
    pub const fn blocks(&self, block: u64) -> u64 {
        (self.offset + self.sectors).div_ceil(block)
    }
}

/// Requests of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Kind {
    /// Their operation.
    pub op: &'static str,
    /// Whether their first block was used before; flushes have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reuse: Option<Reuse>,
    /// Whether they go on where the last of their operation ended.
    pub is_sequential: bool,
    /// Number of requests.
    pub count: u64,
    /// Their shapes, and how often each occurs.
    pub shapes: Vec<(Shape, u64)>,
    /// Stack distances of their first blocks \[blocks\].
    pub depths: Vec<DepthBin>,
}

/// What the requests of a trace are drawn from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// The unit of reuse \[sectors\].
    pub block_sectors: u64,
    /// Requests of the trace.
    pub requests: u64,
    /// From its first request to its last \[ns\].
    pub duration_ns: u64,
    /// Blocks from address 0 to its end.
    pub end_blocks: u64,
    /// Kinds of requests.
    pub kinds: Vec<Kind>,
    /// Where fresh requests that are not sequential begin: first and last block, equally many in each, ascending.
    pub places: Vec<(u64, u64)>,
    /// Gaps before a request by class, ascending.
    pub gaps: Vec<Vec<GapBin>>,
    /// The first state; a state's number is its kind times the number of gap classes, plus its class.
    pub first: usize,
    /// By state: the states that followed, and how often each did.
    pub next: Vec<Vec<(usize, u64)>>,
}

impl Profile {
    /// The profile as JSON.
    ///
    /// # Panics
    /// Never: every part of it has a form in JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts have a form in JSON")
    }
}
