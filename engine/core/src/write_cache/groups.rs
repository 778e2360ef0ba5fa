//! Groups: the dirty lines of one stripe, which are destaged together; by stripe, and by age if there is an age limit.

use super::ages::Ages;
use super::{ARRAY_SHIFT, NUMBER, key};
use crate::destage::StripeId;
use crate::slab::Link;
use crate::slot_table::SlotTable;
use crate::units::SimTime;

/// The dirty lines of one stripe: half a line of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Group {
    /// Array and stripe.
    key: u64,
    /// First line; each line links to the next.
    pub first: Link,
    /// Dirty lines; 0 for a free entry.
    pub lines: u32,
    /// Dirty sectors.
    pub sectors: u64,
    /// Line that was written last.
    pub last_line: u64,
}

impl Group {
    /// Its stripe.
    #[inline]
    pub const fn place(&self) -> StripeId {
        StripeId { array: (self.key >> ARRAY_SHIFT) as u16, stripe: self.key & NUMBER }
    }
}

/// The groups of all arrays.
#[derive(Debug)]
pub(super) struct Groups {
    index: SlotTable,
    entries: Vec<Group>,
    free: Vec<u32>,
    /// Last group added, since a write of several lines usually stays in one stripe.
    latest: u32,
    /// Groups per array.
    counts: Box<[u32]>,
    /// Order by age, if there is an age limit.
    ages: Option<Ages>,
}

impl Groups {
    pub fn new(arrays: usize, has_age_limit: bool) -> Self {
        Self {
            index: SlotTable::default(),
            entries: Vec::new(),
            free: Vec::new(),
            latest: 0,
            counts: vec![0; arrays].into(),
            ages: has_age_limit.then(|| Ages::new(arrays)),
        }
    }

    /// The group of a stripe, if it has one.
    #[inline]
    pub fn find(&self, place: StripeId) -> Option<u32> {
        let key = key(place.array, place.stripe);
        if self.entries.get(self.latest as usize).is_some_and(|entry| entry.lines > 0 && entry.key == key) {
            return Some(self.latest);
        }
        self.index.find(key, |group| self.entries[group as usize].key)
    }

    /// Prefetches memory for a search for `place`.
    #[inline]
    pub fn expect(&self, place: StripeId) {
        self.index.expect(key(place.array, place.stripe));
    }

    /// The number of groups of `array`.
    #[inline]
    pub fn count(&self, array: u16) -> u32 {
        self.counts[array as usize]
    }

    /// All groups. Visits all entries, so only for rare events.
    pub fn all(&self) -> Vec<u32> {
        (0..self.entries.len() as u32).filter(|&group| self.get(group).lines > 0).collect()
    }

    #[inline]
    pub fn get(&self, group: u32) -> &Group {
        &self.entries[group as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, group: u32) -> &mut Group {
        &mut self.entries[group as usize]
    }

    /// A new, empty group. Precondition: the stripe has none, and no group is newer than `now`.
    #[inline]
    pub fn add(&mut self, place: StripeId, now: SimTime) -> u32 {
        let key = key(place.array, place.stripe);
        let entry = Group { key, first: Link::END, lines: 0, sectors: 0, last_line: u64::MAX };
        let group = if let Some(group) = self.free.pop() {
            self.entries[group as usize] = entry;
            group
        } else {
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        };
        if let Some(ages) = &mut self.ages {
            ages.enter(group, place.array, now);
        }
        let entries = &self.entries;
        self.index.insert(key, group, |group| entries[group as usize].key);
        self.counts[place.array as usize] += 1;
        self.latest = group;
        group
    }

    /// Removes and returns a group.
    #[inline]
    pub fn remove(&mut self, group: u32) -> Group {
        let entry = self.entries[group as usize];
        let array = entry.place().array;
        if let Some(ages) = &mut self.ages {
            ages.leave(group, array);
        }
        self.entries[group as usize].lines = 0;
        self.index.remove(entry.key, group);
        self.counts[array as usize] -= 1;
        self.free.push(group);
        entry
    }

    /// The groups of `array` and the times at which they became dirty, oldest first; empty without an age limit.
    pub fn by_age(&self, array: u16) -> impl Iterator<Item = (u32, SimTime)> {
        self.ages.iter().flat_map(move |ages| ages.of(array))
    }

    /// Time at which a group became dirty, if there is an age limit.
    #[cfg(test)]
    pub fn since(&self, group: u32) -> Option<SimTime> {
        self.ages.as_ref().map(|ages| ages.since(group))
    }
}
