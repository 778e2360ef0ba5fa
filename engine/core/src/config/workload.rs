//! What the hosts ask for: users, and the streams of requests that they issue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Address, Arrival, Operations, Order};
use crate::units::{Fraction, SimDuration};

/// The load on the array: a number of users and the streams that run together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Number of users. Closed streams exist once per user; open streams once per user where `per_user` is true; traces with `copies` once per user.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub users: u32,
    /// The timeline: phases that follow each other from the start of the run, such as a logon storm, a steady state and a backup window. A stream says by `active` in which of them it runs; `run.window` may name the one that is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// The streams that run together.
    #[schemars(length(min = 1))]
    pub streams: Vec<Stream>,
}

/// A part of the timeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name of the phase.
    #[schemars(length(min = 1))]
    pub name: String,
    /// How long it lasts. Only the last phase may leave it out: it then has no end.
    #[serde(default)]
    #[schemars(extend("minimum" = 1))]
    pub lasts: Option<SimDuration>,
}

/// One stream of requests: an arrival process, what the requests are, where they go, and the array that they go to.
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
    /// When the stream starts; at the start of the run where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// How long it goes on after its start; without end where it is not given. Requests that are under way then are completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 1))]
    pub lasts: Option<SimDuration>,
    /// The phases of `workload.phases` in which the stream runs, and how intensely; all of the time at intensity 1 where it is not given. The stream's own clock goes `intensity` times as fast as the run's: gaps, think times, `start` and `lasts` are counted in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub active: Option<Vec<Activity>>,
    /// What the requests are. Not given for a trace, which brings its own, nor beside `mix` or `steps`.
    #[serde(default)]
    pub operations: Option<Operations>,
    /// Where the requests go. Not given for a trace, which brings its own, nor beside `mix` or `steps`.
    #[serde(default)]
    pub address: Option<Address>,
    /// A mixture instead of `operations` and `address`: each request is of one of these kinds, by weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub mix: Option<Vec<Component>>,
    /// A chain instead of `operations` and `address`, for closed users: an interaction is these steps, each of which waits for the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub steps: Option<Vec<Step>>,
}

/// When a stream starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Start {
    /// Time before the first user starts.
    pub after: SimDuration,
    /// Users start at random over so much more time. A user's place in it is the same in all streams: who logs on late works late.
    pub spread: SimDuration,
}

/// A phase in which a stream runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Activity {
    /// Name of the phase.
    #[schemars(length(min = 1))]
    pub phase: String,
    /// How fast the stream's clock goes: 2 doubles open rates and halves think times.
    #[serde(default = "full")]
    #[schemars(range(min = 0.0, max = 1e6))]
    pub intensity: f64,
    /// The intensity at the end of the phase, to which it goes linearly; it stays as it is where this is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1e6))]
    pub ramp_to: Option<f64>,
}

/// One kind of request of a mixture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// Its weight, relative to the sum of all.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e9))]
    pub weight: f64,
    /// What its requests are.
    pub operations: Operations,
    /// Where its requests go.
    pub address: Address,
}

/// One step of an interaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Some I/Os.
    Io {
        /// How many.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = 10_000))]
        ios: u32,
        /// Whether they wait for each other.
        #[serde(default)]
        order: Order,
        /// What they are.
        operations: Operations,
        /// Where they go.
        address: Address,
    },
    /// A flush.
    Flush,
}

impl Stream {
    /// What the requests are and where they go, each with the path below the stream's.
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

    /// Sets what cannot matter to nothing, and what is the same as something simpler to that.
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
                address.have_one_user();
            }
        }
    }

    /// How many sources issue its requests.
    pub const fn sources(&self, users: u32) -> u32 {
        if self.arrival.is_per_user() { users } else { 1 }
    }
}

impl Workload {
    /// Where on the timeline the phase lies: when it begins, and how long it lasts where it has an end.
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

    /// Whether all streams come to an end.
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

    /// Whether the load changes over time by its own plan.
    pub fn is_varying(&self) -> bool {
        self.streams.iter().any(|stream| {
            let is_limited = matches!(stream.arrival, Arrival::Closed { times: Some(_), .. });
            is_limited || stream.start.is_some() || stream.lasts.is_some() || stream.active.is_some()
        })
    }

    /// Whether a stream is a trace.
    pub fn has_trace(&self) -> bool {
        self.streams.iter().any(|stream| matches!(stream.arrival, Arrival::Trace { .. }))
    }
}

impl Start {
    /// How long after the stream's start the user starts whose draw is `place`.
    pub fn delay(self, place: Fraction) -> SimDuration {
        SimDuration(self.after.0 + (self.spread.0 as f64 * place.0) as u64)
    }
}

const fn one() -> u32 {
    1
}

const fn full() -> f64 {
    1.0
}
