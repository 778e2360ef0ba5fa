//! The elevator: groups by address, in the order of a sweep upwards that starts again from the lowest.

use std::collections::BTreeMap;

use super::{DestagePolicy, Level, Place, Write};

/// The groups of one array by address, and how far the sweep has come.
#[derive(Debug, Default)]
pub struct Elevator {
    stripes: BTreeMap<u64, u32>,
    position: u64,
}

impl Elevator {
    /// Puts `group` in its place.
    #[inline]
    pub fn enter(&mut self, stripe: u64, group: u32) {
        self.stripes.insert(stripe, group);
    }

    /// Takes a group out.
    #[inline]
    pub fn leave(&mut self, stripe: u64) {
        self.stripes.remove(&stripe);
    }

    /// The groups from the position upwards, then from the lowest.
    #[inline]
    pub fn sweep(&self) -> impl Iterator<Item = (u64, u32)> {
        self.stripes
            .range(self.position..)
            .chain(self.stripes.range(..self.position))
            .map(|(&stripe, &group)| (stripe, group))
    }

    /// The sweep goes on behind `stripe`.
    #[inline]
    pub const fn advance(&mut self, stripe: u64) {
        self.position = stripe + 1;
    }

    /// The first group of the sweep that is not busy; the sweep goes on behind it.
    #[inline]
    pub fn choose(&mut self, is_busy: impl Fn(u64) -> bool) -> Option<u32> {
        let (stripe, group) = self.sweep().find(|&(stripe, _)| !is_busy(stripe))?;
        self.advance(stripe);
        Some(group)
    }
}

/// When destage by address is due.
pub trait Pace {
    /// Groups of one array that may be on their way now, at most `level.limit`.
    fn allow(&mut self, level: &Level) -> u32;
}

/// Destage by address, at a pace.
#[derive(Debug)]
pub struct ByAddress<P> {
    arrays: Box<[Elevator]>,
    pace: P,
}

impl<P> ByAddress<P> {
    /// Empty, for a number of arrays.
    pub fn new(arrays: usize, pace: P) -> Self {
        Self { arrays: (0..arrays).map(|_| Elevator::default()).collect(), pace }
    }
}

impl<P: Pace> DestagePolicy for ByAddress<P> {
    #[inline]
    fn enter(&mut self, group: u32, place: Place) {
        self.arrays[place.array as usize].enter(place.stripe, group);
    }

    #[inline]
    fn write(&mut self, _: u32, _: Place, _: Write) {}

    #[inline]
    fn leave(&mut self, _: u32, place: Place) {
        self.arrays[place.array as usize].leave(place.stripe);
    }

    #[inline]
    fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u32> {
        self.arrays[array as usize].choose(is_busy)
    }

    #[inline]
    fn allow(&mut self, level: &Level) -> u32 {
        self.pace.allow(level)
    }
}
