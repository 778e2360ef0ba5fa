//! The placement of a footprint on an array.

use super::permutation::Permutation;
use crate::config::Placement;
use crate::rng::RandomStream;
use crate::units::Sectors;

/// The map from positions in a footprint to addresses on the array. All sizes in sectors.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlacementMap {
    Contiguous { offset: u64 },
    Extents { extent: u64, order: SlotOrder },
}

#[derive(Clone, Copy, Debug)]
pub(super) enum SlotOrder {
    Scattered(Permutation),
    Spread { extents: u64, slots: u64 },
}

impl PlacementMap {
    /// The map of a footprint of `footprint` sectors on an array of `capacity`; `stream` draws the scatter.
    pub fn new(placement: Placement, footprint: u64, capacity: Sectors, stream: &mut RandomStream) -> Self {
        let slots = |extent: u64| (capacity.0 / extent).max(1);
        match placement {
            Placement::Contiguous { offset } => Self::Contiguous { offset: offset.sectors().0 },
            Placement::Scattered { extent } => {
                let extent = extent.sectors().0;
                let order = SlotOrder::Scattered(Permutation::new(slots(extent), stream));
                Self::Extents { extent, order }
            }
            Placement::Spread { extent } => {
                let extent = extent.sectors().0;
                let extents = footprint.div_ceil(extent);
                Self::Extents { extent, order: SlotOrder::Spread { extents, slots: slots(extent) } }
            }
        }
    }

    /// The address of a request of `sectors` at `position` of the footprint.
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
                    SlotOrder::Scattered(permutation) => permutation.apply(index),
                    SlotOrder::Spread { extents, slots } => {
                        (u128::from(index) * u128::from(*slots) / u128::from(*extents)) as u64
                    }
                };
                slot * extent + within
            }
        }
    }
}
