//! The groups of each array by age, for caches with an age limit.

use crate::slab::Link;
use crate::units::SimTime;

#[derive(Clone, Copy, Debug)]
struct Age {
    /// Time at which its first line became dirty.
    since: SimTime,
    newer: Link,
    older: Link,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    newest: Link,
    oldest: Link,
}

/// The order in which groups became dirty.
#[derive(Debug)]
pub(super) struct Ages {
    /// Entries by group.
    ages: Vec<Age>,
    arrays: Box<[Ends]>,
}

impl Ages {
    /// An empty order for a number of arrays.
    pub fn new(arrays: usize) -> Self {
        Self { ages: Vec::new(), arrays: vec![Ends { newest: Link::END, oldest: Link::END }; arrays].into() }
    }

    /// Adds `group` of `array`, which has its first dirty line. Precondition: none is newer than `now`.
    pub fn enter(&mut self, group: u32, array: u16, now: SimTime) {
        let ends = &mut self.arrays[array as usize];
        let age = Age { since: now, newer: Link::END, older: ends.newest };
        if group as usize >= self.ages.len() {
            self.ages.resize(group as usize + 1, age);
        }
        self.ages[group as usize] = age;
        match ends.newest.get() {
            Some(newest) => self.ages[newest as usize].newer = Link::to(group),
            None => ends.oldest = Link::to(group),
        }
        ends.newest = Link::to(group);
    }

    /// Removes `group` of `array`.
    pub fn leave(&mut self, group: u32, array: u16) {
        let ends = &mut self.arrays[array as usize];
        let Age { newer, older, .. } = self.ages[group as usize];
        match newer.get() {
            Some(newer) => self.ages[newer as usize].older = older,
            None => ends.newest = older,
        }
        match older.get() {
            Some(older) => self.ages[older as usize].newer = newer,
            None => ends.oldest = newer,
        }
    }

    /// Time at which a group became dirty.
    #[cfg(test)]
    pub fn since(&self, group: u32) -> SimTime {
        self.ages[group as usize].since
    }

    /// The groups of `array` and the times at which they became dirty, oldest first.
    pub fn of(&self, array: u16) -> impl Iterator<Item = (u32, SimTime)> {
        let mut next = self.arrays[array as usize].oldest;
        std::iter::from_fn(move || {
            let group = next.get()?;
            let age = self.ages[group as usize];
            next = age.newer;
            Some((group, age.since))
        })
    }
}
