//! Where a footprint lies on an array.

use super::Permutation;
use crate::config::Placement;
use crate::rng::RandomStream;
use crate::units::Sectors;

/// The map from places of a footprint to those of the array. All sizes in sectors.
#[derive(Clone, Copy, Debug)]
pub(super) enum Map {
    Contiguous { offset: u64 },
    Extents { extent: u64, order: Order },
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    Scattered(Permutation),
    Spread { extents: u64, slots: u64 },
}

impl Map {
    /// Where a footprint of `footprint` sectors lies on an array of `capacity`; `stream` draws the scatter.
    pub fn new(placement: Placement, footprint: u64, capacity: Sectors, stream: &mut RandomStream) -> Self {
        let slots = |extent: u64| (capacity.0 / extent).max(1);
        match placement {
            Placement::Contiguous { offset } => Self::Contiguous { offset: offset.sectors().0 },
            Placement::Scattered { extent } => {
                let extent = extent.sectors().0;
                let order = Order::Scattered(Permutation::new(slots(extent), stream));
                Self::Extents { extent, order }
            }
            Placement::Spread { extent } => {
                let extent = extent.sectors().0;
                let extents = footprint.div_ceil(extent);
                Self::Extents { extent, order: Order::Spread { extents, slots: slots(extent) } }
            }
        }
    }

    /// Where the request of `sectors` at `position` of the footprint lies.
    #[inline]
    pub fn place(&self, position: u64, sectors: u64, alignment: u64) -> u64 {
        match self {
            Self::Contiguous { offset } => offset + position,
            Self::Extents { extent, order } => {
                let index = position / extent;
                // A request does not cross from one extent into another.
                let last = (extent - sectors) / alignment * alignment;
                let within = (position % extent).min(last);
                let slot = match order {
                    Order::Scattered(permutation) => permutation.apply(index),
                    Order::Spread { extents, slots } => {
                        (u128::from(index) * u128::from(*slots) / u128::from(*extents)) as u64
                    }
                };
                slot * extent + within
            }
        }
    }
}
