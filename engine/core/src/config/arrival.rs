//! When the requests of a stream arrive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Fraction, Rate, SimDuration};

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
        /// Of a parallel interaction, the I/Os that are outstanding at a time; all of them where it is not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 10_000))]
        depth: Option<u32>,
        /// Interactions of each user, after which it is over; without end where it is not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        times: Option<u32>,
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
    /// Open arrivals at equal gaps; the first comes at a random moment of the first gap.
    Constant {
        /// Arrival rate.
        #[schemars(extend("maximum" = 1e9))]
        rate: Rate,
        /// Whether each user has this rate, or all users together.
        #[serde(default)]
        per_user: bool,
    },
    /// Open arrivals in bursts: a Poisson process whose rate changes between two values after exponential times (a Markov-modulated Poisson process of two states).
    Mmpp {
        /// Mean arrival rate over all time.
        #[schemars(extend("maximum" = 1e9))]
        rate: Rate,
        /// The rate in a burst, as a multiple of the mean rate; at most 1 / `burst_fraction`, where nothing arrives between the bursts.
        #[schemars(range(min = 1.0, max = 1e6))]
        burst_factor: f64,
        /// Share of the time that is burst.
        #[schemars(extend("exclusiveMinimum" = 0))]
        burst_fraction: Fraction,
        /// Mean length of a burst.
        #[schemars(extend("minimum" = 1))]
        burst_time: SimDuration,
        /// Whether each user has this rate, or all users together.
        #[serde(default)]
        per_user: bool,
    },
    /// Open arrivals that are bursty at every scale: the b-model. The arrivals of a window fall on its two halves as `bias` to 1 - `bias`, either half being the busier by chance, those of a half on its quarters, and so on.
    BModel {
        /// Mean arrival rate.
        #[schemars(extend("maximum" = 1e9))]
        rate: Rate,
        /// Share of the busier half: 0.5 is a Poisson process, 1 puts all into one moment.
        #[schemars(range(min = 0.5, max = 1.0))]
        bias: f64,
        /// The longest time over which arrivals are bursty: every window has the same mean number.
        #[schemars(extend("minimum" = 1))]
        window: SimDuration,
        /// How often a window is halved. Below its 2^-`levels`th part arrivals are a Poisson process.
        #[serde(default = "sixteen")]
        #[schemars(range(min = 1, max = 32))]
        levels: u32,
        /// Whether each user has this rate, or all users together.
        #[serde(default)]
        per_user: bool,
    },
    /// Replay of a recorded trace.
    Trace {
        /// The trace, in any format that `destage trace info` reads, plain or packed (gzip, xz, zstd); volumes lie end to end. A relative name is relative to the spec; an object in a bucket is named by its address, as in `s3://bucket/key`.
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
        /// How the copies differ, of which each user replays one; one replay of the trace as it is, whatever the number of users, where it is not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        copies: Option<Copies>,
    },
}

impl Arrival {
    /// Sets what cannot matter to nothing, and what is the same as something simpler to that.
    pub(crate) fn normalise(&mut self, users: u32) {
        match self {
            Self::Closed { ios, order, depth, .. } => {
                if *depth == Some(1) {
                    *order = Order::Serial;
                }
                if *order == Order::Serial || depth.is_some_and(|depth| depth >= *ios) {
                    *depth = None;
                }
            }
            Self::Trace { copies, .. } if users == 1 => {
                *copies = copies.filter(|copies| copies.shift == Shift::Random);
                if let Some(copies) = copies {
                    copies.shared_fraction = Fraction(0.0);
                }
            }
            _ => {}
        }
    }

    /// Whether each user has a source of its own.
    pub const fn is_per_user(&self) -> bool {
        match self {
            Self::Closed { .. } => true,
            Self::FixedOutstanding { per_user, .. }
            | Self::Poisson { per_user, .. }
            | Self::Constant { per_user, .. }
            | Self::Mmpp { per_user, .. }
            | Self::BModel { per_user, .. } => *per_user,
            Self::Trace { copies, .. } => copies.is_some(),
        }
    }
}

/// How the copies of a trace differ: n users like the one that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Copies {
    /// Where in the trace each copy begins; it ends where it began.
    pub shift: Shift,
    /// Share of the trace's 1 MiB extents that all copies have in common. The others are each copy's own: those of user n lie n times the trace's span higher.
    pub shared_fraction: Fraction,
}

impl Default for Copies {
    fn default() -> Self {
        Self { shift: Shift::Random, shared_fraction: Fraction(0.0) }
    }
}

/// Where in a trace its copies begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shift {
    /// At a random moment, drawn for each copy; from the trace's end it goes on at its start.
    Random,
    /// All at its start, at the same moment.
    None,
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

const fn one() -> u32 {
    1
}

const fn sixteen() -> u32 {
    16
}

const fn unit_rate() -> f64 {
    1.0
}
