//! Elevator: stripes in the order of an upward sweep that wraps to the lowest.

use super::stripe_set::StripeSet;
use super::{DestagePolicy, Occupancy, StripeId, WaterMarks, Write};

/// The dirty stripes of one array, and the position of the sweep.
#[derive(Debug, Default)]
pub struct Elevator {
    stripes: StripeSet,
    position: u64,
}

impl Elevator {
    /// Adds a stripe.
    #[inline]
    pub fn enter(&mut self, stripe: u64) {
        self.stripes.insert(stripe);
    }

    /// Removes a stripe, if present.
    #[inline]
    pub fn leave(&mut self, stripe: u64) {
        self.stripes.remove(stripe);
    }

    /// The sweep continues after `stripe`.
    #[inline]
    pub fn pass(&mut self, stripe: u64) {
        self.position = stripe + 1;
    }

    /// The next stripe of the sweep for which `passes` is true, from the position upwards and then from the lowest; the
    /// sweep continues after it.
    #[inline]
    pub fn choose(&mut self, mut passes: impl FnMut(u64) -> bool) -> Option<u64> {
        let (mut from, mut end) = (self.position, u64::MAX);
        loop {
            match self.stripes.next_from(from).filter(|&stripe| stripe < end) {
                Some(stripe) if passes(stripe) => {
                    self.position = stripe + 1;
                    return Some(stripe);
                }
                Some(stripe) => from = stripe + 1,
                None if end == u64::MAX => (from, end) = (0, self.position),
                None => return None,
            }
        }
    }
}

/// Decides when stripes are destaged, and how many.
pub trait Trigger {
    /// Groups of one array that may be in flight now, at most `occupancy.limit`.
    fn allow(&mut self, occupancy: &Occupancy) -> u32;
}

/// Destage by address, started by a trigger.
#[derive(Debug)]
pub struct ByAddress<P> {
    arrays: Box<[Elevator]>,
    trigger: P,
}

impl<P: From<WaterMarks>> ByAddress<P> {
    /// An empty order for a number of arrays, whose trigger has these marks.
    pub fn new(arrays: usize, marks: WaterMarks) -> Self {
        Self { arrays: (0..arrays).map(|_| Elevator::default()).collect(), trigger: marks.into() }
    }
}

impl<P: Trigger> DestagePolicy for ByAddress<P> {
    #[inline]
    fn enter(&mut self, _: u32, place: StripeId) {
        self.arrays[place.array as usize].enter(place.stripe);
    }

    #[inline]
    fn write(&mut self, _: u32, _: StripeId, _: Write) {}

    #[inline]
    fn leave(&mut self, _: u32, place: StripeId) {
        self.arrays[place.array as usize].leave(place.stripe);
    }

    #[inline]
    fn choose(&mut self, array: u16, is_busy: impl Fn(u64) -> bool) -> Option<u64> {
        self.arrays[array as usize].choose(|stripe| !is_busy(stripe))
    }

    #[inline]
    fn follow(&mut self, place: StripeId) -> bool {
        self.arrays[place.array as usize].pass(place.stripe);
        true
    }

    #[inline]
    fn allow(&mut self, occupancy: &Occupancy) -> u32 {
        self.trigger.allow(occupancy)
    }
}
