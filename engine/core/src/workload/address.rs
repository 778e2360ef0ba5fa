//! Where requests go: an address process over a footprint that lies somewhere on the array.

use super::{Permutation, Zipf};
use crate::config::{Address, Placement};
use crate::rng::Stream;
use crate::units::{Bytes, Lba, Sectors};

#[derive(Clone, Copy, Debug)]
enum Pattern {
    Uniform,
    Zipf { ranks: Zipf, scatter: Permutation, block: u64 },
    Sequential { run: Option<u64> },
}

#[derive(Clone, Copy, Debug)]
enum Map {
    Contiguous { offset: u64 },
    Extents { extent: u64, order: Order },
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Scattered(Permutation),
    Spread { extents: u64, slots: u64 },
}

/// The part of an address process that all users of a stream share. All sizes in sectors.
#[derive(Clone, Copy, Debug)]
pub struct AddressModel {
    footprint: u64,
    pattern: Pattern,
    map: Map,
}

/// The part of an address process that each user has.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddressState {
    next: u64,
    left: u64,
    /// Whether the first sequential request goes to a random place.
    is_scattered: bool,
}

impl AddressState {
    /// The state of user `user` before its first request. The first user's sequence starts at the footprint's start;
    /// if all did, they would follow each other in lockstep.
    pub fn of_user(user: u32) -> Self {
        Self { is_scattered: user > 0, ..Self::default() }
    }
}

impl AddressModel {
    /// The process of a checked configuration on an array of `capacity`; `stream` draws the scatter.
    pub fn new(address: &Address, capacity: Sectors, stream: &mut Stream) -> Self {
        let (footprint, placement) = address.extent();
        let capacity = capacity.bytes();
        let footprint = footprint.unwrap_or_else(|| placement.default_footprint(capacity)).sectors().0;
        let pattern = match *address {
            Address::Uniform { .. } => Pattern::Uniform,
            Address::Zipf { exponent, block, .. } => {
                let block = block.sectors().0.min(footprint);
                let blocks = (footprint / block).max(1);
                Pattern::Zipf {
                    ranks: Zipf::new(blocks, exponent),
                    scatter: Permutation::new(blocks, stream),
                    block,
                }
            }
            Address::Sequential { run, .. } => {
                Pattern::Sequential { run: run.map(|run: Bytes| run.sectors().0) }
            }
        };
        let slots = |extent: u64| (capacity.sectors().0 / extent).max(1);
        let map = match placement {
            Placement::Contiguous { offset } => Map::Contiguous { offset: offset.sectors().0 },
            Placement::Scattered { extent } => {
                let extent = extent.sectors().0;
                let order = Order::Scattered(Permutation::new(slots(extent), stream));
                Map::Extents { extent, order }
            }
            Placement::Spread { extent } => {
                let extent = extent.sectors().0;
                let extents = footprint.div_ceil(extent);
                Map::Extents { extent, order: Order::Spread { extents, slots: slots(extent) } }
            }
        };
        Self { footprint, pattern, map }
    }

    /// The address of the next request, of `sectors` sectors, at a multiple of `alignment` sectors.
    #[inline]
    pub fn draw(&self, state: &mut AddressState, stream: &mut Stream, sectors: u64, alignment: u64) -> Lba {
        let place = |stream: &mut Stream, room: u64| {
            stream.below((room.saturating_sub(sectors)) / alignment + 1) * alignment
        };
        let position = match self.pattern {
            Pattern::Uniform => place(stream, self.footprint),
            Pattern::Zipf { ranks, scatter, block } => {
                let index = scatter.apply(ranks.rank(stream) - 1);
                let within = if sectors >= block { 0 } else { place(stream, block) };
                index * block + within
            }
            Pattern::Sequential { run } => {
                if let Some(run) = run
                    && state.left < sectors
                {
                    state.next = place(stream, self.footprint);
                    state.left = run;
                } else if run.is_none() && std::mem::take(&mut state.is_scattered) {
                    state.next = place(stream, self.footprint);
                }
                if state.next + sectors > self.footprint {
                    state.next = 0;
                }
                let position = state.next;
                state.next += sectors;
                state.left = state.left.saturating_sub(sectors);
                position
            }
        };
        Lba(self.place(position, sectors, alignment))
    }

    #[inline]
    fn place(&self, position: u64, sectors: u64, alignment: u64) -> u64 {
        match self.map {
            Map::Contiguous { offset } => offset + position,
            Map::Extents { extent, order } => {
                let index = position / extent;
                // A request does not cross from one extent into another.
                let last = (extent - sectors) / alignment * alignment;
                let within = (position % extent).min(last);
                let slot = match order {
                    Order::Scattered(permutation) => permutation.apply(index),
                    Order::Spread { extents, slots } => {
                        (u128::from(index) * u128::from(slots) / u128::from(extents)) as u64
                    }
                };
                slot * extent + within
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn draws(address: &Address, count: usize) -> Vec<u64> {
        let mut stream = Stream::named(1, 0, "a", 0, Purpose::Address);
        let model = AddressModel::new(address, Sectors(1 << 20), &mut stream);
        let mut state = AddressState::default();
        (0..count).map(|_| model.draw(&mut state, &mut stream, 16, 16).0).collect()
    }

    #[test]
    fn uniform_stays_in_its_footprint_and_covers_it() {
        let address = Address::Uniform {
            footprint: Some(Bytes(64 * 8192)),
            placement: Placement::Contiguous { offset: Bytes(1 << 20) },
        };
        let mut places = draws(&address, 4000);
        places.sort_unstable();
        places.dedup();
        let expected: Vec<u64> = (0..64).map(|i| 2048 + i * 16).collect();
        assert_eq!(places, expected);
    }

    #[test]
    fn sequential_runs_follow_on_and_wrap() {
        let endless = Address::Sequential {
            run: None,
            footprint: Some(Bytes(4 * 8192)),
            placement: Placement::default(),
        };
        assert_eq!(draws(&endless, 6), [0, 16, 32, 48, 0, 16]);
        let runs = Address::Sequential {
            run: Some(Bytes(4 * 8192)),
            footprint: None,
            placement: Placement::default(),
        };
        let places = draws(&runs, 400);
        let breaks = places.windows(2).filter(|pair| pair[1] != pair[0] + 16).count();
        assert!((98..=100).contains(&breaks), "{breaks} breaks in 100 runs of four");
    }

    #[test]
    fn endless_sequences_of_other_users_start_elsewhere() {
        let address = Address::Sequential {
            run: None,
            footprint: Some(Bytes(64 << 20)),
            placement: Placement::default(),
        };
        let mut stream = Stream::named(1, 0, "a", 1, Purpose::Address);
        let model = AddressModel::new(&address, Sectors(1 << 20), &mut stream);
        let mut state = AddressState::of_user(1);
        let places: Vec<_> = (0..3).map(|_| model.draw(&mut state, &mut stream, 16, 16).0).collect();
        assert_ne!(places[0], 0);
        assert_eq!([places[1] - places[0], places[2] - places[1]], [16, 16]);
    }

    #[test]
    fn a_block_larger_than_the_footprint_stays_in_it() {
        let address = Address::Zipf {
            exponent: 1.0,
            block: Bytes(64 << 10),
            footprint: Some(Bytes(16 << 10)),
            placement: Placement::default(),
        };
        let mut places = draws(&address, 200);
        places.sort_unstable();
        places.dedup();
        assert_eq!(places, [0, 16]);
    }

    #[test]
    fn spread_extents_lie_at_equal_distances() {
        let address = Address::Uniform {
            footprint: Some(Bytes(4 << 20)),
            placement: Placement::Spread { extent: Bytes(1 << 20) },
        };
        let mut extents: Vec<u64> = draws(&address, 2000).iter().map(|lba| lba / 2048).collect();
        extents.sort_unstable();
        extents.dedup();
        assert_eq!(extents, [0, 128, 256, 384]);
    }

    #[test]
    fn scattered_extents_are_as_many_as_the_footprint_holds() {
        let address = Address::Uniform {
            footprint: Some(Bytes(8 << 20)),
            placement: Placement::Scattered { extent: Bytes(1 << 20) },
        };
        let mut extents: Vec<u64> = draws(&address, 2000).iter().map(|lba| lba / 2048).collect();
        extents.sort_unstable();
        extents.dedup();
        assert_eq!(extents.len(), 8);
        assert!(extents.iter().all(|&extent| extent < 512));
    }
}
