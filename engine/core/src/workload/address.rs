//! Address processes: where requests go, within a footprint that is placed on the array.

mod coverage;
mod normal_ranks;
mod pass;
mod zone_walk;
mod zones;

use std::cell::Cell;

use self::coverage::Coverage;
use self::normal_ranks::NormalRanks;
use self::pass::Pass;
use self::zone_walk::{ZoneVisit, ZoneWalk};
use self::zones::{Zone, lay_out};
use super::approximate_zipf::ApproximateZipf;
use super::lru_stack::LruStack;
use super::permutation::Permutation;
use super::placement::PlacementMap;
use super::reuse_walk::{ReuseWalk, WalkState};
use super::stack_distance_distribution::StackDistanceDistribution;
use super::zipf::Zipf;
use crate::config::{Address, Sampling};
use crate::rng::RandomStream;
use crate::units::{Bytes, Lba, Sectors};

#[derive(Clone, Debug)]
enum Pattern {
    /// Requests of `size` have `places`; the number for other sizes is computed per draw.
    Uniform {
        size: u64,
        places: u64,
    },
    /// Every place once per pass, in the same order in each.
    Cyclic {
        places: u64,
        unit: u64,
    },
    /// Every unit of `unit` sectors once per pass.
    Coverage {
        units: u64,
        unit: u64,
    },
    Zipf {
        ranks: Zipf,
        scatter: Permutation,
        block: u64,
    },
    ApproximateZipf {
        ranks: ApproximateZipf,
        scatter: Permutation,
        block: u64,
    },
    /// The rank of the block drawn is a uniform draw to this power (Gray et al.: Quickly generating billion-record
    /// synthetic databases, SIGMOD 1994, section 3.3).
    Pareto {
        power: f64,
        blocks: u64,
        scatter: Permutation,
        block: u64,
    },
    Normal {
        ranks: NormalRanks,
        scatter: Permutation,
        block: u64,
    },
    Zoned {
        zones: Box<[Zone]>,
    },
    Sequential {
        run: Option<u64>,
        /// Share of the requests to a random place.
        jumps: f64,
    },
    /// One sequence shared by all users.
    Log {
        next: Cell<u64>,
    },
    Strided {
        stride: u64,
    },
    StridedZones(ZoneWalk),
    StackDistance {
        distances: StackDistanceDistribution,
        blocks: u64,
        block: u64,
    },
    HierarchicalReuse {
        walk: Box<ReuseWalk>,
        block: u64,
    },
}

/// The part of an address process that all users of a stream share. All sizes in sectors.
#[derive(Clone, Debug)]
pub struct AddressModel {
    footprint: u64,
    is_per_user: bool,
    pattern: Pattern,
    map: PlacementMap,
}

/// The state of an address process for one user.
#[derive(Clone, Debug, Default)]
pub struct AddressState {
    /// Start of the user's own footprint in that of all users; 0 if it is shared.
    base: u64,
    next: u64,
    /// Sectors left of a run, or the shift of a strided pass.
    left: u64,
    /// Whether the first request of a sequence goes to a random place.
    is_scattered: bool,
    /// Whether the next request is a write: a reuse walk places reads and writes differently.
    pub is_write: bool,
    stack: Option<Box<LruStack>>,
    walk: Option<Box<WalkState>>,
    pass: Option<Box<Pass>>,
    coverage: Option<Box<Coverage>>,
    visit: Option<Box<ZoneVisit>>,
    /// Size of the last request if the pass shortened it [sectors]; 0 for no limit.
    limit: u64,
}

impl AddressState {
    /// The size of the request that was placed last, of `sectors` sectors or fewer.
    #[inline]
    pub const fn clip(&self, sectors: u64) -> u64 {
        if self.limit == 0 { sectors } else { self.limit }
    }

    /// The position of a request in the part of the range that its pass has not accessed; sets its length.
    fn draw_free(&mut self, stream: &mut RandomStream, sectors: u64, unit: u64) -> u64 {
        let Some(coverage) = self.coverage.as_mut() else { return 0 };
        let (first, units) = coverage.draw(stream, sectors.div_ceil(unit));
        self.limit = sectors.min(units * unit);
        first * unit
    }
}

impl AddressModel {
    /// The process of a checked configuration on an array of `capacity`, for requests of up to `largest` at multiples
    /// of `alignment`; `stream` draws the scatter. `users` is the number of footprints if each user has its own.
    pub fn new(
        address: &Address,
        capacity: Sectors,
        (largest, alignment): (Sectors, Option<Sectors>),
        users: u32,
        stream: &mut RandomStream,
    ) -> Self {
        let (_, placement) = address.extent();
        let footprint = address.footprint(capacity.bytes()).sectors().0;
        let block = address.block().map_or(footprint, |block| block.sectors().0.min(footprint));
        let blocks = (footprint / block.max(1)).max(1);
        let pattern = match address {
            Address::Uniform { sampling, .. } => {
                let unit = alignment.unwrap_or(largest).0;
                let places = (footprint - largest.0) / unit + 1;
                match sampling {
                    Sampling::Independent => Pattern::Uniform { size: largest.0, places },
                    Sampling::WithoutReplacement => {
                        Pattern::Coverage { units: places.max(footprint / unit), unit }
                    }
                    Sampling::Cyclic => Pattern::Cyclic { places, unit },
                }
            }
            Address::Zipf { exponent, approximate: true, .. } => Pattern::ApproximateZipf {
                ranks: ApproximateZipf::new(blocks, *exponent),
                scatter: Permutation::new(blocks, stream),
                block,
            },
            Address::Zipf { exponent, .. } => Pattern::Zipf {
                ranks: Zipf::new(blocks, *exponent),
                scatter: Permutation::new(blocks, stream),
                block,
            },
            Address::Pareto { hot_fraction, .. } => Pattern::Pareto {
                power: libm::log(*hot_fraction) / libm::log1p(-hot_fraction),
                blocks,
                scatter: Permutation::new(blocks, stream),
                block,
            },
            Address::Normal { deviation, width, .. } => Pattern::Normal {
                ranks: NormalRanks { count: blocks, deviation: *deviation, width: width.0 },
                scatter: Permutation::new(blocks, stream),
                block,
            },
            Address::HotCold { .. } | Address::Zoned { .. } => {
                let zones = address.zones().unwrap_or_default();
                let grain = alignment.filter(|grain| largest.0.is_multiple_of(grain.0)).unwrap_or(largest).0;
                Pattern::Zoned { zones: lay_out(&zones, footprint, largest.0, grain) }
            }
            Address::Sequential { common: true, .. } => Pattern::Log { next: Cell::new(0) },
            Address::Sequential { run, jump_fraction, .. } => Pattern::Sequential {
                run: run.map(|run: Bytes| run.sectors().0),
                jumps: jump_fraction.map_or(0.0, |share| share.0),
            },
            Address::Strided { stride, .. } => Pattern::Strided { stride: stride.sectors().0 },
            Address::StridedZones { zone, skip, accessed, sampling, .. } => {
                let unit = alignment.unwrap_or(largest);
                Pattern::StridedZones(ZoneWalk::new(
                    (*zone, *skip, accessed.unwrap_or(*zone)),
                    *sampling,
                    unit,
                    footprint,
                ))
            }
            Address::StackDistance { curve, .. } => Pattern::StackDistance {
                distances: StackDistanceDistribution::new(curve, block, blocks),
                blocks,
                block,
            },
            Address::HierarchicalReuse { .. } => Pattern::HierarchicalReuse {
                walk: Box::new(ReuseWalk::new(address, footprint, users)),
                block,
            },
        };
        let is_per_user = address.is_per_user();
        let all = if is_per_user { footprint * u64::from(users) } else { footprint };
        let map = PlacementMap::new(placement, all, capacity, stream);
        Self { footprint, is_per_user, pattern, map }
    }

    /// The state of user `user` before its first request; `stream` draws its stack or
    /// the start of its walk. Only the first user's sequence starts
    /// at the start of the footprint; otherwise all would run in lockstep.
    pub fn state(&self, user: u32, stream: &mut RandomStream) -> AddressState {
        let stack = match &self.pattern {
            Pattern::StackDistance { blocks, .. } => {
                Some(Box::new(LruStack::new(*blocks, &Permutation::new(*blocks, stream))))
            }
            _ => None,
        };
        let walk = match &self.pattern {
            Pattern::HierarchicalReuse { walk, .. } => Some(Box::new(walk.start(user, stream))),
            _ => None,
        };
        let coverage = match self.pattern {
            Pattern::Coverage { units, .. } => Some(Box::new(Coverage::new(units))),
            _ => None,
        };
        AddressState {
            base: if self.is_per_user { u64::from(user) * self.footprint } else { 0 },
            is_scattered: user > 0 && !self.is_per_user,
            stack,
            walk,
            coverage,
            ..AddressState::default()
        }
    }

    /// Moves `state` to where `twin` is. What users share does not move.
    pub fn follow(&self, state: &mut AddressState, twin: &mut AddressState) {
        // A run begins at a random place, so that it finds cached data by chance only.
        if !matches!(self.pattern, Pattern::Sequential { run: Some(_), .. }) {
            *state = std::mem::take(twin);
        }
    }

    /// The address of the next request, of `sectors` sectors, at a multiple of `alignment` sectors.
    #[inline]
    pub fn draw(
        &self,
        state: &mut AddressState,
        stream: &mut RandomStream,
        sectors: u64,
        alignment: u64,
    ) -> Lba {
        let position = match &self.pattern {
            Pattern::Uniform { size, places } if sectors == *size => stream.below(*places) * alignment,
            _ => self.position(state, stream, sectors, alignment),
        };
        Lba(self.map.place(state.base + position, sectors, alignment))
    }

    /// The position of the next request in its footprint.
    #[inline(never)]
    fn position(
        &self,
        state: &mut AddressState,
        stream: &mut RandomStream,
        sectors: u64,
        alignment: u64,
    ) -> u64 {
        let place = |stream: &mut RandomStream, room: u64| {
            stream.below((room.saturating_sub(sectors)) / alignment + 1) * alignment
        };
        let in_block = |stream: &mut RandomStream, index: u64, block: u64| {
            let within = if sectors >= block { 0 } else { place(stream, block) };
            let start = index * block + within;
            // Of a request larger than the block, the end may lie beyond the footprint.
            if sectors > block {
                start.min((self.footprint - sectors) / alignment * alignment)
            } else {
                start
            }
        };
        match &self.pattern {
            Pattern::Uniform { .. } => place(stream, self.footprint),
            Pattern::Cyclic { places, unit } => {
                // Of several sizes, the smaller ones have their places among those of the largest.
                state.pass.get_or_insert_default().next(*places, stream) * unit
            }
            Pattern::Coverage { unit, .. } => state.draw_free(stream, sectors, *unit),
            Pattern::Zipf { ranks, scatter, block } => {
                let index = scatter.apply(ranks.rank(stream) - 1);
                in_block(stream, index, *block)
            }
            Pattern::ApproximateZipf { ranks, scatter, block } => {
                let index = scatter.apply(ranks.rank(stream) - 1);
                in_block(stream, index, *block)
            }
            Pattern::Pareto { power, blocks, scatter, block } => {
                let share = libm::pow(stream.unit(), *power);
                let rank = ((share * *blocks as f64) as u64).min(blocks - 1);
                in_block(stream, scatter.apply(rank), *block)
            }
            Pattern::Normal { ranks, scatter, block } => {
                let index = scatter.apply(ranks.draw(stream));
                in_block(stream, index, *block)
            }
            Pattern::Zoned { zones } => {
                let draw = stream.unit();
                let zone = zones.partition_point(|zone| zone.sum <= draw).min(zones.len() - 1);
                zones[zone].start + place(stream, zones[zone].length)
            }
            Pattern::Sequential { run, jumps } => {
                if let Some(run) = *run
                    && state.left < sectors
                {
                    state.next = place(stream, self.footprint);
                    state.left = run;
                } else if run.is_none() && std::mem::take(&mut state.is_scattered)
                    || *jumps > 0.0 && stream.unit() < *jumps
                {
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
            Pattern::Log { next } => {
                let position = if next.get() + sectors > self.footprint { 0 } else { next.get() };
                next.set(position + sectors);
                position
            }
            Pattern::Strided { stride } => {
                if std::mem::take(&mut state.is_scattered) {
                    state.next = place(stream, self.footprint);
                    state.left = state.next % stride;
                }
                if state.next + sectors > self.footprint {
                    state.left += sectors;
                    if state.left + sectors > *stride {
                        state.left = 0;
                    }
                    state.next = state.left;
                }
                let position = state.next;
                state.next += stride;
                position
            }
            Pattern::StridedZones(walk) => {
                let is_scattered = std::mem::take(&mut state.is_scattered);
                let visit = state.visit.get_or_insert_with(|| Box::new(walk.start(is_scattered, stream)));
                let (position, length) = walk.next(visit, stream, sectors, alignment);
                state.limit = length;
                position
            }
            Pattern::StackDistance { distances, block, .. } => {
                let depth = distances.draw(stream);
                let index = state.stack.as_mut().map_or(0, |stack| stack.take(depth));
                in_block(stream, u64::from(index), *block)
            }
            Pattern::HierarchicalReuse { walk, block } => {
                let is_write = state.is_write;
                let index = state.walk.as_mut().map_or(0, |at| walk.next_block(at, stream, is_write));
                in_block(stream, index, *block)
            }
        }
    }
}

#[cfg(test)]
mod tests;
