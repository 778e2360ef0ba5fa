//! The elevator: stripes by address, in the order of a sweep upwards that starts again from the lowest.

use super::stripe_set::StripeSet;
use super::{DestagePolicy, Occupancy, StripeId, Write};

/// The dirty stripes of one array by address, and how far the sweep has come.
#[derive(Debug, Default)]
pub struct Elevator {
    stripes: StripeSet,
    position: u64,
}

impl Elevator {
    /// Puts a stripe in its place.
    #[inline]
    pub fn enter(&mut self, stripe: u64) {
        self.stripes.insert(stripe);
    }

    /// Takes a stripe out, where it is in.
    #[inline]
    pub fn leave(&mut self, stripe: u64) {
        self.stripes.remove(stripe);
    }

    /// The first stripe of the sweep that `passes`, from the position upwards and then from the lowest; the sweep goes on
    /// behind it.
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

/// When destage by address is due.
pub trait Trigger {
    /// Groups of one array that may be on their way now, at most `occupancy.limit`.
    fn allow(&mut self, occupancy: &Occupancy) -> u32;
}

/// Destage by address, at a trigger.
#[derive(Debug)]
pub struct ByAddress<P> {
    arrays: Box<[Elevator]>,
    trigger: P,
}

impl<P> ByAddress<P> {
    /// Empty, for a number of arrays.
    pub fn new(arrays: usize, trigger: P) -> Self {
        Self { arrays: (0..arrays).map(|_| Elevator::default()).collect(), trigger }
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
    fn allow(&mut self, occupancy: &Occupancy) -> u32 {
        self.trigger.allow(occupancy)
    }
}
