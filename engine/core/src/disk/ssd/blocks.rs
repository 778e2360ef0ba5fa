//! The erase blocks of one die, and greedy garbage collection over them.
//!
//! ```text
//!   erased ─► open (host data | copied data) ─► full ─► victim ─► erased
//!                                                └ listed by their number of valid units
//! ```
//!
//! Host data and data copied by garbage collection fill separate blocks, so that data that survived once are together. When
//! fewer than `low_mark` blocks are erased, the full block with the fewest valid units becomes the victim: its valid units
//! are copied, then it is erased. Copies are paced: of a victim with v valid units of n, v copies are due for every n - v
//! units that the host writes, so that the next block is erased when the host needs it. The last but one erased block is
//! kept for copies.
//!
//! A valid unit of unknown address is *anonymous*: blocks only count such units. In the steady state of uniform random
//! writes, each anonymous address is equally likely to be any of the anonymous units, so drawing its place when it is
//! first overwritten gives the same process as placing all addresses in advance (the principle of deferred decisions),
//! without a table of all addresses.
//!
//! Units \[mapping units\] everywhere. Cost: a few words per block, four bytes per unit of a block written in the run; all
//! operations take constant time, on average for the draw of an anonymous unit.

mod collection;

use std::collections::VecDeque;

use crate::rng::RandomStream;
use collection::Victim;

/// No block, or no unit.
const NONE: u32 = u32::MAX;

/// A place of a block with a present or former anonymous unit.
const ANONYMOUS: u32 = u32::MAX - 1;

/// The writer of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// The host.
    Host,
    /// Garbage collection.
    Collector,
}

/// The known contents of a block.
#[derive(Clone, Debug)]
enum Contents {
    /// Nothing, or anonymous units only.
    Unlisted,
    /// Addresses from this one, in order, unless written since.
    InOrder(u32),
    /// The address at each place.
    Listed(Box<[u32]>),
}

#[derive(Clone, Debug)]
struct Block {
    valid: u32,
    anonymous: u32,
    /// Neighbours in the list of full blocks with the same number of valid units.
    previous: u32,
    next: u32,
    is_listed: bool,
    contents: Contents,
}

/// A block that is being filled.
#[derive(Clone, Copy, Debug)]
struct Open {
    block: u32,
    next: u32,
}

/// The erase blocks of one die.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    /// Units per block.
    units: u32,
    low_mark: u32,
    all: Box<[Block]>,
    /// First full block for each number of valid units.
    full: Box<[u32]>,
    /// Minimum number of valid units of full blocks.
    least: u32,
    erased: VecDeque<u32>,
    open: [Open; 2],
    victim: Option<Victim>,
    anonymous: u64,
    /// Units copied in all.
    copies: u64,
    /// Tables of erased blocks, for reuse.
    tables: Vec<Box<[u32]>>,
}

impl Blocks {
    /// A die of `count` erased blocks of `units` each, of which garbage collection tries to keep `low_mark` erased.
    pub fn new(count: u32, units: u32, low_mark: u32) -> Self {
        let empty = Block {
            valid: 0,
            anonymous: 0,
            previous: NONE,
            next: NONE,
            is_listed: false,
            contents: Contents::Unlisted,
        };
        let closed = Open { block: NONE, next: 0 };
        Self {
            units,
            low_mark,
            all: vec![empty; count as usize].into(),
            full: vec![NONE; units as usize + 1].into(),
            least: units,
            erased: (0..count).collect(),
            open: [closed; 2],
            victim: None,
            anonymous: 0,
            copies: 0,
            tables: Vec::new(),
        }
    }

    /// Makes the next erased block a full one with `valid` anonymous units.
    pub fn fill_anonymously(&mut self, valid: u32) {
        let block = self.take_erased();
        let entry = &mut self.all[block as usize];
        (entry.valid, entry.anonymous) = (valid, valid);
        self.anonymous += u64::from(valid);
        self.list(block);
    }

    /// Makes the next erased block a full one with `count` addresses from `first`.
    pub fn fill_in_order(&mut self, first: u32, count: u32) {
        let block = self.take_erased();
        let entry = &mut self.all[block as usize];
        entry.valid = count;
        entry.contents = Contents::InOrder(first);
        self.list(block);
    }

    fn take_erased(&mut self) -> u32 {
        let Some(block) = self.erased.pop_front() else { unreachable!("an erased block is kept for copies") };
        block
    }

    fn list(&mut self, block: u32) {
        let valid = self.all[block as usize].valid;
        let head = std::mem::replace(&mut self.full[valid as usize], block);
        let entry = &mut self.all[block as usize];
        (entry.previous, entry.next, entry.is_listed) = (NONE, head, true);
        if head != NONE {
            self.all[head as usize].previous = block;
        }
        self.least = self.least.min(valid);
    }

    fn unlist(&mut self, block: u32) {
        let Block { valid, previous, next, .. } = self.all[block as usize];
        self.all[block as usize].is_listed = false;
        if next != NONE {
            self.all[next as usize].previous = previous;
        }
        if previous == NONE {
            self.full[valid as usize] = next;
        } else {
            self.all[previous as usize].next = next;
        }
    }

    #[inline]
    fn lose_one(&mut self, block: u32) {
        if self.all[block as usize].is_listed {
            self.unlist(block);
            self.all[block as usize].valid -= 1;
            self.list(block);
        } else {
            self.all[block as usize].valid -= 1;
        }
    }

    /// The unit at `place` is no longer valid.
    #[inline]
    pub fn invalidate(&mut self, place: u32) {
        let (block, at) = (place / self.units, place % self.units);
        if let Contents::Listed(table) = &mut self.all[block as usize].contents {
            table[at as usize] = NONE;
        }
        self.lose_one(block);
    }

    /// Some anonymous unit is no longer valid.
    pub fn invalidate_anonymous(&mut self, stream: &mut RandomStream) {
        let count = self.all.len() as u64;
        let block = loop {
            let block = stream.below(count) as u32;
            let anonymous = self.all[block as usize].anonymous;
            if stream.below(u64::from(self.units)) < u64::from(anonymous) {
                break block;
            }
        };
        self.all[block as usize].anonymous -= 1;
        self.anonymous -= 1;
        self.lose_one(block);
    }

    /// Units that `writer` can write before it needs an erased block that it may not take.
    pub fn has_room(&self, writer: Writer) -> bool {
        let is_open = self.open[writer as usize].block != NONE;
        is_open || self.erased.len() > usize::from(writer == Writer::Host)
    }

    /// Writes a unit with its address; returns its place. Precondition: there is room.
    #[inline]
    pub fn write(&mut self, writer: Writer, address: u32) -> u32 {
        let place = self.advance(writer);
        let (block, at) = (place / self.units, place % self.units);
        if matches!(self.all[block as usize].contents, Contents::Unlisted) {
            let fresh = || vec![ANONYMOUS; self.units as usize].into();
            let table = self.tables.pop().unwrap_or_else(fresh);
            self.all[block as usize].contents = Contents::Listed(table);
        }
        let entry = &mut self.all[block as usize];
        if let Contents::Listed(table) = &mut entry.contents {
            table[at as usize] = address;
        }
        entry.valid += 1;
        self.close_if_full(writer);
        place
    }

    /// Writes an anonymous unit. Precondition: there is room.
    pub fn write_anonymous(&mut self, writer: Writer) {
        let block = self.advance(writer) / self.units;
        let entry = &mut self.all[block as usize];
        entry.valid += 1;
        entry.anonymous += 1;
        self.anonymous += 1;
        self.close_if_full(writer);
    }

    /// Pads the open block to a multiple of `page`, since pages are programmed whole.
    pub fn pad(&mut self, writer: Writer, page: u32) {
        while self.open[writer as usize].block != NONE
            && !self.open[writer as usize].next.is_multiple_of(page)
        {
            self.advance(writer);
            self.close_if_full(writer);
        }
    }

    /// Takes the next place of `writer`'s open block.
    #[inline]
    fn advance(&mut self, writer: Writer) -> u32 {
        if self.open[writer as usize].block == NONE {
            self.open[writer as usize] = Open { block: self.take_erased(), next: 0 };
        }
        let open = &mut self.open[writer as usize];
        let place = open.block * self.units + open.next;
        open.next += 1;
        if writer == Writer::Host
            && let Some(victim) = &mut self.victim
        {
            victim.written += 1;
        }
        place
    }

    #[inline]
    fn close_if_full(&mut self, writer: Writer) {
        let open = &mut self.open[writer as usize];
        if open.next == self.units {
            let block = std::mem::replace(&mut open.block, NONE);
            self.list(block);
        }
    }

    /// Valid units of each full block.
    pub fn valid_of_full(&self) -> impl Iterator<Item = u32> {
        self.all.iter().filter(|block| block.is_listed).map(|block| block.valid)
    }

    /// Units copied in all.
    #[cfg(test)]
    pub const fn copies(&self) -> u64 {
        self.copies
    }

    /// Anonymous units.
    #[cfg(any(test, debug_assertions))]
    pub const fn anonymous(&self) -> u64 {
        self.anonymous
    }

    /// Conservation: every block is in one state, and the counts agree.
    #[cfg(any(test, debug_assertions))]
    pub fn check(&self, valid: u64) {
        let total: u64 = self.all.iter().map(|block| u64::from(block.valid)).sum();
        assert_eq!(total, valid, "valid units are those that are mapped");
        let anonymous: u64 = self.all.iter().map(|block| u64::from(block.anonymous)).sum();
        assert_eq!(anonymous, self.anonymous, "anonymous units");
        let full = self.all.iter().filter(|block| block.is_listed).count();
        let open = self.open.iter().filter(|open| open.block != NONE).count();
        let victim = usize::from(self.victim.is_some());
        assert_eq!(full + open + victim + self.erased.len(), self.all.len(), "every block is in one state");
        assert!(self.erased.iter().all(|&block| self.all[block as usize].valid == 0), "the erased are empty");
    }
}
