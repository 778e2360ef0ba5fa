//! A host request on its way through the controller.

use crate::slab::Link;
use crate::units::SimTime;
use crate::workload::Command;

/// How the cache served a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Not from the cache: a write that costs a destage or is written through, a flush.
    None,
    /// A read from the cache alone, or a write that overwrote dirty lines only.
    Hit,
    /// A read from the cache alone, with data of dirty lines.
    HitDirty,
    /// A read from the cache alone, with data of destaged lines.
    HitClean,
    /// A read from the cache alone, with data read ahead.
    HitAhead,
    /// A read that waited for a fetch already in progress.
    HitLate,
    /// A read that missed and continued no sequence.
    MissRandom,
    /// A read that missed within a sequence.
    MissSequential,
}

/// One host request.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The source that issued it.
    pub source: u32,
    /// The record of a trace that it replays; 0 for a synthetic request.
    pub record: u32,
    /// The array that it goes to.
    pub array: u16,
    /// What it does.
    pub command: Command,
    /// When the host issued it.
    pub issued: SimTime,
    /// When it began to wait for a free line of the write cache.
    pub stalled_since: SimTime,
    /// Sectors that the write cache has taken so far.
    pub accepted: u64,
    /// Array operations and fetches that it waits for.
    pub pending: u32,
    /// How the cache served it.
    pub service: Service,
    /// The sequence of reads that it continues, if the read-ahead follows one.
    pub sequence: Option<u8>,
    /// Next request of the list that it is in.
    pub next: Link,
}

impl Request {
    /// A request that `source` issues now, for `record` of its trace if it replays one.
    #[inline]
    pub const fn new(source: u32, record: u32, array: u16, command: Command, now: SimTime) -> Self {
        Self {
            source,
            record,
            array,
            command,
            issued: now,
            stalled_since: SimTime::ZERO,
            accepted: 0,
            pending: 0,
            service: Service::None,
            sequence: None,
            next: Link::END,
        }
    }
}
