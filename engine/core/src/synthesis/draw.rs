//! Draws a trace from a profile, request by request.

use super::bins::choose;
use super::profile::{FLUSH, GAP_CLASSES, Profile, RequestKind, Reuse, Shape};
use super::recency::Stacks;
use crate::rng::{Purpose, RandomStream};
use crate::trace::{Columns, Flags, Op, Record, Trace, TraceError};
use crate::units::{Lba, Sectors, SimDuration};

/// Attempts to find a free place, or a block that matches both distances.
const TRIES: u32 = 16;
/// Free blocks required after a request that others will extend.
const ROOM: u64 = 1 << 12;

/// When a drawn trace ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After this many requests.
    Requests(u64),
    /// Before the first request later than this.
    Time(SimDuration),
}

struct Streams {
    arrival: RandomStream,
    operation: RandomStream,
    size: RandomStream,
    address: RandomStream,
}

/// Draws a trace from `profile`.
///
/// # Errors
/// No request is drawn: none was requested, or the profile has no duration.
pub fn draw(profile: &Profile, until: Until, seed: u64) -> Result<Trace, TraceError> {
    let stream = |purpose| RandomStream::named(seed, 0, "synthesis", 0, purpose);
    let mut streams = Streams {
        arrival: stream(Purpose::Arrival),
        operation: stream(Purpose::Operation),
        size: stream(Purpose::Size),
        address: stream(Purpose::Address),
    };
    let totals: Vec<u64> = profile.next.iter().map(|row| row.iter().map(|entry| entry.1).sum()).collect();
    let mut space = Space {
        block: profile.block_sectors,
        places: &profile.places,
        stacks: Stacks::new(),
        ends: [None; 2],
        beyond: profile.end_blocks,
    };
    let mut columns = Columns::default();
    let (mut state, mut time) = (profile.first, SimDuration(0));
    loop {
        let is_done = match until {
            Until::Requests(requests) => columns.time_ns.len() as u64 == requests,
            Until::Time(last) => time > last || profile.duration_ns == 0,
        };
        if is_done {
            break;
        }
        let gaps = &profile.gaps[state % GAP_CLASSES];
        if !columns.time_ns.is_empty() && !gaps.is_empty() {
            let bin = gaps[streams.arrival.below(gaps.len() as u64) as usize];
            time.0 += bin.draw(&mut streams.arrival);
        }
        if matches!(until, Until::Time(last) if time > last) {
            break;
        }
        let number = state / GAP_CLASSES;
        let kind = &profile.kinds[number];
        let shape = choose(&kind.shapes, |shape| shape.1, kind.count, &mut streams.size);
        if let Some((shape, _)) = shape {
            let op = if number == FLUSH { Op::Flush } else { [Op::Read, Op::Write][number * 2 / FLUSH] };
            columns.push(Record {
                time,
                process: 0,
                volume: 0,
                lba: Lba(if op == Op::Flush {
                    0
                } else {
                    space.place(kind, op, shape, &mut streams.address)
                }),
                sectors: Sectors(shape.sectors),
                op,
                flags: Flags::from_bits(shape.flags).unwrap_or_default(),
                response: None,
            });
        }
        let next = choose(&profile.next[state], |entry| entry.1, totals[state], &mut streams.operation);
        // The last request of the trace has no next state.
        state = next.map_or(profile.first, |entry| entry.0);
    }
    Trace::from_columns(columns)
}

/// The addresses of requests.
struct Space<'a> {
    block: u64,
    /// Where fresh requests begin.
    places: &'a [(u64, u64)],
    stacks: Stacks,
    /// Where the last request of each operation ended.
    ends: [Option<u64>; 2],
    /// The first block beyond all used ones.
    beyond: u64,
}

impl Space<'_> {
    /// Places a request: returns its first sector, and uses its blocks.
    fn place(&mut self, kind: &RequestKind, op: Op, shape: Shape, stream: &mut RandomStream) -> u64 {
        let own = op as usize;
        let reuse = kind.reuse.unwrap_or(Reuse::Fresh);
        let sequential = self.ends[own].filter(|&end| {
            let block = end / self.block;
            kind.is_sequential && self.reuse(own, block) == reuse && self.is_extending(own, block, shape)
        });
        let first = sequential.unwrap_or_else(|| {
            let used =
                if reuse == Reuse::Fresh { None } else { self.used_block(own, reuse, kind, shape, stream) };
            used.unwrap_or_else(|| self.fresh_block(shape, stream)) * self.block + shape.offset
        });
        let end = first + shape.sectors;
        self.ends[own] = Some(end);
        for block in first / self.block..=(end - 1) / self.block {
            self.stacks.touch(own, block);
        }
        first
    }

    /// Whether a request from `block` on ends in an unused block, if its shape requires that.
    fn is_extending(&self, own: usize, block: u64, shape: Shape) -> bool {
        !shape.is_extending || !self.stacks.own[own].has(block + shape.blocks(self.block) - 1)
    }

    fn reuse(&self, own: usize, block: u64) -> Reuse {
        if self.stacks.own[own].has(block) {
            Reuse::Own
        } else if self.stacks.own[1 - own].has(block) {
            Reuse::Other
        } else {
            Reuse::Fresh
        }
    }

    /// A block at a drawn distance on the own or other stack; of several attempts, the one whose distance on the common
    /// stack is closest to the drawn one.
    fn used_block(
        &self,
        own: usize,
        reuse: Reuse,
        kind: &RequestKind,
        shape: Shape,
        stream: &mut RandomStream,
    ) -> Option<u64> {
        let bin = choose(&kind.depths, |bin| bin.count, kind.count, stream)?;
        let stack = if reuse == Reuse::Own { own } else { 1 - own };
        let mut best = None;
        for _ in 0..TRIES {
            let block = self.stacks.own[stack].at(bin.draw(stream))?;
            let doublings = bin.doublings(self.stacks.common.depth(block)?);
            let fits = self.reuse(own, block) == reuse && self.is_extending(own, block, shape);
            if fits && best.is_none_or(|(least, _)| doublings < least) {
                best = Some((doublings, block));
            }
            if matches!(best, Some((0, _))) || bin.low == bin.high {
                break;
            }
        }
        best.map(|(_, block)| block)
    }

    /// An unused block; with room after it for a request that extends.
    fn fresh_block(&mut self, shape: Shape, stream: &mut RandomStream) -> u64 {
        let blocks = shape.blocks(self.block);
        for room in [ROOM.max(blocks), blocks, 1] {
            if room == ROOM && !shape.is_extending {
                continue;
            }
            for _ in 0..TRIES {
                let bin = stream.below(self.places.len().max(1) as u64);
                let Some(&(low, high)) = self.places.get(bin as usize) else { break };
                let block = low + stream.below(high - low + 1);
                // Doubling steps probe the blocks after it without looking at every one.
                let mut steps = (0..u64::BITS).map(|step| (1 << step) - 1).take_while(|&step| step < room);
                if steps.all(|step| self.reuse(0, block + step) == Reuse::Fresh) {
                    return block;
                }
            }
        }
        while self.reuse(0, self.beyond) != Reuse::Fresh {
            self.beyond += 1;
        }
        self.beyond
    }
}
