//! Groups: the dirty lines of one stripe, which leave together; by stripe, and by age where there is an age limit.

use super::ages::Ages;
use super::key;
use crate::destage::StripeId;
use crate::slab::Link;
use crate::slot_table::SlotTable;
use crate::units::SimTime;

/// The dirty lines of one stripe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub place: StripeId,
    /// Its first line; the others follow by their own links.
    pub first: Link,
    /// Dirty lines; none in a place that is free.
    pub lines: u32,
    /// Dirty sectors in them.
    pub sectors: u64,
    /// The line that was written last.
    pub last_line: u64,
}

/// The groups of all arrays.
#[derive(Debug)]
pub(super) struct Groups {
    index: SlotTable,
    entries: Vec<Group>,
    free: Vec<u32>,
    /// The group added last: a write of several lines mostly stays in one stripe.
    latest: u32,
    /// The number of groups of each array.
    counts: Box<[u32]>,
    /// Where there is an age limit.
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

    /// The group of a stripe, where it has one.
    #[inline]
    pub fn find(&self, place: StripeId) -> Option<u32> {
        if self.entries.get(self.latest as usize).is_some_and(|entry| entry.lines > 0 && entry.place == place)
        {
            return Some(self.latest);
        }
        let is_of = |group: u32| self.entries[group as usize].place == place;
        self.index.find(key(place.array, place.stripe), is_of)
    }

    /// The number of groups of `array`.
    #[inline]
    pub fn count(&self, array: u16) -> u32 {
        self.counts[array as usize]
    }

    /// All groups. Takes time for all places: for rare events.
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
        let entry = Group { place, first: Link::END, lines: 0, sectors: 0, last_line: u64::MAX };
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
        self.index.insert(key(place.array, place.stripe), group);
        self.counts[place.array as usize] += 1;
        self.latest = group;
        group
    }

    /// Takes a group out and gives it.
    #[inline]
    pub fn remove(&mut self, group: u32) -> Group {
        let entry = self.entries[group as usize];
        let StripeId { array, stripe } = entry.place;
        if let Some(ages) = &mut self.ages {
            ages.leave(group, array);
        }
        self.entries[group as usize].lines = 0;
        self.index.remove(key(array, stripe), group);
        self.counts[array as usize] -= 1;
        self.free.push(group);
        entry
    }

    /// The groups of `array` and when each became dirty, the first to do so first; none where there is no age limit.
    pub fn by_age(&self, array: u16) -> impl Iterator<Item = (u32, SimTime)> {
        self.ages.iter().flat_map(move |ages| ages.of(array))
    }

    /// When a group became dirty, where there is an age limit.
    #[cfg(test)]
    pub fn since(&self, group: u32) -> Option<SimTime> {
        self.ages.as_ref().map(|ages| ages.since(group))
    }
}
