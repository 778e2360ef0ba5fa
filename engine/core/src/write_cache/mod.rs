//! The write cache: lines of dirty sectors, grouped by the stripe in which they are destaged.
//!
//! ```text
//!              ┌────────── a write to a line that is going ──────────┐
//!              ▼                                                     │
//!   free ──► dirty ──── destage begins ────► going ──── ends ────► (clean) ──► free
//! ```
//!
//! A line may be both dirty and going: a write to a line that is going makes a new version of those sectors, and the line
//! stays dirty after the destage. With `keep_clean` a line that has been destaged stays, readable, until its place is
//! needed; the one destaged first leaves first.
//!
//! Cost: O(1) per line written, and what the destage policy costs.

mod claims;
mod extent;
mod groups;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use claims::{Claim, Claims};
use extent::join_runs;
use groups::Groups;

use crate::destage::{Destage, DestagePolicy, Elevator, Level, Place, Write};
use crate::divisor::Divisor;
use crate::slab::Link;
use crate::units::{Bytes, SECTOR_BYTES, Sectors, SimDuration, SimTime};

pub use extent::Extent;

/// What became of one line's part of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It is in.
    In {
        /// Sectors that overwrote dirty ones.
        absorbed: u32,
        /// Whether the line was dirty already, so that the write costs no further destage.
        was_dirty: bool,
    },
    /// No line is free.
    Full,
}

/// What the cache has of a line that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Sectors that are dirty or going.
    Dirty,
    /// Sectors that were destaged, some of them or all.
    Clean,
}

/// What a write cache is made of and how it destages.
#[derive(Debug)]
pub struct Parts {
    /// Room for data.
    pub size: Bytes,
    /// Size of a line.
    pub line: Bytes,
    /// Which stripes leave next, and how many at a time.
    pub destage: Destage,
    /// Whether stripes whose sectors are all dirty leave before all others.
    pub prefers_full: bool,
    /// Whether lines that were destaged stay readable until their place is needed.
    pub keeps_clean: bool,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    key: u64,
    dirty: u64,
    going: u64,
    clean: u64,
    /// The group that it belongs to while it is dirty.
    group: u32,
    /// Next dirty line of the group; of a line that is clean only, the next that was destaged after it.
    next: Link,
    /// Next line of the same destage; of a line that is clean only, the one that was destaged before it.
    next_going: Link,
}

/// The write cache of a controller.
#[derive(Debug)]
pub struct WriteCache {
    capacity: u32,
    line_sectors: u64,
    stripe_sectors: Box<[Divisor]>,
    index: HashMap<u64, u32, FxBuildHasher>,
    lines: Vec<Line>,
    free: Vec<u32>,
    groups: Groups,
    destage: Destage,
    /// The groups of each array whose stripe is dirty as a whole, where they are preferred.
    full: Option<Box<[Elevator]>>,
    claims: Claims,
    /// Lines that were written again while they are going: their second version takes a line of its own.
    second_versions: u32,
    dirty_sectors: u64,
    keeps_clean: bool,
    /// Lines that are clean only, and the ends of their list.
    clean_lines: u32,
    first_clean: Link,
    last_clean: Link,
    scratch: Vec<(u64, u64)>,
    /// A mistake for tests.
    #[cfg(test)]
    pub fault: Option<Fault>,
}

/// A mistake that tests build into a write cache.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Writes to lines that are going are dropped.
    LostSecondVersion,
    /// A write around the cache leaves the older dirty sectors in place.
    StaleDirty,
    /// A write around the cache drops dirty sectors that were written after it.
    GreedyClaim,
    /// A group that has come of age loses its last sector.
    LostWithAge,
    /// A write around the cache leaves older clean sectors readable.
    StaleClean,
}

const ARRAY_SHIFT: u32 = 48;
const NUMBER: u64 = (1 << ARRAY_SHIFT) - 1;

/// A line or a stripe by array and number.
const fn key(array: u16, number: u64) -> u64 {
    (array as u64) << ARRAY_SHIFT | number
}

impl WriteCache {
    /// An empty cache over arrays whose stripes hold `stripe_sectors` of data each.
    pub fn new(parts: Parts, stripe_sectors: &[Sectors]) -> Self {
        let arrays = stripe_sectors.len();
        Self {
            capacity: (parts.size.0 / parts.line.0) as u32,
            line_sectors: parts.line.0 / SECTOR_BYTES,
            stripe_sectors: stripe_sectors.iter().map(|sectors| Divisor::new(sectors.0)).collect(),
            index: HashMap::default(),
            lines: Vec::new(),
            free: Vec::new(),
            groups: Groups::new(arrays),
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
            #[cfg(test)]
            fault: None,
        }
    }

    /// Lines that it holds at most.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Lines that are dirty or going; one that is both counts twice, for it holds two versions.
    #[inline]
    pub fn used(&self) -> u32 {
        self.taken() - self.clean_lines
    }

    /// Lines that hold anything.
    #[inline]
    fn taken(&self) -> u32 {
        self.index.len() as u32 + self.second_versions
    }

    /// Sectors that are not on the disks yet: dirty or going.
    #[inline]
    pub const fn dirty_sectors(&self) -> u64 {
        self.dirty_sectors
    }

    /// What is here of the sectors of `mask` in `line`, where the newest version of all of them is.
    #[inline]
    pub fn holds(&self, array: u16, line: u64, mask: u64) -> Option<Held> {
        let line = &self.lines[*self.index.get(&key(array, line))? as usize];
        if mask & !(line.dirty | line.going) == 0 {
            Some(Held::Dirty)
        } else {
            (mask & !(line.dirty | line.going | line.clean) == 0).then_some(Held::Clean)
        }
    }

    /// Takes the sectors of `mask` in `line` of `array` in at `now`; into a line that is dirty already where
    /// `may_allocate` is false.
    #[inline]
    pub fn accept(&mut self, now: SimTime, array: u16, line: u64, mask: u64, may_allocate: bool) -> Accepted {
        let key = key(array, line);
        let slot = self.index.get(&key).copied();
        if let Some(slot) = slot
            && self.lines[slot as usize].dirty != 0
        {
            let entry = &mut self.lines[slot as usize];
            let absorbed = (entry.dirty & mask).count_ones();
            entry.dirty |= mask;
            entry.clean &= !mask;
            let (group, added) = (entry.group, u64::from(mask.count_ones() - absorbed));
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
            Some(slot) if self.lines[slot as usize].going != 0 => {
                #[cfg(test)]
                if self.fault == Some(Fault::LostSecondVersion) {
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
        let entry = &mut self.lines[slot as usize];
        entry.dirty = mask;
        entry.clean &= !mask;
        self.dirty_sectors += u64::from(mask.count_ones());
        if !self.claims.is_empty() {
            self.end_claims(key, mask);
        }
        self.join_group(now, array, line, slot);
        Accepted::In { absorbed: 0, was_dirty: false }
    }

    fn end_claims(&mut self, key: u64, mask: u64) {
        #[cfg(test)]
        if self.fault == Some(Fault::GreedyClaim) {
            return;
        }
        self.claims.end(key, mask);
    }

    fn add_line(&mut self, key: u64) -> u32 {
        let entry =
            Line { key, dirty: 0, going: 0, clean: 0, group: 0, next: Link::END, next_going: Link::END };
        let slot = if let Some(slot) = self.free.pop() {
            self.lines[slot as usize] = entry;
            slot
        } else {
            self.lines.push(entry);
            (self.lines.len() - 1) as u32
        };
        self.index.insert(key, slot);
        slot
    }

    /// Frees a place for one more line: where none is, the line that was destaged first leaves.
    #[inline]
    fn make_room(&mut self) {
        if self.taken() == self.capacity
            && let Some(slot) = self.first_clean.get()
        {
            self.leave_clean(slot);
            self.remove_line(slot);
        }
    }

    fn remove_line(&mut self, slot: u32) {
        let line = &mut self.lines[slot as usize];
        line.clean = 0;
        self.index.remove(&line.key);
        self.free.push(slot);
    }

    /// A line that is neither dirty nor going any more: it stays where it has clean sectors, and is free otherwise.
    fn rest(&mut self, slot: u32) {
        let last = self.last_clean;
        let line = &mut self.lines[slot as usize];
        if line.clean == 0 {
            self.remove_line(slot);
            return;
        }
        (line.next, line.next_going) = (Link::END, last);
        match last.get() {
            Some(last) => self.lines[last as usize].next = Link::to(slot),
            None => self.first_clean = Link::to(slot),
        }
        self.last_clean = Link::to(slot);
        self.clean_lines += 1;
    }

    /// Takes a line off the list of those that are clean only.
    fn leave_clean(&mut self, slot: u32) {
        let Line { next, next_going: before, .. } = self.lines[slot as usize];
        match next.get() {
            Some(next) => self.lines[next as usize].next_going = before,
            None => self.last_clean = before,
        }
        match before.get() {
            Some(before) => self.lines[before as usize].next = next,
            None => self.first_clean = next,
        }
        self.clean_lines -= 1;
    }

    /// A line that was not dirty has become so.
    #[inline]
    fn join_group(&mut self, now: SimTime, array: u16, line: u64, slot: u32) {
        let (stripe, _) = self.stripe_sectors[array as usize].div_rem(line * self.line_sectors);
        let place = Place { array, stripe };
        let sectors = u64::from(self.lines[slot as usize].dirty.count_ones());
        let found = self.groups.find(place);
        let group = found.unwrap_or_else(|| self.groups.add(place, now));
        let entry = self.groups.get_mut(group);
        let line_entry = &mut self.lines[slot as usize];
        (line_entry.group, line_entry.next) = (group, entry.first);
        entry.first = Link::to(slot);
        entry.lines += 1;
        if found.is_some() {
            self.write_group(group, line, sectors, false);
        } else {
            entry.last_line = line;
            entry.sectors = sectors;
            self.destage.enter(group, place);
            self.note_full(group);
        }
    }

    /// A group that was in has been written, and has `added` dirty sectors more.
    #[inline]
    fn write_group(&mut self, group: u32, line: u64, added: u64, is_overwrite: bool) {
        let entry = self.groups.get_mut(group);
        entry.sectors += added;
        let is_sequential =
            line == entry.last_line.wrapping_add(1) || (line == entry.last_line && !is_overwrite);
        entry.last_line = line;
        let (place, lines) = (entry.place, entry.lines);
        self.destage.write(group, place, Write { lines, is_sequential });
        if added > 0 {
            self.note_full(group);
        }
    }

    /// Notes a group whose stripe is dirty as a whole.
    #[inline]
    fn note_full(&mut self, group: u32) {
        if let Some(full) = &mut self.full {
            let entry = self.groups.get(group);
            let array = entry.place.array as usize;
            if entry.sectors == self.stripe_sectors[array].get() {
                full[array].enter(entry.place.stripe, group);
            }
        }
    }

    /// Whether `array` has dirty lines that are not on their way.
    #[inline]
    pub fn has_dirty(&self, array: u16) -> bool {
        self.groups.oldest(array).is_some()
    }

    /// Groups of an array that may be on their way now.
    #[inline]
    pub fn allow(&mut self, level: &Level) -> u32 {
        self.destage.allow(level)
    }

    /// The group of `array` that leaves next, passing over stripes for which `is_busy` is true.
    #[inline]
    pub fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u32> {
        if let Some(full) = &mut self.full
            && let Some(group) = full[array as usize].choose(&is_busy)
        {
            return Some(group);
        }
        self.destage.choose(array, is_busy)
    }

    /// The group of `array` that became dirty first of those that did so `limit` ago or earlier and are not busy.
    pub fn overdue(
        &self,
        array: u16,
        now: SimTime,
        limit: SimDuration,
        is_busy: impl Fn(u64) -> bool,
    ) -> Option<u32> {
        self.groups
            .by_age(array)
            .take_while(|(_, group)| group.since + limit <= now)
            .find(|(_, group)| !is_busy(group.place.stripe))
            .map(|(group, _)| group)
    }

    /// When the next group of `array` will have been dirty for `limit`, beyond those that have been already.
    pub fn next_overdue(&self, array: u16, now: SimTime, limit: SimDuration) -> Option<SimTime> {
        self.groups.by_age(array).map(|(_, group)| group.since + limit).find(|&due| due > now)
    }

    /// Takes a group out of every order that it stands in.
    fn leave(&mut self, group: u32) -> groups::Group {
        let entry = self.groups.remove(group);
        self.destage.leave(group, entry.place);
        if let Some(full) = &mut self.full {
            full[entry.place.array as usize].leave(entry.place.stripe);
        }
        entry
    }

    /// The lines of `group` become going; gives the stripe, the list of its lines and their number, and puts their
    /// sectors into `extents`, by address, adjacent ones joined.
    pub fn begin_destage(&mut self, group: u32, extents: &mut Vec<Extent>) -> (u64, Link, u32) {
        let group = self.leave(group);
        let mut link = group.first;
        let mut going = Link::END;
        self.scratch.clear();
        while let Some(slot) = link.get() {
            let entry = &mut self.lines[slot as usize];
            link = entry.next;
            entry.going = entry.dirty;
            entry.dirty = 0;
            entry.next_going = going;
            going = Link::to(slot);
            self.scratch.push((entry.key & NUMBER, entry.going));
        }
        self.scratch.sort_unstable();
        extents.clear();
        for &(line, mask) in &self.scratch {
            join_runs(line * self.line_sectors, mask, extents);
        }
        (group.place.stripe, going, group.lines)
    }

    /// The lines of a destage are on the disks: those not written again meanwhile are clean, or free. Calls `each` with
    /// the number of every line and the sectors of it that stay readable. Gives the sectors that were destaged.
    pub fn end_destage(&mut self, mut going: Link, mut each: impl FnMut(u64, u64)) -> u64 {
        let mut destaged = 0;
        while let Some(slot) = going.get() {
            let line = &mut self.lines[slot as usize];
            going = line.next_going;
            destaged += u64::from(line.going.count_ones());
            if self.keeps_clean {
                line.clean |= line.going & !line.dirty;
            }
            line.going = 0;
            each(line.key & NUMBER, line.clean);
            if line.dirty == 0 {
                self.rest(slot);
            } else {
                self.second_versions -= 1;
            }
        }
        self.dirty_sectors -= destaged;
        destaged
    }

    /// `request` writes the sectors of `extent`, of one `stripe`, around the cache: what is dirty of them now is dropped
    /// when [`WriteCache::supersede`] says that they are on the media. Precondition: no destage of the stripe starts before.
    pub fn claim(&mut self, request: u32, array: u16, stripe: u64, extent: Extent) {
        self.for_lines(extent, |cache, line, mask| {
            let key = key(array, line);
            if let Some(&slot) = cache.index.get(&key) {
                let mask = mask & cache.lines[slot as usize].dirty;
                if mask != 0 {
                    cache.claims.add(Claim { request, stripe, key, mask });
                }
            }
        });
    }

    /// What `request` wrote to `stripe` around the cache is on the media: the dirty sectors that it claimed are dropped,
    /// those written again since apart. Calls `each` with the number of every line and the sectors dropped; gives how many.
    pub fn supersede(&mut self, request: u32, stripe: u64, mut each: impl FnMut(u64, u64)) -> u64 {
        let mut superseded = 0;
        while let Some(claim) = self.claims.take(request, stripe) {
            let Some(&slot) = self.index.get(&claim.key) else { continue };
            let line = &mut self.lines[slot as usize];
            let gone = line.dirty & claim.mask;
            #[cfg(test)]
            if self.fault == Some(Fault::StaleDirty) {
                continue;
            }
            if gone == 0 {
                continue;
            }
            line.dirty &= !gone;
            let (group, is_left) = (line.group, line.dirty != 0);
            let count = u64::from(gone.count_ones());
            superseded += count;
            each(claim.key & NUMBER, gone);
            let entry = self.groups.get_mut(group);
            entry.sectors -= count;
            if let Some(full) = &mut self.full {
                full[entry.place.array as usize].leave(entry.place.stripe);
            }
            if !is_left {
                self.leave_group(slot, group);
            }
        }
        self.dirty_sectors -= superseded;
        superseded
    }

    /// A line is dirty no longer: it leaves its group.
    fn leave_group(&mut self, slot: u32, group: u32) {
        let entry = self.groups.get_mut(group);
        let next = self.lines[slot as usize].next;
        if entry.first == Link::to(slot) {
            entry.first = next;
        } else {
            let mut link = entry.first;
            while let Some(before) = link.get() {
                link = self.lines[before as usize].next;
                if link == Link::to(slot) {
                    self.lines[before as usize].next = next;
                }
            }
        }
        entry.lines -= 1;
        if entry.lines == 0 {
            self.leave(group);
        }
        if self.lines[slot as usize].going == 0 {
            self.rest(slot);
        } else {
            self.second_versions -= 1;
        }
    }

    /// The sectors of `extent` change on the media: what is clean of them is not readable any more.
    pub fn forget_clean(&mut self, array: u16, extent: Extent) {
        #[cfg(test)]
        if self.fault == Some(Fault::StaleClean) {
            return;
        }
        if !self.keeps_clean {
            return;
        }
        self.for_lines(extent, |cache, line, mask| {
            let Some(&slot) = cache.index.get(&key(array, line)) else { return };
            let line = &mut cache.lines[slot as usize];
            line.clean &= !mask;
            if line.dirty | line.going | line.clean == 0 {
                cache.leave_clean(slot);
                cache.remove_line(slot);
            }
        });
    }

    /// Calls `each` with every line that `extent` touches and the mask of its sectors.
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

    /// The power is cut at `now`, and with it every destage: what was going is dirty again, unless a newer version is.
    /// Gives the sectors that have one.
    pub fn cut_power(&mut self, now: SimTime) -> u64 {
        self.claims.clear();
        let mut absorbed = 0;
        for slot in 0..self.lines.len() as u32 {
            let line = &mut self.lines[slot as usize];
            let going = std::mem::take(&mut line.going);
            if going == 0 {
                continue;
            }
            let was_dirty = line.dirty != 0;
            let added = u64::from((going & !line.dirty).count_ones());
            absorbed += u64::from((going & line.dirty).count_ones());
            line.dirty |= going;
            line.clean &= !line.dirty;
            let (group, key) = (line.group, line.key);
            if was_dirty {
                self.second_versions -= 1;
                self.groups.get_mut(group).sectors += added;
                self.note_full(group);
            } else {
                self.join_group(now, (key >> ARRAY_SHIFT) as u16, key & NUMBER, slot);
            }
        }
        self.dirty_sectors -= absorbed;
        absorbed
    }

    /// A mistake for tests: what was on its way to the disks is forgotten.
    #[cfg(test)]
    pub fn forget_going(&mut self) {
        for line in &mut self.lines {
            self.dirty_sectors -= u64::from(std::mem::take(&mut line.going).count_ones());
        }
    }

    /// Everything in it is lost. Precondition: nothing is going.
    pub fn lose_all(&mut self) {
        for array in 0..self.stripe_sectors.len() as u16 {
            while let Some(group) = self.groups.oldest(array) {
                self.leave(group);
            }
        }
        self.claims.clear();
        self.index.clear();
        self.lines.clear();
        self.free.clear();
        self.dirty_sectors = 0;
        (self.second_versions, self.clean_lines) = (0, 0);
        (self.first_clean, self.last_clean) = (Link::END, Link::END);
    }
}

/// The bits of `count` sectors from `start` of a line on.
#[inline]
pub const fn mask(start: u64, count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { ((1 << count) - 1) << start }
}
