//! The write cache: lines of dirty sectors, grouped by the stripe in which they are destaged.
//!
//! A line is free, dirty, going (its sectors are on their way to the disks), or both: a write to a line that is going
//! makes a new version of those sectors, and the line stays dirty after the destage.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxBuildHasher;

use crate::slab::Link;
use crate::units::{Bytes, Lba, SECTOR_BYTES, Sectors};

/// A run of sectors of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First sector.
    pub lba: Lba,
    /// Number of sectors.
    pub sectors: Sectors,
}

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

#[derive(Clone, Copy, Debug)]
struct Line {
    key: u64,
    dirty: u64,
    going: u64,
    /// Next dirty line of the same stripe.
    next: Link,
    /// Next line of the same destage.
    next_going: Link,
}

/// One array's dirty stripes in order of address.
#[derive(Debug)]
struct Elevator {
    stripe_sectors: u64,
    stripes: BTreeMap<u64, Link>,
    position: u64,
}

/// The write cache of a controller.
#[derive(Debug)]
pub struct WriteCache {
    capacity: u32,
    line_sectors: u64,
    index: HashMap<u64, u32, FxBuildHasher>,
    lines: Vec<Line>,
    free: Vec<u32>,
    elevators: Vec<Elevator>,
    /// Lines that were written again while they are going: their second version takes a line of its own.
    second_versions: u32,
    dirty_sectors: u64,
    scratch: Vec<(u64, u64)>,
    /// A mistake for tests: writes to lines that are going are dropped.
    #[cfg(test)]
    pub drops_second_versions: bool,
}

const ARRAY_SHIFT: u32 = 48;

impl WriteCache {
    /// An empty cache of `capacity`, in lines of `line`, over arrays whose stripes hold `stripe_sectors` of data each.
    pub fn new(capacity: Bytes, line: Bytes, stripe_sectors: &[Sectors]) -> Self {
        Self {
            capacity: (capacity.0 / line.0) as u32,
            line_sectors: line.0 / SECTOR_BYTES,
            index: HashMap::default(),
            lines: Vec::new(),
            free: Vec::new(),
            elevators: stripe_sectors
                .iter()
                .map(|sectors| Elevator { stripe_sectors: sectors.0, stripes: BTreeMap::new(), position: 0 })
                .collect(),
            second_versions: 0,
            dirty_sectors: 0,
            scratch: Vec::new(),
            #[cfg(test)]
            drops_second_versions: false,
        }
    }

    /// Lines that it holds at most.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Lines that are dirty or going; one that is both counts twice, for it holds two versions.
    #[inline]
    pub fn used(&self) -> u32 {
        self.index.len() as u32 + self.second_versions
    }

    /// Sectors that are not on the disks yet: dirty or going.
    #[inline]
    pub const fn dirty_sectors(&self) -> u64 {
        self.dirty_sectors
    }

    const fn key(array: u16, line: u64) -> u64 {
        (array as u64) << ARRAY_SHIFT | line
    }

    /// Whether the newest version of all sectors of `mask` in `line` is here.
    #[inline]
    pub fn holds(&self, array: u16, line: u64, mask: u64) -> bool {
        self.index.get(&Self::key(array, line)).is_some_and(|&slot| {
            let line = &self.lines[slot as usize];
            mask & !(line.dirty | line.going) == 0
        })
    }

    /// Takes the sectors of `mask` in `line` of `array` in; into a line that is in already where `may_allocate` is false.
    #[inline]
    pub fn accept(&mut self, array: u16, line: u64, mask: u64, may_allocate: bool) -> Accepted {
        let key = Self::key(array, line);
        let is_room = may_allocate && self.used() < self.capacity;
        if let Some(&slot) = self.index.get(&key) {
            let entry = &mut self.lines[slot as usize];
            let absorbed = (entry.dirty & mask).count_ones();
            let was_clean = entry.dirty == 0;
            #[cfg(test)]
            if was_clean && self.drops_second_versions {
                return Accepted::In { absorbed: 0, was_dirty: false };
            }
            if was_clean {
                if !is_room {
                    return Accepted::Full;
                }
                self.second_versions += 1;
            }
            entry.dirty |= mask;
            self.dirty_sectors += u64::from(mask.count_ones() - absorbed);
            if was_clean {
                self.join_stripe(array, line, slot);
            }
            return Accepted::In { absorbed, was_dirty: !was_clean };
        }
        if !is_room {
            return Accepted::Full;
        }
        let entry = Line { key, dirty: mask, going: 0, next: Link::END, next_going: Link::END };
        let slot = if let Some(slot) = self.free.pop() {
            self.lines[slot as usize] = entry;
            slot
        } else {
            self.lines.push(entry);
            (self.lines.len() - 1) as u32
        };
        self.index.insert(key, slot);
        self.dirty_sectors += u64::from(mask.count_ones());
        self.join_stripe(array, line, slot);
        Accepted::In { absorbed: 0, was_dirty: false }
    }

    #[inline]
    fn join_stripe(&mut self, array: u16, line: u64, slot: u32) {
        let elevator = &mut self.elevators[array as usize];
        let stripe = line * self.line_sectors / elevator.stripe_sectors;
        let head = elevator.stripes.entry(stripe).or_insert(Link::END);
        self.lines[slot as usize].next = *head;
        *head = Link::to(slot);
    }

    /// Whether `array` has dirty lines that are not on their way.
    #[inline]
    pub fn has_dirty(&self, array: u16) -> bool {
        !self.elevators[array as usize].stripes.is_empty()
    }

    /// Whether `stripe` of `array` has dirty lines that are not on their way.
    #[inline]
    pub fn is_dirty(&self, array: u16, stripe: u64) -> bool {
        self.elevators[array as usize].stripes.contains_key(&stripe)
    }

    /// The power is cut: what was on its way to the disks is dirty again, unless a newer version is.
    pub fn cut_power(&mut self) {
        self.dirty_sectors = 0;
        self.second_versions = 0;
        for slot in 0..self.lines.len() as u32 {
            let entry = &mut self.lines[slot as usize];
            let was_clean = entry.dirty == 0;
            entry.dirty |= std::mem::take(&mut entry.going);
            let (key, dirty) = (entry.key, entry.dirty);
            self.dirty_sectors += u64::from(dirty.count_ones());
            if was_clean && dirty != 0 {
                self.join_stripe((key >> ARRAY_SHIFT) as u16, key & ((1 << ARRAY_SHIFT) - 1), slot);
            }
        }
    }

    /// A mistake for tests: what was on its way to the disks is forgotten.
    #[cfg(test)]
    pub fn forget_going(&mut self) {
        for line in &mut self.lines {
            line.going = 0;
        }
    }

    /// Everything in it is lost.
    pub fn lose_all(&mut self) {
        self.dirty_sectors = 0;
        self.second_versions = 0;
        self.index.clear();
        self.lines.clear();
        self.free.clear();
        for elevator in &mut self.elevators {
            elevator.stripes.clear();
        }
    }

    /// The next stripe of `array` to destage in elevator order (upwards, then from the lowest again), passing over
    /// those for which `is_busy` is true. Its lines become going; gives the stripe, the list of its lines and their
    /// number, and puts their sectors into `extents`, by address, adjacent ones joined.
    pub fn begin_destage(
        &mut self,
        array: u16,
        is_busy: impl Fn(u64) -> bool,
        extents: &mut Vec<Extent>,
    ) -> Option<(u64, Link, u32)> {
        let elevator = &mut self.elevators[array as usize];
        let stripe = elevator
            .stripes
            .range(elevator.position..)
            .chain(elevator.stripes.range(..elevator.position))
            .map(|(&stripe, _)| stripe)
            .find(|&stripe| !is_busy(stripe))?;
        elevator.position = stripe + 1;
        let (lines, count) = self.begin_destage_of(array, stripe, extents)?;
        Some((stripe, lines, count))
    }

    /// Starts the destage of `stripe`, like [`begin_destage`](Self::begin_destage). Precondition: none of its lines is
    /// going.
    pub fn begin_destage_of(
        &mut self,
        array: u16,
        stripe: u64,
        extents: &mut Vec<Extent>,
    ) -> Option<(Link, u32)> {
        let mut link = self.elevators[array as usize].stripes.remove(&stripe)?;
        let mut going = Link::END;
        self.scratch.clear();
        while let Some(slot) = link.get() {
            let entry = &mut self.lines[slot as usize];
            link = entry.next;
            entry.going = entry.dirty;
            entry.dirty = 0;
            entry.next_going = going;
            going = Link::to(slot);
            self.scratch.push((entry.key & ((1 << ARRAY_SHIFT) - 1), entry.going));
        }
        self.scratch.sort_unstable();
        extents.clear();
        for &(line, mask) in &self.scratch {
            join_runs(line * self.line_sectors, mask, extents);
        }
        Some((going, self.scratch.len() as u32))
    }

    /// The lines of a destage are on the disks: those not written again meanwhile become free. Calls `each` with the
    /// number of every line. Gives the sectors that were destaged.
    pub fn end_destage(&mut self, mut going: Link, mut each: impl FnMut(u64)) -> u64 {
        let mut destaged = 0;
        while let Some(slot) = going.get() {
            let line = &mut self.lines[slot as usize];
            going = line.next_going;
            destaged += u64::from(line.going.count_ones());
            line.going = 0;
            each(line.key & ((1 << ARRAY_SHIFT) - 1));
            if line.dirty == 0 {
                let key = line.key;
                self.index.remove(&key);
                self.free.push(slot);
            } else {
                self.second_versions -= 1;
            }
        }
        self.dirty_sectors -= destaged;
        destaged
    }
}

/// Appends the runs of set bits of `mask`, the lowest standing for sector `base`.
fn join_runs(base: u64, mut mask: u64, extents: &mut Vec<Extent>) {
    let mut sector = base;
    while mask != 0 {
        let skip = mask.trailing_zeros();
        mask >>= skip;
        let run = mask.trailing_ones();
        sector += u64::from(skip);
        match extents.last_mut() {
            Some(last) if last.lba.0 + last.sectors.0 == sector => last.sectors.0 += u64::from(run),
            _ => extents.push(Extent { lba: Lba(sector), sectors: Sectors(u64::from(run)) }),
        }
        sector += u64::from(run);
        mask = if run == 64 { 0 } else { mask >> run };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(lines: u64) -> WriteCache {
        // Lines of 4 KiB, stripes of four lines.
        WriteCache::new(Bytes(lines * 4096), Bytes(4096), &[Sectors(32)])
    }

    fn extents(pairs: &[(u64, u64)]) -> Vec<Extent> {
        pairs.iter().map(|&(lba, n)| Extent { lba: Lba(lba), sectors: Sectors(n) }).collect()
    }

    #[test]
    fn a_full_cache_takes_overwrites_only() {
        let mut cache = cache(2);
        assert_eq!(cache.accept(0, 0, 0xff, true), Accepted::In { absorbed: 0, was_dirty: false });
        assert_eq!(cache.accept(0, 9, 0x0f, true), Accepted::In { absorbed: 0, was_dirty: false });
        assert_eq!(cache.accept(0, 5, 0x01, true), Accepted::Full);
        assert_eq!(cache.accept(0, 9, 0x3c, true), Accepted::In { absorbed: 2, was_dirty: true });
        assert_eq!(cache.dirty_sectors(), 8 + 6);
        assert!(cache.holds(0, 9, 0x3f) && !cache.holds(0, 9, 0x40));
    }

    #[test]
    fn a_stripe_leaves_as_joined_extents_in_elevator_order() {
        let mut cache = cache(16);
        for (line, mask) in [(6, 0xff), (0, 0xff), (1, 0x0f), (3, 0x01), (4, 0xf0)] {
            cache.accept(0, line, mask, true);
        }
        let mut out = Vec::new();
        let (stripe, first, _) = cache.begin_destage(0, |_| false, &mut out).unwrap();
        assert_eq!((stripe, &out), (0, &extents(&[(0, 12), (24, 1)])));
        let (stripe, second, _) = cache.begin_destage(0, |_| false, &mut out).unwrap();
        assert_eq!((stripe, &out), (1, &extents(&[(36, 4), (48, 8)])));
        assert!(cache.begin_destage(0, |_| false, &mut out).is_none());
        assert_eq!(cache.end_destage(first, |_| ()), 13);
        assert_eq!(cache.end_destage(second, |_| ()), 12);
        assert_eq!((cache.used(), cache.dirty_sectors()), (0, 0));
    }

    #[test]
    fn a_line_written_while_it_is_going_stays_dirty() {
        let mut cache = cache(4);
        cache.accept(0, 0, 0x0f, true);
        let mut out = Vec::new();
        let (_, going, _) = cache.begin_destage(0, |_| false, &mut out).unwrap();
        assert_eq!(cache.accept(0, 0, 0x03, true), Accepted::In { absorbed: 0, was_dirty: false });
        assert!(cache.begin_destage(0, |stripe| stripe == 0, &mut out).is_none());
        assert_eq!(cache.end_destage(going, |_| ()), 4);
        assert_eq!((cache.used(), cache.dirty_sectors()), (1, 2));
        assert!(cache.begin_destage(0, |_| false, &mut out).is_some());
        assert_eq!(out, extents(&[(0, 2)]));
    }

    #[test]
    fn a_second_version_takes_a_line_of_its_own() {
        let mut cache = cache(1);
        cache.accept(0, 0, 0x0f, true);
        let (_, going, _) = cache.begin_destage(0, |_| false, &mut Vec::new()).unwrap();
        assert_eq!(cache.accept(0, 0, 0x01, true), Accepted::Full);
        cache.end_destage(going, |_| ());
        assert_eq!(cache.accept(0, 0, 0x01, true), Accepted::In { absorbed: 0, was_dirty: false });
    }

    #[test]
    fn a_power_cut_makes_what_was_going_dirty_again() {
        let mut cache = cache(8);
        cache.accept(0, 0, 0x0f, true);
        cache.accept(0, 5, 0xff, true);
        let mut out = Vec::new();
        cache.begin_destage(0, |_| false, &mut out).unwrap();
        cache.accept(0, 0, 0x18, true);
        cache.cut_power();
        assert_eq!((cache.used(), cache.dirty_sectors()), (2, 5 + 8));
        assert!(cache.is_dirty(0, 0) && cache.is_dirty(0, 1));
        let mut order = Vec::new();
        while let Some((stripe, lines, count)) = cache.begin_destage(0, |_| false, &mut out) {
            order.push((stripe, count, out.clone(), cache.end_destage(lines, |_| ())));
        }
        assert_eq!(order, [(1, 1, extents(&[(40, 8)]), 8), (0, 1, extents(&[(0, 5)]), 5)]);
        assert_eq!((cache.used(), cache.dirty_sectors()), (0, 0));
        cache.accept(0, 3, 0xff, true);
        cache.lose_all();
        assert_eq!((cache.used(), cache.dirty_sectors(), cache.has_dirty(0)), (0, 0, false));
    }

    #[test]
    fn the_elevator_goes_up_and_starts_again_at_the_lowest() {
        let mut cache = cache(16);
        let mut out = Vec::new();
        let mut order = Vec::new();
        for stripe in [5, 2, 9] {
            cache.accept(0, stripe * 4, 1, true);
        }
        order.push(cache.begin_destage(0, |_| false, &mut out).unwrap().0);
        order.push(cache.begin_destage(0, |_| false, &mut out).unwrap().0);
        cache.accept(0, 3 * 4, 1, true);
        while let Some((stripe, _, _)) = cache.begin_destage(0, |_| false, &mut out) {
            order.push(stripe);
        }
        assert_eq!(order, [2, 5, 9, 3]);
    }
}
