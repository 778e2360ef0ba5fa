//! A source of synthetic requests: one user of a stream, or a stream without users.

use std::ops::Range;
use std::sync::Arc;

use super::b_model::BModel;
use super::command::Command;
use super::gaps::Gaps;
use super::mmpp::Mmpp;
use super::pace::Pace;
use super::requests::{ReadExtent, RequestModel, Requests};
use crate::config::{self, Arrival, Distribution, Order};
use crate::rng::{Purpose, RandomStream};
use crate::units::{Rate, SimDuration, SimTime};

/// When a source issues.
#[derive(Clone, Debug)]
pub enum Timing {
    /// Thinks, then issues an interaction of `ios` I/Os, at most `width` of them at once.
    Closed {
        /// Time between interactions.
        think_time: Distribution,
        /// I/Os of an interaction, or of its current step.
        ios: u32,
        /// Maximum outstanding I/Os.
        width: u32,
    },
    /// Issues a request whenever one completes.
    Outstanding {
        /// Outstanding I/Os.
        depth: u32,
    },
    /// Issues with gaps that do not depend on completions.
    Open(Gaps),
}

impl Timing {
    /// The timing of user `user` of the stream `name`. Precondition: it is not a trace.
    pub fn new(arrival: &config::Arrival, run: &config::Run, name: &str, user: u32) -> Self {
        let mut first_state = RandomStream::named(run.seed, run.replicate, name, user, Purpose::Start);
        let gap = |rate: Rate| SimDuration::from_secs_f64(1.0 / rate.0);
        match *arrival {
            Arrival::Closed { think_time, ios, order, depth, .. } => {
                let width = if order == Order::Parallel { depth.unwrap_or(ios).min(ios) } else { 1 };
                Self::Closed { think_time, ios, width }
            }
            Arrival::FixedOutstanding { depth, .. } => Self::Outstanding { depth },
            Arrival::Poisson { rate, .. } => Self::Open(Gaps::Exponential { mean: gap(rate) }),
            Arrival::Constant { rate, .. } => Self::Open(Gaps::Constant { gap: gap(rate) }),
            Arrival::Mmpp { rate, burst_factor, burst_fraction, burst_time, .. } => {
                let (factor, share) = (burst_factor, burst_fraction.0);
                let mmpp = Mmpp::new(rate.0, factor, share, burst_time, &mut first_state);
                Self::Open(Gaps::Mmpp(Box::new(mmpp)))
            }
            Arrival::BModel { rate, bias, window, levels, .. } => {
                Self::Open(Gaps::BModel(Box::new(BModel::new(rate.0, bias, window, levels))))
            }
            Arrival::Trace { .. } => unreachable!("a trace is replayed"),
        }
    }
}

/// A step of an interaction.
#[derive(Clone, Copy, Debug)]
pub struct StepPlan {
    /// Number of I/Os.
    pub ios: u32,
    /// Maximum outstanding I/Os.
    pub width: u32,
    /// Kind of its requests; none for a flush.
    pub kind: Option<u32>,
}

impl StepPlan {
    /// The plan of `step`; `kind` counts the kinds of requests so far.
    pub fn new(step: &config::Step, kind: &mut u32) -> Self {
        match step {
            config::Step::Io { ios, order, .. } => {
                *kind += 1;
                let width = if *order == Order::Parallel { *ios } else { 1 };
                Self { ios: *ios, width, kind: Some(*kind - 1) }
            }
            config::Step::Flush => Self { ios: 1, width: 1, kind: None },
        }
    }
}

/// The order of the kinds of requests of a source.
#[derive(Clone, Debug)]
pub enum Sequence {
    /// A single kind.
    One(Requests),
    /// A random kind for each request.
    Mix(Box<Mix>),
    /// The kinds of the steps of an interaction.
    Steps(Box<Steps>),
}

impl Sequence {
    fn kinds_mut(&mut self) -> &mut [Requests] {
        match self {
            Self::One(requests) => std::slice::from_mut(requests),
            Self::Mix(mix) => &mut mix.kinds,
            Self::Steps(steps) => &mut steps.kinds,
        }
    }
}

/// A mixture of kinds of requests.
#[derive(Clone, Debug)]
pub struct Mix {
    sums: Arc<[f64]>,
    kinds: Box<[Requests]>,
    choice: RandomStream,
}

/// The steps of an interaction.
#[derive(Clone, Debug)]
pub struct Steps {
    plan: Arc<[StepPlan]>,
    kinds: Box<[Requests]>,
    at: usize,
}

/// What the sources of a stream share.
#[derive(Clone, Debug)]
pub struct Content {
    /// Name of the stream.
    pub name: String,
    /// Index of the stream in the workload.
    pub stream: u16,
    /// Index of its array.
    pub array: u16,
    /// Index of the first kind of its requests among all models.
    pub first_model: u32,
    /// Number of kinds.
    pub kinds: u32,
    /// The steps of an interaction, if any.
    pub steps: Option<Arc<[StepPlan]>>,
    /// The cumulative shares of a mixture, if it is one.
    pub mix: Option<Arc<[f64]>>,
}

/// One source of synthetic requests, with its own random streams.
#[derive(Clone, Debug)]
pub struct Synthetic {
    /// Index of the stream in the workload.
    pub stream: u16,
    /// The user; 0 for a stream without users.
    pub user: u32,
    /// Index of its array.
    pub array: u16,
    /// Index of the first kind of its requests among all models.
    first_model: u32,
    /// When it issues.
    pub timing: Timing,
    /// Its pace, if its clock differs from simulated time or it ends.
    pub pace: Option<Box<Pace>>,
    /// I/Os of the current interaction or step that are not issued yet.
    pub to_issue: u32,
    /// I/Os of the current interaction that are outstanding or about to be issued.
    pub outstanding: u32,
    /// When the current interaction started.
    pub started: SimTime,
    arrival: RandomStream,
    sequence: Sequence,
    last_read: Option<ReadExtent>,
}

impl Synthetic {
    /// The source of user `user` of a stream. `models` are those of all streams.
    pub fn new(
        run: &config::Run,
        content: &Content,
        models: &[RequestModel],
        user: u32,
        timing: Timing,
    ) -> Self {
        let name = &content.name;
        let first = content.first_model as usize;
        let models = &models[first..first + content.kinds as usize];
        let kinds = || {
            let kind = |(index, model)| Requests::new(run, &format!("{name}/{index}"), user, model);
            models.iter().enumerate().map(kind).collect()
        };
        let sequence = if let Some(plan) = &content.steps {
            Sequence::Steps(Box::new(Steps { plan: Arc::clone(plan), kinds: kinds(), at: 0 }))
        } else if let Some(sums) = &content.mix {
            let choice = RandomStream::named(run.seed, run.replicate, name, user, Purpose::Kind);
            Sequence::Mix(Box::new(Mix { sums: Arc::clone(sums), kinds: kinds(), choice }))
        } else {
            Sequence::One(Requests::new(run, name, user, &models[0]))
        };
        let mut source = Self {
            stream: content.stream,
            user,
            array: content.array,
            first_model: content.first_model,
            timing,
            pace: None,
            to_issue: 0,
            outstanding: 0,
            started: SimTime::ZERO,
            arrival: RandomStream::named(run.seed, run.replicate, name, user, Purpose::Arrival),
            sequence,
            last_read: None,
        };
        source.set_step_timing();
        source
    }

    /// The same source with the random streams of the functional warm-up.
    #[must_use]
    pub fn for_warm_up(&self, run: &config::Run, name: &str) -> Self {
        let mut twin = self.clone();
        let rename = |kinds: Box<[Requests]>| -> Box<[Requests]> {
            let rename = |(index, kind): (usize, Requests)| {
                kind.for_warm_up(run, &format!("{name}/{index}"), self.user)
            };
            kinds.into_iter().enumerate().map(rename).collect()
        };
        let choice = |part: &str| {
            RandomStream::named(
                run.seed,
                run.replicate,
                &format!("{name}/{part}"),
                self.user,
                Purpose::WarmUp,
            )
        };
        twin.sequence = match twin.sequence {
            Sequence::One(requests) => Sequence::One(requests.for_warm_up(run, name, self.user)),
            Sequence::Mix(mix) => Sequence::Mix(Box::new(Mix {
                sums: mix.sums,
                kinds: rename(mix.kinds),
                choice: choice("kind"),
            })),
            // Without time there are no interactions: each step has its share of the requests.
            Sequence::Steps(steps) => {
                let ios = |kind: u32| {
                    let of_kind = steps.plan.iter().filter(|step| step.kind == Some(kind));
                    f64::from(of_kind.map(|step| step.ios).sum::<u32>())
                };
                let weights: Vec<_> = (0..steps.kinds.len() as u32).map(ios).collect();
                let kinds = rename(steps.kinds);
                Sequence::Mix(Box::new(Mix { sums: sums(&weights), kinds, choice: choice("kind") }))
            }
        };
        twin
    }

    /// Which models are those of its requests.
    pub fn models(&self) -> Range<usize> {
        let kinds = match &self.sequence {
            Sequence::One(_) => 1,
            Sequence::Mix(mix) => mix.kinds.len(),
            Sequence::Steps(steps) => steps.kinds.len(),
        };
        let first = self.first_model as usize;
        first..first + kinds
    }

    /// Continues its addresses where those of its twin are: a scan does not repeat what the twin has cached, and data that
    /// come again soon are those that it has cached. Returns which of `models` must be those of the twin.
    pub fn follow(&mut self, twin: &mut Self, models: &[RequestModel]) -> Range<usize> {
        let own = self.models();
        let kinds = self.sequence.kinds_mut();
        for ((requests, other), model) in
            kinds.iter_mut().zip(twin.sequence.kinds_mut()).zip(&models[own.clone()])
        {
            requests.follow(other, model);
        }
        own
    }

    /// Whether its requests fill the caches in the functional warm-up: it runs from time 0 on, and its requests move data.
    pub fn is_warming_up(&self) -> bool {
        let has_data = !matches!(&self.sequence, Sequence::Steps(steps) if steps.kinds.is_empty());
        has_data && self.pace.as_ref().is_none_or(|pace| pace.is_awake())
    }

    /// The next think time or gap.
    #[inline]
    pub fn gap(&mut self) -> SimDuration {
        match &mut self.timing {
            Timing::Closed { think_time, .. } => think_time.draw(&mut self.arrival),
            Timing::Open(gaps) => gaps.next(&mut self.arrival),
            Timing::Outstanding { .. } => SimDuration::ZERO,
        }
    }

    /// The end of the gap or think time that begins at `now`; none if the source ends before.
    #[inline]
    pub fn next_time(&mut self, now: SimTime) -> Option<SimTime> {
        let gap = self.gap();
        match &self.pace {
            None => Some(now + gap),
            Some(pace) => pace.after(now, gap),
        }
    }

    /// When it issues first, if the hosts start at `now`.
    pub fn first_time(&mut self, now: SimTime) -> Option<SimTime> {
        let gap = match &mut self.timing {
            Timing::Open(gaps) => gaps.first(&mut self.arrival),
            _ => self.gap(),
        };
        match &self.pace {
            None => Some(now + gap),
            Some(pace) => pace.first_after(now, gap),
        }
    }

    /// Maximum outstanding requests; 0 for an open source, which has no limit.
    pub fn population(&self) -> usize {
        match (&self.timing, &self.sequence) {
            (_, Sequence::Steps(steps)) => {
                steps.plan.iter().map(|step| step.width).max().unwrap_or(1) as usize
            }
            (Timing::Closed { width, .. }, _) => *width as usize,
            (Timing::Outstanding { depth }, _) => *depth as usize,
            (Timing::Open(_), _) => 0,
        }
    }

    /// Advances to the next step of the interaction; after the last one returns false and restarts at the first.
    #[inline]
    pub fn next_step(&mut self) -> bool {
        let Sequence::Steps(steps) = &mut self.sequence else { return false };
        steps.at = (steps.at + 1) % steps.plan.len();
        let is_continued = steps.at > 0;
        self.set_step_timing();
        is_continued
    }

    /// Begins an interaction or its next step; returns how many requests are issued at once.
    #[inline]
    pub fn begin_step(&mut self) -> u32 {
        let Timing::Closed { ios, width, .. } = self.timing else { return 1 };
        self.to_issue = ios - width;
        self.outstanding = width;
        width
    }

    /// Drops the current interaction: its host lost power.
    pub fn forget_requests(&mut self) {
        (self.to_issue, self.outstanding) = (0, 0);
        if let Sequence::Steps(steps) = &mut self.sequence {
            steps.at = 0;
        }
        self.set_step_timing();
    }

    /// Whether it is between two interactions, not between two steps of one.
    #[inline]
    pub fn is_between(&self) -> bool {
        !matches!(&self.sequence, Sequence::Steps(steps) if steps.at > 0)
    }

    fn set_step_timing(&mut self) {
        if let (Timing::Closed { ios, width, .. }, Sequence::Steps(steps)) =
            (&mut self.timing, &self.sequence)
        {
            (*ios, *width) = (steps.plan[steps.at].ios, steps.plan[steps.at].width);
        }
    }

    /// The next command.
    #[inline]
    pub fn command(&mut self, models: &[RequestModel]) -> Command {
        let first = self.first_model as usize;
        match &mut self.sequence {
            Sequence::One(requests) => requests.command(&models[first], &mut self.last_read),
            Sequence::Mix(mix) => {
                let draw = mix.choice.unit();
                let kind = mix.sums.partition_point(|&sum| sum <= draw).min(mix.kinds.len() - 1);
                mix.kinds[kind].command(&models[first + kind], &mut self.last_read)
            }
            Sequence::Steps(steps) => match steps.plan[steps.at].kind {
                None => Command::FLUSH,
                Some(kind) => {
                    let kind = kind as usize;
                    steps.kinds[kind].command(&models[first + kind], &mut self.last_read)
                }
            },
        }
    }
}

/// The cumulative shares of `weights`.
pub fn sums(weights: &[f64]) -> Arc<[f64]> {
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    weights
        .iter()
        .map(|weight| {
            sum += weight / total;
            sum
        })
        .collect()
}
