//! Arrival of the requests of a stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rng::RandomStream;
use crate::units::{Fraction, Rate, SimDuration};

/// Arrival process of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrival {
    /// Closed users: each one thinks, issues an interaction of one or more I/Os, and starts again when it completes.
    Closed {
        /// Time from the end of an interaction to the start of the next.
        think_time: Distribution,
        /// I/Os per interaction.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 10_000))]
        ios: u32,
        /// Whether the I/Os of an interaction are issued one after another or together.
        #[serde(default)]
        order: Order,
        /// Maximum outstanding I/Os of a parallel interaction (default: all of them).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 10_000))]
        depth: Option<u32>,
        /// Interactions per user before it ends (default: endless).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        times: Option<u32>,
    },
    /// A fixed number of outstanding I/Os (Iometer's outstanding I/Os, fio's `iodepth`).
    FixedOutstanding {
        /// Outstanding I/Os.
        #[schemars(range(min = 1, max = 65_536))]
        depth: u32,
        /// Whether `depth` applies to each user or to all users together.
        #[serde(default)]
        per_user: bool,
    },
    /// Open arrivals with exponential gaps, independent of completions.
    Poisson {
        /// Mean arrival rate.
        #[schemars(extend("maximum" = 1e9))]
        rate: Rate,
        /// Whether the rate applies to each user or to all users together.
        #[serde(default)]
        per_user: bool,
    },
    /// Open arrivals at equal gaps, the first at a random time within the first gap.
    Constant {
        /// Arrival rate.
        #[schemars(extend("maximum" = 1e9))]
        rate: Rate,
        /// Whether the rate applies to each user or to all users together.
        #[serde(default)]
        per_user: bool,
    },
    /// Bursty open arrivals: a Poisson process that alternates between two rates after exponential times (two-state Markov-modulated Poisson process).
    Mmpp {
        /// Mean arrival rate over all time.
        #[schemars(extend("maximum" = 1e9))]
        rate: Rate,
        /// Rate in bursts as a multiple of the mean rate, up to 1 / `burst_fraction`, at which nothing arrives between bursts.
        #[schemars(range(min = 1.0, max = 1e6))]
        burst_factor: f64,
        /// Share of the time in bursts.
        #[schemars(extend("exclusiveMinimum" = 0))]
        burst_fraction: Fraction,
        /// Mean length of a burst.
        #[schemars(extend("minimum" = 1))]
        burst_time: SimDuration,
        /// Whether the rate applies to each user or to all users together.
        #[serde(default)]
        per_user: bool,
    },
    /// Self-similar open arrivals (b-model): one half of each window, chosen at random, receives `bias` of its arrivals and the other half 1 - `bias`; each half is divided in the same way, and so on.
    BModel {
        /// Mean arrival rate.
        #[schemars(extend("maximum" = 1e9))]
        rate: Rate,
        /// Share of the busier half: 0.5 is a Poisson process, 1 puts all arrivals at one time.
        #[schemars(range(min = 0.5, max = 1.0))]
        bias: f64,
        /// Longest time scale of the bursts; every window has the same mean number of arrivals.
        #[schemars(extend("minimum" = 1))]
        window: SimDuration,
        /// Number of times that a window is halved; within the shortest parts, arrivals are a Poisson process.
        #[serde(default = "sixteen")]
        #[schemars(range(min = 1, max = 32))]
        levels: u32,
        /// Whether the rate applies to each user or to all users together.
        #[serde(default)]
        per_user: bool,
    },
    /// Replay of a recorded trace.
    Trace {
        /// Trace file in any format that `destage trace info` reads, optionally compressed (gzip, xz, zstd). Volumes are laid end to end. A relative path is relative to the study; an object in a bucket is named by its address, such as `s3://bucket/key`.
        file: String,
        /// Content digest that identifies the trace in results; set when the trace is loaded.
        #[serde(default)]
        digest: Option<String>,
        /// Use of the recorded times.
        mode: ReplayMode,
        /// Outstanding I/Os in mode `asap`.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 65_536))]
        depth: u32,
        /// Factor on the recorded rate in mode `open`: 2 replays in half the time.
        #[serde(default = "unit_rate")]
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e9))]
        speed: f64,
        /// Treatment of addresses beyond the array.
        #[serde(default)]
        map: AddressMap,
        /// Replay of one copy of the trace per user, and how the copies differ (default: one replay, whatever the number of users).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        copies: Option<Copies>,
    },
}

impl Arrival {
    /// Brings settings without effect, and settings equal to simpler ones, to one form.
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

    /// Whether each user has its own source of requests.
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

/// Differences between the copies of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Copies {
    /// Start of each copy in the trace; it ends where it started.
    pub shift: Shift,
    /// Share of the trace's 1 MiB extents that all copies share. The others are private: those of user n are n times the span of the trace higher.
    pub shared_fraction: Fraction,
}

impl Default for Copies {
    fn default() -> Self {
        Self { shift: Shift::Random, shared_fraction: Fraction(0.0) }
    }
}

/// Start of the copies in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shift {
    /// At a random time per copy, wrapping at the end of the trace.
    Random,
    /// All at the start of the trace, at the same time.
    None,
}

/// Order of the I/Os of an interaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Each I/O waits for the previous one.
    #[default]
    Serial,
    /// All I/Os are issued together; the interaction ends with the last completion.
    Parallel,
}

/// Use of the recorded times in a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayMode {
    /// At the recorded times divided by `speed`, independent of completions.
    Open,
    /// As fast as `depth` outstanding I/Os allow, in recorded order.
    Asap,
    /// Per process: a synchronous write or flush delays the next request of its process until it completes; recorded gaps of up to 1 s are kept as think time.
    Dependent,
}

/// Treatment of trace addresses beyond the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AddressMap {
    /// Reject the trace.
    #[default]
    Error,
    /// Wrap at the end of the array.
    Wrap,
    /// Move the accessed 1 MiB extents together, in address order.
    Compact,
}

/// A distribution of times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    /// Constant time.
    Constant {
        /// The time.
        value: SimDuration,
    },
    /// Exponential distribution.
    Exponential {
        /// Mean time.
        mean: SimDuration,
    },
    /// Uniform distribution.
    Uniform {
        /// Minimum time.
        low: SimDuration,
        /// Maximum time.
        high: SimDuration,
    },
    /// Lognormal distribution.
    Lognormal {
        /// Mean time.
        mean: SimDuration,
        /// Coefficient of variation (standard deviation / mean).
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000))]
        cv: f64,
    },
}

impl Distribution {
    /// Whether every draw is zero.
    pub(crate) const fn is_zero(&self) -> bool {
        match self {
            Self::Constant { value: longest }
            | Self::Exponential { mean: longest }
            | Self::Uniform { high: longest, .. }
            | Self::Lognormal { mean: longest, .. } => longest.0 == 0,
        }
    }

    /// A random time.
    pub(crate) fn draw(&self, random: &mut RandomStream) -> SimDuration {
        match *self {
            Self::Constant { value } => value,
            Self::Exponential { mean } => random.exponential_duration(mean),
            Self::Uniform { low, high } => SimDuration(low.0 + random.below(high.0 - low.0 + 1)),
            Self::Lognormal { mean, cv } => {
                let variance = libm::log1p(cv * cv);
                let location = -0.5 * variance;
                let factor = libm::exp(location + variance.sqrt() * random.normal());
                SimDuration((mean.0 as f64 * factor + 0.5) as u64)
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn mean_and_variance(distribution: Distribution) -> (f64, f64) {
        let mut random = RandomStream::named(7, 0, "test", 0, Purpose::Service);
        let draws: Vec<f64> = (0..400_000).map(|_| distribution.draw(&mut random).0 as f64 / 1e6).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / draws.len() as f64;
        (mean, variance)
    }

    #[test]
    fn moments_are_those_of_the_distribution() {
        let ms = |x: f64| SimDuration((x * 1e6) as u64);
        for (distribution, mean, variance) in [
            (Distribution::Constant { value: ms(3.0) }, 3.0, 0.0),
            (Distribution::Exponential { mean: ms(8.0) }, 8.0, 64.0),
            (Distribution::Uniform { low: ms(0.0), high: ms(12.0) }, 6.0, 12.0),
            (Distribution::Lognormal { mean: ms(10.0), cv: 0.5 }, 10.0, 25.0),
        ] {
            let (m, v) = mean_and_variance(distribution);
            assert!((m - mean).abs() < 0.01 * mean, "{distribution:?}: mean {m}");
            assert!((v - variance).abs() <= 0.02 * variance, "{distribution:?}: variance {v}");
        }
    }
}
