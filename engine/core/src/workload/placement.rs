//! The placement of a footprint on an array.

use std::cell::Cell;

use super::permutation::Permutation;
use crate::config::Placement;
use crate::divisor::Divisor;
use crate::rng::RandomStream;
use crate::units::Sectors;

/// The map from positions in a footprint to addresses on the array. All sizes in sectors.
#[derive(Clone, Debug)]
pub(super) enum PlacementMap {
    Contiguous { offset: u64 },
    Extents { extent: Divisor, order: SlotOrder },
}

#[derive(Clone, Debug)]
pub(super) enum SlotOrder {
    Scattered(Scatter),
    Spread { extents: u64, slots: u64 },
}

impl PlacementMap {
    /// The map of a footprint of `footprint` sectors on an array of `capacity`; `stream` draws the scatter.
    pub fn new(placement: Placement, footprint: u64, capacity: Sectors, stream: &mut RandomStream) -> Self {
        let region = placement.region(capacity.bytes()).sectors();
        let slots = |extent: u64| (region.0 / extent).max(1);
        match placement {
            Placement::Contiguous { offset } => Self::Contiguous { offset: offset.sectors().0 },
            Placement::Scattered { extent, .. } => {
                let extent = extent.sectors().0;
                let scatter = Scatter::new(slots(extent), footprint.div_ceil(extent), stream);
                let order = SlotOrder::Scattered(scatter);
                Self::Extents { extent: Divisor::new(extent), order }
            }
            Placement::Spread { extent, .. } => {
                let extent = extent.sectors().0;
                let extents = footprint.div_ceil(extent);
                let order = SlotOrder::Spread { extents, slots: slots(extent) };
                Self::Extents { extent: Divisor::new(extent), order }
            }
        }
    }

    /// The address of a request of `sectors` at `position` of the footprint.
    #[inline]
    pub fn place(&self, position: u64, sectors: u64, alignment: u64) -> u64 {
        match self {
            Self::Contiguous { offset } => offset + position,
            Self::Extents { extent, order } => {
                let (index, rest) = extent.div_rem(position);
                // A request does not cross from one extent into another.
                let last = (extent.get() - sectors) / alignment * alignment;
                let within = rest.min(last);
                let slot = match order {
                    SlotOrder::Scattered(scatter) => scatter.apply(index),
                    SlotOrder::Spread { extents, slots } => {
                        (u128::from(index) * u128::from(*slots) / u128::from(*extents)) as u64
                    }
                };
                slot * extent.get() + within
            }
        }
    }
}

/// Maximum number of slots that are remembered: more would drive other data out of the processor's caches.
const REMEMBERED: u64 = 1 << 16;

/// A permutation that remembers its images: one takes dozens of operations, each of which waits for the last.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    permutation: Permutation,
    /// Slots + 1 of the extents; 0 where not computed yet.
    images: Box<[Cell<u32>]>,
}

impl Scatter {
    /// A permutation of `slots` slots for `extents` extents, drawn from `stream`.
    fn new(slots: u64, extents: u64, stream: &mut RandomStream) -> Self {
        let is_remembered = extents <= REMEMBERED && slots < u64::from(u32::MAX);
        let remembered = if is_remembered { extents } else { 0 };
        Self {
            permutation: Permutation::new(slots, stream),
            images: (0..remembered).map(|_| Cell::new(0)).collect(),
        }
    }

    /// The slot of an extent.
    #[inline]
    fn apply(&self, extent: u64) -> u64 {
        let Some(image) = self.images.get(extent as usize) else { return self.permutation.apply(extent) };
        if image.get() == 0 {
            image.set(self.permutation.apply(extent) as u32 + 1);
        }
        u64::from(image.get()) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;
    use crate::units::{Bytes, Fraction};

    #[test]
    fn extents_lie_in_their_share_of_the_array_and_reach_its_end() {
        let (capacity, extent) = (Sectors(1 << 24), Bytes(1 << 20));
        for share in [0.1, 0.5, 0.999, 1.0] {
            let end = (capacity.0 as f64 * share) as u64;
            for placement in [
                Placement::Scattered { extent, share: Fraction(share) },
                Placement::Spread { extent, share: Fraction(share) },
            ] {
                let footprint = placement.default_footprint(capacity.bytes()).sectors().0;
                let mut stream = RandomStream::named(2, 0, "share", 0, Purpose::Placement);
                let map = PlacementMap::new(placement, footprint, capacity, &mut stream);
                let slots: std::collections::BTreeSet<u64> =
                    (0..footprint).step_by(2048).map(|position| map.place(position, 8, 8)).collect();
                assert_eq!(slots.len() as u64, footprint / 2048, "each extent has a place of its own");
                let last = slots.last().copied().unwrap_or_default();
                assert!(last + 2048 <= end && end < last + 2 * 2048, "{placement:?}: {last} of {end}");
            }
        }
    }

    #[test]
    fn remembered_slots_are_those_of_the_permutation() {
        let mut stream = RandomStream::named(2, 0, "scatter", 0, Purpose::Placement);
        for extents in [100, REMEMBERED + 1] {
            let scatter = Scatter::new(70_000, extents, &mut stream.clone());
            let permutation = Permutation::new(70_000, &mut stream);
            for extent in (0..100).chain(0..100) {
                assert_eq!(scatter.apply(extent), permutation.apply(extent));
            }
        }
    }
}
