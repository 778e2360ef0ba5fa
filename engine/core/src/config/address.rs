//! Where the requests of a stream go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Fraction};

/// Where the requests of a stream go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Address {
    /// Every aligned place of the footprint is equally likely.
    Uniform {
        /// Size of the data that is touched; the whole array where it is not given.
        #[serde(default)]
        footprint: Option<Bytes>,
        /// Where the footprint lies on the array.
        #[serde(default)]
        placement: Placement,
        /// Whether each user has a footprint of its own; they lie one after the other.
        #[serde(default, skip_serializing_if = "is_false")]
        per_user: bool,
    },
    /// Block of popularity rank k is chosen with probability proportional to k to the power -exponent; ranks are scattered over the footprint.
    Zipf {
        /// The exponent.
        #[schemars(range(min = 0.0, max = 4.0))]
        exponent: f64,
        /// The unit of popularity. A request starts at an aligned place within the block.
        #[serde(default = "eight_kib")]
        block: Bytes,
        /// Size of the data that is touched; the whole array where it is not given.
        #[serde(default)]
        footprint: Option<Bytes>,
        /// Where the footprint lies on the array.
        #[serde(default)]
        placement: Placement,
        /// Whether each user has a footprint of its own; they lie one after the other.
        #[serde(default, skip_serializing_if = "is_false")]
        per_user: bool,
    },
    /// A share of the blocks gets the rest of the accesses, and so on within that share: with 0.2, a fifth of the blocks gets 80 % of the accesses, and a fifth of that fifth 80 % of those (fio's `pareto`); blocks are scattered over the footprint.
    Pareto {
        /// Share of the blocks that gets one less it of the accesses; at 0.5 all are alike.
        #[schemars(range(min = 0.001, max = 0.999))]
        hot_fraction: f64,
        /// The unit of popularity. A request starts at an aligned place within the block.
        #[serde(default = "eight_kib")]
        block: Bytes,
        /// Size of the data that is touched; the whole array where it is not given.
        #[serde(default)]
        footprint: Option<Bytes>,
        /// Where the footprint lies on the array.
        #[serde(default)]
        placement: Placement,
        /// Whether each user has a footprint of its own; they lie one after the other.
        #[serde(default, skip_serializing_if = "is_false")]
        per_user: bool,
    },
    /// The first part of the footprint gets a share of the accesses of its own; within each part all places are equally likely.
    HotCold {
        /// Share of the footprint that is hot.
        hot_fraction: Fraction,
        /// Share of the accesses that go there.
        access_fraction: Fraction,
        /// Size of the data that is touched; the whole array where it is not given.
        #[serde(default)]
        footprint: Option<Bytes>,
        /// Where the footprint lies on the array.
        #[serde(default)]
        placement: Placement,
        /// Whether each user has a footprint of its own; they lie one after the other.
        #[serde(default, skip_serializing_if = "is_false")]
        per_user: bool,
    },
    /// Zones, one after the other over the footprint, each with its share of the accesses; within each all places are equally likely (fio's `zoned`).
    Zoned {
        /// The zones, from the footprint's start.
        #[schemars(length(min = 1))]
        zones: Vec<AddressZone>,
        /// Size of the data that is touched; the whole array where it is not given.
        #[serde(default)]
        footprint: Option<Bytes>,
        /// Where the footprint lies on the array.
        #[serde(default)]
        placement: Placement,
        /// Whether each user has a footprint of its own; they lie one after the other.
        #[serde(default, skip_serializing_if = "is_false")]
        per_user: bool,
    },
    /// Each request follows the one before; each user has a run of its own.
    Sequential {
        /// Bytes before the run ends and a new one starts at a uniformly random place; endless, wrapping at the footprint's end, where it is not given. An endless run starts at the footprint's start for the first user and where users have footprints of their own, at a random place for any other.
        #[serde(default)]
        run: Option<Bytes>,
        /// Share of the requests that go to a uniformly random place, where the sequence goes on (Iometer's "% random", fio's `percentage_random`); none where it is not given. Not beside `run`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        jump_fraction: Option<Fraction>,
        /// Whether all users of the stream have one run together, each request following the one before whoever issued it: a log to which all append. Where a user writes then depends on the others. Not beside `run`, `jump_fraction` and `per_user`.
        #[serde(default, skip_serializing_if = "is_false")]
        common: bool,
        /// Size of the data that is touched; the whole array where it is not given.
        #[serde(default)]
        footprint: Option<Bytes>,
        /// Where the footprint lies on the array.
        #[serde(default)]
        placement: Placement,
        /// Whether each user has a footprint of its own; they lie one after the other.
        #[serde(default, skip_serializing_if = "is_false")]
        per_user: bool,
    },
    /// Each request lies one stride after the one before. The pass after the footprint's end begins one request further than the pass before, and after a stride's worth of passes at the start again.
    Strided {
        /// From the start of one request to the start of the next.
        stride: Bytes,
        /// Size of the data that is touched; the whole array where it is not given.
        #[serde(default)]
        footprint: Option<Bytes>,
        /// Where the footprint lies on the array.
        #[serde(default)]
        placement: Placement,
        /// Whether each user has a footprint of its own; they lie one after the other.
        #[serde(default, skip_serializing_if = "is_false")]
        per_user: bool,
    },
    /// Accesses with a given hit ratio for each size of an LRU cache: the next block is drawn by its stack distance, the number of different blocks since its last use. The curve is that of each source by itself: of the stream where all users share it, of each user where they do not. The stack begins in random order.
    StackDistance {
        /// The hit ratio curve, by rising size; linear in between, from 0 at size 0. What the last point leaves to 1 goes to the block of the footprint that has not been used for longest.
        #[schemars(length(min = 1))]
        curve: Vec<CurvePoint>,
        /// The unit of reuse. A request starts at an aligned place within the block.
        #[serde(default = "eight_kib")]
        block: Bytes,
        /// Size of the data that is touched; the whole array where it is not given. A source takes some 10 bytes of memory for each of its blocks.
        #[serde(default)]
        footprint: Option<Bytes>,
        /// Where the footprint lies on the array.
        #[serde(default)]
        placement: Placement,
        /// Whether each user has a footprint of its own; they lie one after the other.
        #[serde(default, skip_serializing_if = "is_false")]
        per_user: bool,
    },
}

/// A zone of the footprint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddressZone {
    /// Its size, relative to the sum of all.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub size: f64,
    /// Its accesses, relative to the sum of all.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub accesses: f64,
}

/// A point of a hit ratio curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Size of an LRU cache.
    pub size: Bytes,
    /// Share of the accesses that hit in it.
    pub hit_ratio: Fraction,
}

/// Gives a field that all kinds of addresses have.
macro_rules! of_all {
    ($address:expr, $field:ident) => {
        match $address {
            Address::Uniform { $field, .. }
            | Address::Zipf { $field, .. }
            | Address::Pareto { $field, .. }
            | Address::HotCold { $field, .. }
            | Address::Zoned { $field, .. }
            | Address::Sequential { $field, .. }
            | Address::Strided { $field, .. }
            | Address::StackDistance { $field, .. } => *$field,
        }
    };
}

impl Address {
    /// The size of the data that is touched, and where it lies.
    pub const fn extent(&self) -> (Option<Bytes>, Placement) {
        (of_all!(self, footprint), of_all!(self, placement))
    }

    /// There is only one user: it shares with none, and has none of its own.
    pub(crate) const fn have_one_user(&mut self) {
        if let Self::Sequential { common, .. } = self {
            *common = false;
        }
        match self {
            Self::Uniform { per_user, .. }
            | Self::Zipf { per_user, .. }
            | Self::Pareto { per_user, .. }
            | Self::HotCold { per_user, .. }
            | Self::Zoned { per_user, .. }
            | Self::Sequential { per_user, .. }
            | Self::Strided { per_user, .. }
            | Self::StackDistance { per_user, .. } => *per_user = false,
        }
    }

    /// Whether each user has a footprint of its own.
    pub const fn is_per_user(&self) -> bool {
        of_all!(self, per_user)
    }

    /// The size of the data that is touched on an array of `capacity`, by each user where each has its own.
    pub fn footprint(&self, capacity: Bytes) -> Bytes {
        let (footprint, placement) = self.extent();
        footprint.unwrap_or_else(|| placement.default_footprint(capacity))
    }

    /// The unit of popularity or reuse, where there is one.
    pub const fn block(&self) -> Option<Bytes> {
        match self {
            Self::Zipf { block, .. } | Self::Pareto { block, .. } | Self::StackDistance { block, .. } => {
                Some(*block)
            }
            _ => None,
        }
    }

    /// The zones and their shares, where there are any.
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

/// Where a footprint lies on the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Placement {
    /// In one piece.
    Contiguous {
        /// Where it starts.
        #[serde(default)]
        offset: Bytes,
    },
    /// In extents at random places of the whole array.
    Scattered {
        /// Size of one extent.
        #[serde(default = "one_mib")]
        extent: Bytes,
    },
    /// In extents at equal distances over the whole array.
    Spread {
        /// Size of one extent.
        #[serde(default = "one_mib")]
        extent: Bytes,
    },
}

impl Placement {
    /// The footprint where none is given: all that the placement leaves of an array of `capacity`.
    pub const fn default_footprint(self, capacity: Bytes) -> Bytes {
        match self {
            Self::Contiguous { offset } => Bytes(capacity.0.saturating_sub(offset.0)),
            Self::Scattered { extent } | Self::Spread { extent } if extent.0 > 0 => {
                Bytes(capacity.0 / extent.0 * extent.0)
            }
            _ => capacity,
        }
    }
}

impl Default for Placement {
    fn default() -> Self {
        Self::Contiguous { offset: Bytes(0) }
    }
}

const fn one_mib() -> Bytes {
    Bytes(1 << 20)
}

const fn eight_kib() -> Bytes {
    Bytes(8 << 10)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_false(value: &bool) -> bool {
    !*value
}
