//! Groups: the dirty lines of one stripe, which leave together; by stripe, and by age where there is an age limit.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::key;
use crate::destage::Place;
use crate::slab::Link;
use crate::units::SimTime;

/// The dirty lines of one stripe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub place: Place,
    /// Its first line; the others follow by their own links.
    pub first: Link,
    /// Dirty lines; none in a place that is free.
    pub lines: u32,
    /// Dirty sectors in them.
    pub sectors: u64,
    /// The line that was written last.
    pub last_line: u64,
    /// When its first line became dirty.
    pub since: SimTime,
    newer: Link,
    older: Link,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    newest: Link,
    oldest: Link,
}

/// The groups of all arrays.
#[derive(Debug)]
pub(super) struct Groups {
    index: HashMap<u64, u32, FxBuildHasher>,
    entries: Vec<Group>,
    free: Vec<u32>,
    /// The group added last: a write of several lines mostly stays in one stripe.
    latest: u32,
    /// The number of groups of each array.
    counts: Box<[u32]>,
    /// The groups of each array, from the one that became dirty first on, where there is an age limit.
    by_age: Option<Box<[Ends]>>,
}

impl Groups {
    pub fn new(arrays: usize, has_age_limit: bool) -> Self {
        let ends = Ends { newest: Link::END, oldest: Link::END };
        Self {
            index: HashMap::default(),
            entries: Vec::new(),
            free: Vec::new(),
            latest: 0,
            counts: vec![0; arrays].into(),
            by_age: has_age_limit.then(|| vec![ends; arrays].into()),
        }
    }

    /// The group of a stripe, where it has one.
    #[inline]
    pub fn find(&self, place: Place) -> Option<u32> {
        if self.entries.get(self.latest as usize).is_some_and(|entry| entry.lines > 0 && entry.place == place) {
            return Some(self.latest);
        }
        self.index.get(&key(place.array, place.stripe)).copied()
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
    pub fn add(&mut self, place: Place, now: SimTime) -> u32 {
        let entry = Group {
            place,
            first: Link::END,
            lines: 0,
            sectors: 0,
            last_line: u64::MAX,
            since: now,
            newer: Link::END,
            older: Link::END,
        };
        let group = if let Some(group) = self.free.pop() {
            self.entries[group as usize] = entry;
            group
        } else {
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        };
        if let Some(by_age) = &mut self.by_age {
            let ends = &mut by_age[place.array as usize];
            self.entries[group as usize].older = ends.newest;
            match ends.newest.get() {
                Some(newest) => self.entries[newest as usize].newer = Link::to(group),
                None => ends.oldest = Link::to(group),
            }
            ends.newest = Link::to(group);
        }
        self.index.insert(key(place.array, place.stripe), group);
        self.counts[place.array as usize] += 1;
        self.latest = group;
        group
    }

    /// Takes a group out and gives it.
    pub fn remove(&mut self, group: u32) -> Group {
        let entry = self.entries[group as usize];
        if let Some(by_age) = &mut self.by_age {
            let ends = &mut by_age[entry.place.array as usize];
            match entry.newer.get() {
                Some(newer) => self.entries[newer as usize].older = entry.older,
                None => ends.newest = entry.older,
            }
            match entry.older.get() {
                Some(older) => self.entries[older as usize].newer = entry.newer,
                None => ends.oldest = entry.newer,
            }
        }
        self.entries[group as usize].lines = 0;
        self.index.remove(&key(entry.place.array, entry.place.stripe));
        self.counts[entry.place.array as usize] -= 1;
        self.free.push(group);
        entry
    }

    /// The groups of `array`, from the one that became dirty first on; none where there is no age limit.
    pub fn by_age(&self, array: u16) -> impl Iterator<Item = (u32, &Group)> {
        let mut next = self.by_age.as_ref().and_then(|by_age| by_age[array as usize].oldest.get());
        std::iter::from_fn(move || {
            let group = next?;
            let entry = self.get(group);
            next = entry.newer.get();
            Some((group, entry))
        })
    }
}
