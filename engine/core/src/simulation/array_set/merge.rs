//! Merging: I/Os of one moment that are adjacent on a disk become one I/O of that disk.
//!
//! ```text
//!   strips of a request, or of  ──► gathered ──► by disk and address ──► joined up to the limit ──► channel, disk
//!   a run of full stripes                                                                              │
//!   operations ◄── parts ◄─────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! I/Os are gathered only while a caller that starts several stripes asks for it, and while a merged I/O ends, since what
//! its parts lead to is adjacent again: the writes of a run after its reads. Everything else goes to its disk at once.
//! Operations that need parity at the same moment take the firmware and the XOR engine once, so that their writes are merged too.
//!
//! A merged I/O is not longer than the limit; a single strip that is longer is not divided. Its parts belong to operations
//! of their own, with their own locks, so what is read or written does not depend on the limit.

use super::{ArraySet, Context};
use crate::disk::Io;
use crate::event::Event;
use crate::slab::{Link, Slab};
use crate::units::{Sectors, SimDuration};

/// The bit of [`Io::operation`], and of [`Event::Parity`], that stands for a list of several.
const IS_LIST: u32 = 1 << 31;

/// I/Os that are being gathered, and the parts of merged ones.
#[derive(Debug)]
pub struct Merging {
    /// Most sectors of a merged I/O.
    limit: Sectors,
    is_gathering: bool,
    gathered: Vec<(u32, Io)>,
    /// Operations whose parity is to be computed, and its input.
    parities: Vec<(u32, Sectors)>,
    parts: Slab<Part>,
    batches: Slab<Batched>,
}

/// A part of a merged I/O.
#[derive(Clone, Copy, Debug)]
struct Part {
    io: Io,
    next: Link,
}

/// An operation whose parity is computed together with that of others.
#[derive(Clone, Copy, Debug)]
struct Batched {
    operation: u32,
    next: Link,
}

impl Merging {
    /// Merges up to `limit`.
    pub fn new(limit: Sectors) -> Self {
        Self {
            limit,
            is_gathering: false,
            gathered: Vec::new(),
            parities: Vec::new(),
            parts: Slab::default(),
            batches: Slab::default(),
        }
    }

    /// Whether nothing is in progress.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.gathered.is_empty() && self.parts.len() == 0 && self.batches.len() == 0
    }

    /// Keeps `io` of `device` if I/Os are gathered; returns whether they are.
    #[inline]
    pub fn keep(&mut self, device: u32, io: Io) -> bool {
        if self.is_gathering {
            self.gathered.push((device, io));
        }
        self.is_gathering
    }

    /// Keeps an operation whose parity is to be computed from `input`, if I/Os are gathered; returns whether they are.
    pub fn keep_parity(&mut self, operation: u32, input: Sectors) -> bool {
        if self.is_gathering {
            self.parities.push((operation, input));
        }
        self.is_gathering
    }

    /// Power is cut: nothing is in progress.
    pub fn cut_power(&mut self) {
        *self = Self::new(self.limit);
    }

    /// The parts of `io`: itself unless it is merged.
    pub fn parts_of(&self, io: Io) -> impl Iterator<Item = Io> {
        let list = list_of(io.operation);
        let parts = std::iter::successors(list.and_then(Link::get), |&index| self.parts[index].next.get());
        list.is_none().then_some(io).into_iter().chain(parts.map(|index| self.parts[index].io))
    }

    /// How many of `gathered`, which is in order, become one I/O with its first.
    fn count_joined(&self, gathered: &[(u32, Io)]) -> usize {
        let (device, first) = gathered[0];
        let mut end = first;
        let mut sectors = u64::from(first.sectors);
        let follows = |&&(other, io): &&(u32, Io)| {
            let is_adjacent = other == device
                && io.lba.0 == end.lba.0 + u64::from(end.sectors)
                && (io.is_write, io.is_background, io.is_forced)
                    == (first.is_write, first.is_background, first.is_forced);
            sectors += u64::from(io.sectors);
            end = io;
            // A flush has no sectors, and is never part of another I/O.
            is_adjacent && io.sectors > 0 && first.sectors > 0 && sectors <= self.limit.0
        };
        1 + gathered[1..].iter().take_while(follows).count()
    }

    /// One I/O for all of `gathered`, which are adjacent.
    fn join(&mut self, gathered: &[(u32, Io)]) -> Io {
        let first = gathered[0].1;
        if gathered.len() == 1 {
            return first;
        }
        let parts = gathered
            .iter()
            .rev()
            .fold(Link::END, |next, &(_, io)| Link::to(self.parts.insert(Part { io, next })));
        let sectors = gathered.iter().map(|(_, io)| io.sectors).sum();
        let Some(first_part) = parts.get() else { unreachable!("a merged I/O has parts") };
        Io { sectors, operation: first_part | IS_LIST, ..first }
    }
}

impl ArraySet {
    /// Begins to gather I/Os; returns false if a caller does already, which will send them.
    pub fn gather(&mut self) -> bool {
        !std::mem::replace(&mut self.merging.is_gathering, true)
    }

    /// Sends what was gathered to the parity computation and, merged, to the disks.
    pub fn send_gathered(&mut self, context: &mut Context) {
        self.merging.is_gathering = false;
        self.compute_gathered_parity(context);
        let mut gathered = std::mem::take(&mut self.merging.gathered);
        gathered.sort_unstable_by_key(|&(device, io)| {
            (device, io.is_write, io.is_background, io.is_forced, io.lba, io.operation)
        });
        let mut rest = &gathered[..];
        while let Some(&(device, _)) = rest.first() {
            let (joined, later) = rest.split_at(self.merging.count_joined(rest));
            rest = later;
            let io = self.merging.join(joined);
            self.send(context, device, io);
        }
        gathered.clear();
        self.merging.gathered = gathered;
    }

    /// Computes the parity of the operations that were gathered, one after the other.
    fn compute_gathered_parity(&mut self, context: &mut Context) {
        let times = self.merging.parities.iter().map(|&(_, input)| self.xor_time(input));
        let total = times.fold(SimDuration::ZERO, |sum, time| sum + time);
        let Merging { parities, batches, .. } = &mut self.merging;
        let stripes = parities.len() as u64;
        let batch = parities
            .drain(..)
            .rev()
            .fold(Link::END, |next, (operation, _)| Link::to(batches.insert(Batched { operation, next })));
        if let Some(first) = batch.get() {
            let done = self.compute_parity(context, stripes, total);
            context.schedule(done, Event::Parity(first | IS_LIST));
        }
    }

    /// Removes the next part of a merged I/O from its `list`, if there is one left.
    pub fn next_part(&mut self, list: &mut Link) -> Option<Io> {
        let Part { io, next } = self.merging.parts.remove(list.get()?);
        *list = next;
        Some(io)
    }

    /// Removes the next operation from a `list` of those whose parity is computed together, if there is one left.
    pub fn next_of_parity(&mut self, list: &mut Link) -> Option<u32> {
        let Batched { operation, next } = self.merging.batches.remove(list.get()?);
        *list = next;
        Some(operation)
    }
}

/// The list that the operation of an I/O or of [`Event::Parity`] stands for; `None` if it is a single one.
#[inline]
pub const fn list_of(operation: u32) -> Option<Link> {
    if operation & IS_LIST == 0 { None } else { Some(Link::to(operation & !IS_LIST)) }
}
