//! Addresses of the requests of a stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Placement, Sampling};
use crate::units::{Bytes, Fraction};

/// Defines the kinds of addresses, each with its own fields and the common ones.
macro_rules! kinds_of_addresses {
    ($($(#[$about:meta])* $kind:ident { $($(#[$detail:meta])* $field:ident: $type:ty,)* },)*) => {
        /// Addresses of the requests of a stream.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
        pub enum Address {
            $($(#[$about])*
            $kind {
                $($(#[$detail])*
                $field: $type,)*
                /// Size of the data accessed (default: the whole array).
                #[serde(default)]
                footprint: Option<Bytes>,
                /// Placement of the footprint on the array.
                #[serde(default)]
                placement: Placement,
                /// Whether each user has its own footprint; footprints follow each other on the array.
                #[serde(default, skip_serializing_if = "is_false")]
                per_user: bool,
            },)*
        }

        impl Address {
            /// Size of the footprint, if given, and its placement.
            pub const fn extent(&self) -> (Option<Bytes>, Placement) {
                match self {
                    $(Self::$kind { footprint, placement, .. } => (*footprint, *placement),)*
                }
            }

            /// Whether each user has its own footprint.
            pub const fn is_per_user(&self) -> bool {
                match self {
                    $(Self::$kind { per_user, .. } => *per_user,)*
                }
            }

            const fn clear_per_user(&mut self) {
                match self {
                    $(Self::$kind { per_user, .. } => *per_user = false,)*
                }
            }
        }
    };
}

kinds_of_addresses! {
    /// Uniformly random aligned addresses of the footprint.
    Uniform {
        /// How addresses are drawn from the footprint. Each source draws for itself.
        #[serde(default, skip_serializing_if = "Sampling::is_independent")]
        sampling: Sampling,
    },
    /// Zipf: the block of popularity rank k is accessed with probability proportional to k^-exponent; ranks are scattered over the footprint.
    Zipf {
        /// Exponent: 0 is uniform.
        #[schemars(range(min = 0.0, max = 4.0))]
        exponent: f64,
        /// Whether ranks are drawn by the approximation of fio and YCSB (Gray et al., SIGMOD 1994) instead of exactly; not with an exponent of 1.
        #[serde(default, skip_serializing_if = "is_false")]
        approximate: bool,
        /// Unit of popularity. A request starts at an aligned address within its block; one larger than its block starts where the block does.
        #[serde(default = "eight_kib")]
        block: Bytes,
    },
    /// Self-similar hot set: with 0.2, 20 % of the blocks receive 80 % of the accesses, 20 % of those receive 80 % of these, and so on (fio's `pareto`); blocks are scattered over the footprint.
    Pareto {
        /// Share h of the blocks that receives 1 - h of the accesses; 0.5 is uniform.
        #[schemars(range(min = 0.001, max = 0.999))]
        hot_fraction: f64,
        /// Unit of popularity. A request starts at an aligned address within its block; one larger than its block starts where the block does.
        #[serde(default = "eight_kib")]
        block: Bytes,
    },
    /// Normally distributed around the middle of the ranks of the blocks, with a uniform part (fio's `normal`); blocks are scattered over the footprint.
    Normal {
        /// Standard deviation of the normal part, as a share of the footprint (default: 1/12, as in fio).
        #[serde(default = "twelfth")]
        #[schemars(range(min = 0.001, max = 1.0))]
        deviation: f64,
        /// Width of a uniform distribution that is added, as a share of the footprint (default: none). Ranks outside the footprint are drawn again.
        #[serde(default)]
        width: Fraction,
        /// Unit of popularity. A request starts at an aligned address within its block; one larger than its block starts where the block does.
        #[serde(default = "eight_kib")]
        block: Bytes,
    },
    /// A hot part at the start of the footprint and a cold rest, each uniformly random.
    HotCold {
        /// Share of the footprint that is hot.
        hot_fraction: Fraction,
        /// Share of the accesses that go to the hot part.
        access_fraction: Fraction,
    },
    /// Consecutive zones of the footprint, each with its share of the accesses and uniformly random (fio's `zoned`).
    Zoned {
        /// Zones, from the start of the footprint.
        #[schemars(length(min = 1))]
        zones: Vec<AddressZone>,
    },
    /// Sequential: each request starts where the previous one of the user ended.
    Sequential {
        /// Bytes before a run ends and a new one starts at a random address (default: endless, wrapping at the end of the footprint). An endless run starts at the start of the footprint for the first user and for users with their own footprint, and at a random address for the others; where the functional warm-up has cached data of the run, it goes on from there.
        #[serde(default)]
        run: Option<Bytes>,
        /// Share of the requests that jump to a random address, from which the sequence continues (Iometer's "% random", fio's `percentage_random`; default: none). Excludes `run`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        jump_fraction: Option<Fraction>,
        /// Whether all users share one run, as when they append to one log; the addresses of a user then depend on the others. Excludes `run`, `jump_fraction` and `per_user`.
        #[serde(default, skip_serializing_if = "is_false")]
        common: bool,
    },
    /// Each request starts one stride after the previous one. Each pass over the footprint starts one request further than the previous pass, until a whole stride is covered.
    Strided {
        /// Distance between the starts of consecutive requests.
        stride: Bytes,
    },
    /// Zone by zone (fio's `zonemode=strided`): some data of a zone is accessed, then of the next zone; after the last zone of the footprint the first follows.
    StridedZones {
        /// Size of a zone.
        zone: Bytes,
        /// Distance from the end of a zone to the start of the next (default: none).
        #[serde(default)]
        skip: Bytes,
        /// Data accessed in a zone before the next follows (default: the size of the zone). If it is more than the zone, the zone is passed again.
        #[serde(default)]
        accessed: Option<Bytes>,
        /// How random addresses are drawn from the zone (default: none; addresses are sequential).
        #[serde(default)]
        sampling: Option<Sampling>,
    },
    /// Accesses with a given LRU hit ratio for each cache size: the next block is drawn by its stack distance, the number of different blocks since its last use. The curve applies to each source: to the stream if all users share it, else to each user. The stack starts in random order. Each source needs about 10 bytes of memory per block of the footprint.
    StackDistance {
        /// Hit ratio curve by rising size, linear between points and 0 at size 0. Accesses beyond the last hit ratio go to the least recently used block of the footprint.
        #[schemars(length(min = 1))]
        curve: Vec<CurvePoint>,
        /// Unit of reuse. A request starts at an aligned address within its block.
        #[serde(default = "eight_kib")]
        block: Bytes,
    },
    /// Hierarchical reuse random walk, the hot spots of SPC-1. The leaves of a binary tree are consecutive parts of the footprint. Each request climbs from the leaf of the previous one and goes to a random leaf below the node that it reaches. A read goes to the block of its leaf after the one that was read last; users who share the footprint share these positions, so the addresses of a user then depend on the others. Each leaf of the footprint needs four bytes of memory.
    HierarchicalReuse {
        /// Size of a leaf, a multiple of `block`.
        #[serde(default = "thirty_two_kib")]
        leaf: Bytes,
        /// Unit of reuse. A request starts at an aligned address within its block.
        #[serde(default = "four_kib")]
        block: Bytes,
        /// Levels that each request climbs at least: with 6, its leaf is one of 64 neighbours or more.
        #[serde(default = "six")]
        #[schemars(range(min = 0, max = 63))]
        levels: u32,
        /// Probability of climbing each further level.
        #[serde(default = "climb_of_spc_1")]
        climb_probability: Fraction,
        /// Writes only go to the leaves whose number is a multiple of this.
        #[serde(default = "eight")]
        #[schemars(range(min = 1))]
        write_spacing: u32,
        /// Share of the writes that go to the block of their leaf that was read last. The others go to a random block of it.
        #[serde(default = "half")]
        last_read_fraction: Fraction,
        /// Share of these writes whose block the next write of the user also goes to.
        #[serde(default = "repeats_of_spc_1")]
        repeat_fraction: Fraction,
    },
}

/// A zone of the footprint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddressZone {
    /// Size, relative to the sum of all zones.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub size: f64,
    /// Accesses, relative to the sum of all zones.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub accesses: f64,
}

/// A point of a hit ratio curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Size of an LRU cache.
    pub size: Bytes,
    /// Share of the accesses that hit.
    pub hit_ratio: Fraction,
}

impl Address {
    /// Clears the settings that have no effect with a single user.
    pub(crate) const fn clear_user_settings(&mut self) {
        if let Self::Sequential { common, .. } = self {
            *common = false;
        }
        self.clear_per_user();
    }

    /// Size of the footprint on an array of `capacity`, of each user if users have their own.
    pub fn footprint(&self, capacity: Bytes) -> Bytes {
        let (footprint, placement) = self.extent();
        footprint.unwrap_or_else(|| placement.default_footprint(capacity))
    }

    /// Unit of popularity or reuse, if there is one.
    pub const fn block(&self) -> Option<Bytes> {
        match self {
            Self::Zipf { block, .. }
            | Self::Pareto { block, .. }
            | Self::Normal { block, .. }
            | Self::StackDistance { block, .. }
            | Self::HierarchicalReuse { block, .. } => Some(*block),
            _ => None,
        }
    }

    /// Zones and their shares, if there are any.
    pub fn zones(&self) -> Option<Vec<AddressZone>> {
        match self {
            Self::HotCold { hot_fraction, access_fraction, .. } => Some(vec![
                AddressZone { size: hot_fraction.0, accesses: access_fraction.0 },
                AddressZone { size: 1.0 - hot_fraction.0, accesses: 1.0 - access_fraction.0 },
            ]),
            Self::Zoned { zones, .. } => Some(zones.clone()),
            _ => None,
        }
    }
}

const fn twelfth() -> f64 {
    1.0 / 12.0
}

const fn eight_kib() -> Bytes {
    Bytes(8 << 10)
}

const fn four_kib() -> Bytes {
    Bytes(4 << 10)
}

const fn thirty_two_kib() -> Bytes {
    Bytes(32 << 10)
}

const fn six() -> u32 {
    6
}

const fn eight() -> u32 {
    8
}

const fn half() -> Fraction {
    Fraction(0.5)
}

const fn climb_of_spc_1() -> Fraction {
    Fraction(0.44)
}

const fn repeats_of_spc_1() -> Fraction {
    Fraction(0.15)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_false(value: &bool) -> bool {
    !*value
}
