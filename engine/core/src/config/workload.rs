//! Workload: users and their streams of requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Address, Arrival, Distribution, Operations, Order};
use crate::units::{Fraction, SimDuration};

/// Workload: a number of users and concurrent streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Number of users. Closed streams run once per user, open streams once per user if `per_user` is set, traces once per user with `copies`.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub users: u32,
    /// Consecutive phases from the start of the run, such as a logon storm, a steady state and a backup window. Streams select phases by `active`, and `run.window` may name the measured one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Concurrent streams.
    #[schemars(length(min = 1))]
    pub streams: Vec<Stream>,
}

/// A phase of the timeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name of the phase.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Length of the phase. Only the last phase may be endless (without `lasts`).
    #[serde(default)]
    #[schemars(extend("minimum" = 1))]
    pub lasts: Option<SimDuration>,
}

/// A stream of requests: arrival process, operations, addresses, and the array that it accesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Name of the stream. The random draws of a stream depend on its name, not on other streams.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Name of the array that the stream accesses (default: the first).
    #[serde(default)]
    pub array: Option<String>,
    /// Arrival process.
    pub arrival: Arrival,
    /// Start of the stream (default: the start of the run).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// Time from its start to its end (default: endless). Outstanding requests are completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1))]
    pub lasts: Option<SimDuration>,
    /// Phases of `workload.phases` in which the stream runs, and their intensity (default: always, at intensity 1). The clock of the stream runs at `intensity` times the speed of the run; gaps, think times, `start` and `lasts` are measured by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub active: Option<Vec<Activity>>,
    /// Operations. Excluded by a trace, `mix` and `steps`.
    #[serde(default)]
    pub operations: Option<Operations>,
    /// Addresses. Excluded by a trace, `mix` and `steps`.
    #[serde(default)]
    pub address: Option<Address>,
    /// Mix, instead of `operations` and `address`: each request is of one of these kinds, chosen by weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub mix: Option<Vec<Component>>,
    /// Steps of an interaction of closed users, one after another, instead of `operations` and `address`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub steps: Option<Vec<Step>>,
    /// Processor time that each interaction demands of `host.cores` before its first I/O (default: none). Unless the arrival is `closed`, each request is an interaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_time: Option<Distribution>,
}

/// Start of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Start {
    /// Time before the first user starts.
    pub after: SimDuration,
    /// Users start at random times in a further interval of this length. A user's position in it is the same in all streams.
    pub spread: SimDuration,
}

/// A phase in which a stream runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Activity {
    /// Name of the phase.
    #[schemars(length(min = 1))]
    pub phase: String,
    /// Speed of the stream's clock: 2 doubles open rates and halves think times.
    #[serde(default = "full")]
    #[schemars(range(min = 0.0, max = 1e6))]
    pub intensity: f64,
    /// Intensity at the end of the phase, reached linearly (default: constant).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1e6))]
    pub ramp_to: Option<f64>,
}

/// One kind of request of a mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// Weight, relative to the sum of all kinds.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub weight: f64,
    /// Operations.
    pub operations: Operations,
    /// Addresses.
    pub address: Address,
}

/// One step of an interaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[expect(clippy::large_enum_variant, reason = "a configuration has a few steps")]
pub enum Step {
    /// I/Os.
    Io {
        /// Number of I/Os.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 10_000))]
        ios: u32,
        /// Order of the I/Os.
        #[serde(default)]
        order: Order,
        /// Operations.
        operations: Operations,
        /// Addresses.
        address: Address,
    },
    /// A flush.
    Flush,
}

impl Stream {
    /// Operations and addresses of all kinds of requests, each with its place below the stream's.
    pub fn requests(&self) -> Vec<(String, &Operations, &Address)> {
        let plain = self.operations.as_ref().zip(self.address.as_ref());
        let plain = plain.map(|(operations, address)| (String::new(), operations, address));
        let mix = self.mix.iter().flatten().enumerate();
        let mix = mix.map(|(index, part)| (format!(".mix.{index}"), &part.operations, &part.address));
        let steps = self.steps.iter().flatten().enumerate().filter_map(|(index, step)| match step {
            Step::Io { operations, address, .. } => Some((format!(".steps.{index}"), operations, address)),
            Step::Flush => None,
        });
        plain.into_iter().chain(mix).chain(steps).collect()
    }

    /// Brings settings without effect, and settings equal to simpler ones, to one form.
    pub(crate) fn normalise(&mut self, users: u32) {
        if self.start == Some(Start::default()) {
            self.start = None;
        }
        for activity in self.active.iter_mut().flatten() {
            if activity.ramp_to == Some(activity.intensity) {
                activity.ramp_to = None;
            }
        }
        if let Some([_]) = self.mix.as_deref()
            && let Some(only) = self.mix.take().and_then(|mix| mix.into_iter().next())
        {
            (self.operations, self.address) = (Some(only.operations), Some(only.address));
        }
        if let (Some([Step::Io { .. }]), Arrival::Closed { ios, order, .. }) =
            (self.steps.as_deref(), &mut self.arrival)
            && let Some(Step::Io { ios: its, order: in_order, operations, address }) =
                self.steps.take().and_then(|steps| steps.into_iter().next())
        {
            (*ios, *order) = (its, in_order);
            (self.operations, self.address) = (Some(operations), Some(address));
        }
        self.processor_time = self.processor_time.filter(|time| !time.is_zero());
        self.arrival.normalise(users);
        let sources = self.sources(users);
        let mix = self.mix.iter_mut().flatten().map(|part| (&mut part.operations, &mut part.address));
        let steps = self.steps.iter_mut().flatten().filter_map(|step| match step {
            Step::Io { operations, address, .. } => Some((operations, address)),
            Step::Flush => None,
        });
        for (operations, address) in
            self.operations.iter_mut().zip(self.address.iter_mut()).chain(mix).chain(steps)
        {
            operations.normalise();
            if sources == 1 {
                address.clear_user_settings();
            }
        }
    }

    /// Number of sources that issue its requests.
    pub const fn sources(&self, users: u32) -> u32 {
        if self.arrival.is_per_user() { users } else { 1 }
    }
}

impl Workload {
    /// Start of a phase, and its length if it ends.
    pub fn phase(&self, name: &str) -> Option<(SimDuration, Option<SimDuration>)> {
        let mut begin = 0_u64;
        for phase in &self.phases {
            if phase.name == name {
                return Some((SimDuration(begin), phase.lasts));
            }
            begin = begin.saturating_add(phase.lasts?.0);
        }
        None
    }

    /// Whether all streams end.
    pub fn is_finite(&self) -> bool {
        self.streams.iter().all(|stream| {
            let is_in_time = stream.active.as_ref().is_some_and(|active| {
                active.iter().all(|activity| matches!(self.phase(&activity.phase), Some((_, Some(_)))))
            });
            let has_end = match stream.arrival {
                Arrival::Trace { .. } => true,
                Arrival::Closed { times, .. } => times.is_some(),
                _ => false,
            };
            has_end || is_in_time || stream.lasts.is_some()
        })
    }

    /// Whether the configuration makes the load vary over time.
    pub fn is_varying(&self) -> bool {
        self.streams.iter().any(|stream| {
            let is_limited = matches!(stream.arrival, Arrival::Closed { times: Some(_), .. });
            is_limited || stream.start.is_some() || stream.lasts.is_some() || stream.active.is_some()
        })
    }

    /// Whether a stream replays a trace.
    pub fn has_trace(&self) -> bool {
        self.streams.iter().any(|stream| matches!(stream.arrival, Arrival::Trace { .. }))
    }
}

impl Start {
    /// Start of a user after that of the stream; `position` is the user's draw.
    pub fn delay(self, position: Fraction) -> SimDuration {
        SimDuration(self.after.0 + (self.spread.0 as f64 * position.0) as u64)
    }
}

const fn one() -> u32 {
    1
}

const fn full() -> f64 {
    1.0
}
