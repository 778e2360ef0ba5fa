//! Groups: the dirty lines of one stripe, which leave together; by stripe, and by age.

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
    /// Dirty lines.
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
    /// The groups of each array, from the one that became dirty first on.
    by_age: Box<[Ends]>,
}

impl Groups {
    pub fn new(arrays: usize) -> Self {
        Self {
            index: HashMap::default(),
            entries: Vec::new(),
            free: Vec::new(),
            by_age: vec![Ends { newest: Link::END, oldest: Link::END }; arrays].into(),
        }
    }

    /// The group of a stripe, where it has one.
    #[inline]
    pub fn find(&self, place: Place) -> Option<u32> {
        self.index.get(&key(place.array, place.stripe)).copied()
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
        let ends = &mut self.by_age[place.array as usize];
        let entry = Group {
            place,
            first: Link::END,
            lines: 0,
            sectors: 0,
            last_line: u64::MAX,
            since: now,
            newer: Link::END,
            older: ends.newest,
        };
        let group = if let Some(group) = self.free.pop() {
            self.entries[group as usize] = entry;
            group
        } else {
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        };
        match ends.newest.get() {
            Some(newest) => self.entries[newest as usize].newer = Link::to(group),
            None => ends.oldest = Link::to(group),
        }
        ends.newest = Link::to(group);
        self.index.insert(key(place.array, place.stripe), group);
        group
    }

    /// Takes a group out and gives it.
    pub fn remove(&mut self, group: u32) -> Group {
        let entry = self.entries[group as usize];
        let ends = &mut self.by_age[entry.place.array as usize];
        match entry.newer.get() {
            Some(newer) => self.entries[newer as usize].older = entry.older,
            None => ends.newest = entry.older,
        }
        match entry.older.get() {
            Some(older) => self.entries[older as usize].newer = entry.newer,
            None => ends.oldest = entry.newer,
        }
        self.index.remove(&key(entry.place.array, entry.place.stripe));
        self.free.push(group);
        entry
    }

    /// The groups of `array`, from the one that became dirty first on.
    pub fn by_age(&self, array: u16) -> impl Iterator<Item = (u32, &Group)> {
        let mut next = self.oldest(array);
        std::iter::from_fn(move || {
            let group = next?;
            let entry = self.get(group);
            next = entry.newer.get();
            Some((group, entry))
        })
    }

    /// The group of `array` that became dirty first.
    #[inline]
    pub fn oldest(&self, array: u16) -> Option<u32> {
        self.by_age[array as usize].oldest.get()
    }
}
