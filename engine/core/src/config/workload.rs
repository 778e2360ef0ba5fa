//! What the hosts ask for: users, and the streams of requests that they issue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Fraction, Rate, SimDuration};

/// The load on the array: a number of users and the streams that run together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Number of users. Closed streams exist once per user; open streams once per user where `per_user` is true.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub users: u32,
    /// The streams that run together.
    #[schemars(length(min = 1))]
    pub streams: Vec<Stream>,
}

/// One stream of requests: an arrival process, an address process and the array it goes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Name of the stream. Random draws depend on it and on nothing else of the other streams.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Name of the array that the stream goes to; the first array where it is not given.
    #[serde(default)]
    pub array: Option<String>,
    /// When requests arrive.
    pub arrival: Arrival,
    /// What the requests are. Not given for a trace, which brings its own.
    #[serde(default)]
    pub operations: Option<Operations>,
    /// Where the requests go. Not given for a trace, which brings its own.
    #[serde(default)]
    pub address: Option<Address>,
}

/// When requests arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrival {
    /// Users who think, then issue an interaction of some I/Os, then think again.
    Closed {
        /// Time between the end of an interaction and the start of the next.
        think_time: Distribution,
        /// I/Os in one interaction.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 10_000))]
        ios: u32,
        /// Whether the I/Os of an interaction wait for each other.
        #[serde(default)]
        order: Order,
    },
    /// A fixed number of I/Os always outstanding (Iometer's outstanding I/Os, fio's `iodepth`).
    FixedOutstanding {
        /// I/Os outstanding at any moment.
        #[schemars(range(min = 1, max = 65_536))]
        depth: u32,
        /// Whether each user keeps `depth` outstanding, or all users together.
        #[serde(default)]
        per_user: bool,
    },
    /// Open arrivals with exponential gaps, which do not wait for completions.
    Poisson {
        /// Mean arrival rate.
        #[schemars(extend("maximum" = 1e9))]
        rate: Rate,
        /// Whether each user has this rate, or all users together.
        #[serde(default)]
        per_user: bool,
    },
    /// Replay of a recorded trace.
    Trace {
        /// The trace: compact Parquet, or blkparse text (plain, .gz or .xz). A relative name is relative to the spec.
        file: String,
        /// Content digest of the trace, which identifies it in results. Filled in on loading.
        #[serde(default)]
        digest: Option<String>,
        /// How recorded times are used.
        mode: ReplayMode,
        /// Outstanding I/Os in `asap` mode.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 65_536))]
        depth: u32,
        /// Factor on the recorded rate in `open` mode: 2 replays in half the time.
        #[serde(default = "unit_rate")]
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e9))]
        speed: f64,
        /// What to do with addresses beyond the array.
        #[serde(default)]
        map: AddressMap,
    },
}

/// Whether the I/Os of one interaction wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Each I/O waits for the one before.
    #[default]
    Serial,
    /// All I/Os are issued at once; the interaction ends with the last.
    Parallel,
}

/// How recorded times are used in a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayMode {
    /// At the recorded times, divided by `speed`, whether or not the array keeps up.
    Open,
    /// As fast as `depth` outstanding I/Os allow, in recorded order.
    Asap,
    /// Per process: a synchronous write or a flush holds the process's next request until it completes; recorded gaps, cut at 1 s, are kept as think time.
    Dependent,
}

/// What to do with trace addresses beyond the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AddressMap {
    /// Refuse the trace.
    #[default]
    Error,
    /// Wrap round at the array's end.
    Wrap,
    /// Move the touched 1 MiB extents together, in address order.
    Compact,
}

/// A distribution of times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    /// Always the same.
    Constant {
        /// The time.
        value: SimDuration,
    },
    /// Exponential.
    Exponential {
        /// Mean time.
        mean: SimDuration,
    },
    /// Uniform between two bounds.
    Uniform {
        /// Least time.
        low: SimDuration,
        /// Greatest time.
        high: SimDuration,
    },
    /// Lognormal.
    Lognormal {
        /// Mean time.
        mean: SimDuration,
        /// Coefficient of variation: standard deviation over mean.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000))]
        cv: f64,
    },
}

/// What the requests of a stream are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operations {
    /// Share of reads among reads and writes.
    pub read_fraction: Fraction,
    /// Share of the writes that are forced to stable storage (FUA).
    #[serde(default)]
    pub fua_fraction: Fraction,
    /// A flush follows every so many writes; never where it is not given.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub flush_every: Option<u32>,
    /// Sizes of requests.
    pub size: Size,
    /// Addresses are multiples of this; of the request's size where it is not given.
    #[serde(default)]
    pub alignment: Option<Bytes>,
}

/// Sizes of requests, in whole sectors of 512 bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Size {
    /// Always the same.
    Constant {
        /// The size.
        value: Bytes,
    },
    /// One of several, by weight.
    Choice {
        /// The sizes and their weights.
        #[schemars(length(min = 1))]
        options: Vec<SizeOption>,
    },
}

/// One size of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeOption {
    /// The size.
    pub value: Bytes,
    /// Its weight, relative to the sum of all.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub weight: f64,
}

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
    },
    /// Each request follows the one before; each user has a run of its own.
    Sequential {
        /// Bytes before the run ends and a new one starts at a uniformly random place; endless, wrapping at the footprint's end, where it is not given. An endless run starts at the footprint's start for the first user, at a random place for any other.
        #[serde(default)]
        run: Option<Bytes>,
        /// Size of the data that is touched; the whole array where it is not given.
        #[serde(default)]
        footprint: Option<Bytes>,
        /// Where the footprint lies on the array.
        #[serde(default)]
        placement: Placement,
    },
}

impl Address {
    /// The size of the data that is touched, and where it lies.
    pub const fn extent(&self) -> (Option<Bytes>, Placement) {
        match self {
            Self::Uniform { footprint, placement }
            | Self::Zipf { footprint, placement, .. }
            | Self::Sequential { footprint, placement, .. } => (*footprint, *placement),
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

const fn one() -> u32 {
    1
}

const fn unit_rate() -> f64 {
    1.0
}

const fn one_mib() -> Bytes {
    Bytes(1 << 20)
}

const fn eight_kib() -> Bytes {
    Bytes(8 << 10)
}
