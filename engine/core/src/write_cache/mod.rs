//! Write cache: lines of dirty sectors, grouped by the stripe in which they are destaged.
//!
//! ```text
//!              ┌──────── write to a line in flight ─────────┐
//!              ▼                                             │
//!   free ──► dirty ──── destage starts ────► in flight ──── ends ────► (clean) ──► free
//! ```
//!
//! A line can be dirty and in flight: a write to a line in flight makes a new version of its sectors, and the line stays
//! dirty after the destage. With `keep_clean`, a destaged line stays readable until its memory is needed, oldest destage
//! first.
//!
//! Cost: O(1) per line written, plus that of the destage policy.

mod ages;
mod around;
mod claims;
mod clean;
mod destaging;
mod extent;
mod groups;
mod membership;
#[cfg(test)]
mod model;
mod power_cut;
#[cfg(test)]
mod tests;

use claims::Claims;
use groups::Groups;

use crate::destage::{Destage, Elevator, StripeId};
use crate::divisor::Divisor;
use crate::mutation::{Mutant, Mutation};
use crate::slab::{Link, Slab};
use crate::slot_table::SlotTable;
use crate::units::{Bytes, SECTOR_BYTES, Sectors, SimTime};

pub use extent::Extent;

/// Outcome of a write to one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// Accepted.
    In {
        /// Dirty sectors that were overwritten.
        absorbed: u32,
        /// Whether the line was already dirty, so that the write costs no further destage.
        was_dirty: bool,
    },
    /// No line is free.
    Full,
}

/// What the cache holds of the sectors of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// All sectors are dirty or in flight.
    Dirty,
    /// Some or all sectors are clean.
    Clean,
}

/// Size and policies of a write cache.
#[derive(Debug)]
pub struct Parts {
    /// Memory for data.
    pub size: Bytes,
    /// Size of a line.
    pub line: Bytes,
    /// Destage policy.
    pub destage: Destage,
    /// Whether stripes of an age limit are destaged first, so that an order by age is kept.
    pub has_age_limit: bool,
    /// Whether fully dirty stripes are destaged first.
    pub prefers_full: bool,
    /// Whether destaged lines stay readable until their memory is needed.
    pub keeps_clean: bool,
}

/// One line: half a line of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Line {
    key: u64,
    dirty: u64,
    /// Group of a dirty line.
    group: u32,
    /// Next dirty line of the group, or for a clean line the one destaged after it.
    next: Link,
    /// For a clean line the one destaged before it.
    before: Link,
    /// Its sectors in flight, if any.
    flight: Link,
}

/// The sectors of a line that are in flight. Few lines are, so that these stay in the processor's cache.
#[derive(Clone, Copy, Debug)]
struct Flight {
    sectors: u64,
    line: u32,
    /// Next line of the same destage.
    next: Link,
}

/// The write cache of a controller.
#[derive(Debug)]
pub struct WriteCache {
    capacity: u32,
    line_sectors: u64,
    stripe_sectors: Box<[Divisor]>,
    /// Index of each line.
    index: SlotTable,
    lines: Vec<Line>,
    /// Clean sectors of each line, if they are kept.
    clean: Vec<u64>,
    flights: Slab<Flight>,
    free: Vec<u32>,
    groups: Groups,
    destage: Destage,
    /// Fully dirty stripes of each array, if they are preferred.
    full: Option<Box<[Elevator]>>,
    claims: Claims,
    /// Lines written again while in flight: the second version uses a line of its own.
    second_versions: u32,
    dirty_sectors: u64,
    keeps_clean: bool,
    /// Clean lines, and the ends of their list.
    clean_lines: u32,
    first_clean: Link,
    last_clean: Link,
    scratch: Vec<(u64, u64)>,
    /// The mutation built into it, if any.
    pub mutant: Mutant,
}

const ARRAY_SHIFT: u32 = 48;
const NUMBER: u64 = (1 << ARRAY_SHIFT) - 1;

/// A line or a stripe by array and number.
const fn key(array: u16, number: u64) -> u64 {
    (array as u64) << ARRAY_SHIFT | number
}

impl WriteCache {
    /// An empty cache over arrays whose stripes hold `stripe_sectors` each.
    pub fn new(parts: Parts, stripe_sectors: &[Sectors]) -> Self {
        let arrays = stripe_sectors.len();
        Self {
            capacity: (parts.size.0 / parts.line.0) as u32,
            line_sectors: parts.line.0 / SECTOR_BYTES,
            stripe_sectors: stripe_sectors.iter().map(|sectors| Divisor::new(sectors.0)).collect(),
            index: SlotTable::default(),
            lines: Vec::new(),
            clean: Vec::new(),
            flights: Slab::default(),
            free: Vec::new(),
            groups: Groups::new(arrays, parts.has_age_limit),
            destage: parts.destage,
            full: parts.prefers_full.then(|| (0..arrays).map(|_| Elevator::default()).collect()),
            claims: Claims::default(),
            second_versions: 0,
            dirty_sectors: 0,
            keeps_clean: parts.keeps_clean,
            clean_lines: 0,
            first_clean: Link::END,
            last_clean: Link::END,
            scratch: Vec::new(),
            mutant: Mutant::default(),
        }
    }

    /// Capacity in lines.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Lines dirty or in flight; a line that is both counts twice, since it holds two versions.
    #[inline]
    pub fn used(&self) -> u32 {
        self.taken() - self.clean_lines
    }

    /// Lines in use.
    #[inline]
    fn taken(&self) -> u32 {
        self.index.len() as u32 + self.second_versions
    }

    /// Sectors not yet on the disks: dirty or in flight.
    #[inline]
    pub const fn dirty_sectors(&self) -> u64 {
        self.dirty_sectors
    }

    /// Index of the line of this key.
    #[inline]
    fn find(&self, key: u64) -> Option<u32> {
        self.index.find(key, |slot| self.lines[slot as usize].key)
    }

    /// Sectors of a line that are in flight.
    #[inline]
    fn in_flight(&self, slot: u32) -> u64 {
        self.lines[slot as usize].flight.get().map_or(0, |flight| self.flights[flight].sectors)
    }

    /// Clean sectors of a line.
    #[inline]
    fn clean(&self, slot: u32) -> u64 {
        self.clean.get(slot as usize).copied().unwrap_or_default()
    }

    /// Sectors of a line that are no longer clean.
    #[inline]
    fn soil(&mut self, slot: u32, mask: u64) {
        if let Some(clean) = self.clean.get_mut(slot as usize) {
            *clean &= !mask;
        }
    }

    /// What the cache holds of the sectors of `mask` in `line`, if it has the newest version of all of them.
    #[inline]
    pub fn holds(&self, array: u16, line: u64, mask: u64) -> Option<Held> {
        let slot = self.find(key(array, line))?;
        let missing = mask & !(self.lines[slot as usize].dirty | self.in_flight(slot));
        if missing == 0 {
            Some(Held::Dirty)
        } else {
            (missing & !self.clean(slot) == 0).then_some(Held::Clean)
        }
    }

    /// Writes the sectors of `mask` in `line` of `array` at `now`; only into a line that is already dirty if
    /// `may_allocate` is false.
    #[inline]
    pub fn accept(&mut self, now: SimTime, array: u16, line: u64, mask: u64, may_allocate: bool) -> Accepted {
        let key = key(array, line);
        self.groups.expect(self.stripe_of(array, line));
        let slot = self.find(key);
        if let Some(slot) = slot
            && self.lines[slot as usize].dirty != 0
        {
            let entry = &mut self.lines[slot as usize];
            let absorbed = (entry.dirty & mask).count_ones();
            entry.dirty |= mask;
            let (group, added) = (entry.group, u64::from(mask.count_ones() - absorbed));
            self.soil(slot, mask);
            self.dirty_sectors += added;
            if !self.claims.is_empty() {
                self.end_claims(key, mask);
            }
            self.write_group(group, line, added, absorbed > 0);
            return Accepted::In { absorbed, was_dirty: true };
        }
        if !may_allocate || self.used() >= self.capacity {
            return Accepted::Full;
        }
        let slot = match slot {
            Some(slot) if self.lines[slot as usize].flight != Link::END => {
                if self.mutant.has(Mutation::LostSecondVersion) {
                    return Accepted::In { absorbed: 0, was_dirty: false };
                }
                self.make_room();
                self.second_versions += 1;
                slot
            }
            Some(slot) => {
                self.leave_clean(slot);
                slot
            }
            None => {
                self.make_room();
                self.add_line(key)
            }
        };
        self.lines[slot as usize].dirty = mask;
        self.soil(slot, mask);
        self.dirty_sectors += u64::from(mask.count_ones());
        if !self.claims.is_empty() {
            self.end_claims(key, mask);
        }
        self.join_group(now, array, line, slot);
        Accepted::In { absorbed: 0, was_dirty: false }
    }

    /// The stripe of `line`.
    #[inline]
    pub fn stripe_of(&self, array: u16, line: u64) -> StripeId {
        let (stripe, _) = self.stripe_sectors[array as usize].div_rem(line * self.line_sectors);
        StripeId { array, stripe }
    }

    fn end_claims(&mut self, key: u64, mask: u64) {
        if !self.mutant.has(Mutation::GreedyClaim) {
            self.claims.end(key, mask);
        }
    }

    fn add_line(&mut self, key: u64) -> u32 {
        let entry = Line { key, dirty: 0, group: 0, next: Link::END, before: Link::END, flight: Link::END };
        let slot = if let Some(slot) = self.free.pop() {
            self.lines[slot as usize] = entry;
            slot
        } else {
            self.lines.push(entry);
            if self.keeps_clean {
                self.clean.push(0);
            }
            (self.lines.len() - 1) as u32
        };
        let lines = &self.lines;
        self.index.insert(key, slot, |slot| lines[slot as usize].key);
        slot
    }

    fn remove_line(&mut self, slot: u32) {
        self.soil(slot, u64::MAX);
        self.index.remove(self.lines[slot as usize].key, slot);
        self.free.push(slot);
    }

    /// Calls `each` with each line of `extent` and the mask of its sectors.
    fn for_lines(&mut self, extent: Extent, mut each: impl FnMut(&mut Self, u64, u64)) {
        let end = extent.lba.0 + extent.sectors.0;
        let mut at = extent.lba.0;
        while at < end {
            let line = at / self.line_sectors;
            let start = line * self.line_sectors;
            let stop = end.min(start + self.line_sectors);
            each(self, line, mask(at - start, stop - at));
            at = stop;
        }
    }
}

/// The mask of `count` sectors from `start` of a line.
#[inline]
pub const fn mask(start: u64, count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { ((1 << count) - 1) << start }
}
