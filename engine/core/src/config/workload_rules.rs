//! The rules that a workload must keep: its timeline, its streams, and what of them is measured.

use super::address_rules::Setting;
use super::check::{check_distribution, check_fraction};
use super::{Arrival, Issue, Order, ReplayMode, Scenario, Step, Stream, WarmUp, Window};
use crate::units::{Bytes, SimDuration};

/// Requests that closed users may have outstanding together.
const MOST_OUTSTANDING: u64 = 1 << 22;

/// Arrivals in each burst or window at least: bursts are stepped through one by one.
const LEAST_MEASURE: f64 = 1e-6;

impl Scenario {
    /// Notes the rules that the workload breaks, and the run as far as it asks for parts of it. `capacities` are those
    /// of the arrays, where they are known.
    pub(super) fn check_workload(&self, capacities: &[Option<Bytes>], issues: &mut Vec<Issue>) {
        self.check_phases(issues);
        self.check_window(issues);
        for (index, stream) in self.workload.streams.iter().enumerate() {
            let path = format!("workload.streams[{index}]");
            if self.workload.streams[..index].iter().any(|other| other.name == stream.name) {
                issues.push(Issue::new(
                    format!("{path}.name"),
                    format!("{:?} names two streams; names must differ", stream.name),
                ));
            }
            self.check_stream(&path, stream, capacities, issues);
        }
    }

    fn check_phases(&self, issues: &mut Vec<Issue>) {
        let phases = &self.workload.phases;
        let mut total = 0_u64;
        for (index, phase) in phases.iter().enumerate() {
            let path = format!("workload.phases[{index}]");
            if phases[..index].iter().any(|other| other.name == phase.name) {
                issues.push(Issue::new(
                    format!("{path}.name"),
                    format!("{:?} names two phases; names must differ", phase.name),
                ));
            }
            match phase.lasts {
                None if index + 1 < phases.len() => issues.push(Issue::new(
                    format!("{path}.lasts"),
                    "is missing; only the last phase may have no end",
                )),
                Some(lasts) => total = total.saturating_add(lasts.0),
                None => {}
            }
        }
        if total > SimDuration::LONGEST.0 {
            issues.push(Issue::new("workload.phases", "all phases together are longer than a hundred years"));
        }
    }

    fn check_window(&self, issues: &mut Vec<Issue>) {
        let workload = &self.workload;
        let (warm_up, window) = (self.run.warm_up, &self.run.window);
        if let Window::Phase(name) = window {
            match workload.phase(name) {
                None => {
                    let names: Vec<_> = workload.phases.iter().map(|phase| phase.name.as_str()).collect();
                    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                    issues.push(Issue::new(
                        "run.window.phase",
                        format!("{name:?}; the phases of `workload.phases` are: {known}"),
                    ));
                }
                Some((_, None)) => issues
                    .push(Issue::new("run.window.phase", format!("{name:?} has no end; give it `lasts`"))),
                Some((_, Some(_))) => {}
            }
            if matches!(warm_up, WarmUp::Requests(_) | WarmUp::Duration(_)) {
                issues.push(Issue::new(
                    "run.warm_up",
                    "the phase says when the window begins; allowed are auto and none",
                ));
            }
            return;
        }
        if *window == Window::Whole && !workload.has_trace() && !workload.is_finite() {
            issues.push(Issue::new(
                "run.window",
                "whole; not every stream ends, so the input never does; allowed are auto, requests, duration and phase",
            ));
        }
        if workload.is_varying() && !workload.has_trace() {
            let why = "auto; the load changes over time (`start`, `lasts`, `active` or `times`), so there is no steady state to find";
            if *window == Window::Auto {
                let allowed = "allowed are phase, duration, requests and whole";
                issues.push(Issue::new("run.window", format!("{why}; {allowed}")));
            } else if warm_up == WarmUp::Auto {
                let allowed = "allowed are none, duration and requests, or auto with a phase as window";
                issues.push(Issue::new("run.warm_up", format!("{why}; {allowed}")));
            }
        }
    }

    fn check_stream(
        &self,
        path: &str,
        stream: &Stream,
        capacities: &[Option<Bytes>],
        issues: &mut Vec<Issue>,
    ) {
        let users = self.workload.users;
        let index = match &stream.array {
            None => Some(0),
            Some(name) => self.arrays().iter().position(|array| &array.name == name),
        };
        if index.is_none() {
            let names: Vec<_> = self.arrays().iter().map(|array| array.name.as_str()).collect();
            issues.push(Issue::new(
                format!("{path}.array"),
                format!("no array has this name; there are: {}", names.join(", ")),
            ));
        }
        stream.check_outstanding(path, users, issues);
        stream.arrival.check(&format!("{path}.arrival"), issues);
        self.check_activity(path, stream, issues);
        if !stream.check_parts(path, issues) {
            return;
        }
        let capacity = index.and_then(|index| capacities.get(index).copied().flatten());
        for (part, operations, address) in stream.requests() {
            let before = issues.len();
            operations.check(&format!("{path}{part}.operations"), issues);
            if let (Some(capacity), true) = (capacity, issues.len() == before) {
                let setting =
                    Setting { capacity, largest: operations.largest(), sources: stream.sources(users) };
                address.check(&format!("{path}{part}.address"), setting, issues);
            }
        }
    }

    fn check_activity(&self, path: &str, stream: &Stream, issues: &mut Vec<Issue>) {
        let phases = &self.workload.phases;
        let Some(active) = &stream.active else { return };
        if let Arrival::Trace { .. } = stream.arrival {
            issues.push(Issue::new(format!("{path}.active"), "a trace has times of its own; leave it out"));
            return;
        }
        for (index, activity) in active.iter().enumerate() {
            let path = format!("{path}.active[{index}]");
            if !phases.iter().any(|phase| phase.name == activity.phase) {
                let names: Vec<_> = phases.iter().map(|phase| phase.name.as_str()).collect();
                let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                issues.push(Issue::new(
                    format!("{path}.phase"),
                    format!("{:?}; the phases of `workload.phases` are: {known}", activity.phase),
                ));
            }
            if active[..index].iter().any(|other| other.phase == activity.phase) {
                issues.push(Issue::new(
                    format!("{path}.phase"),
                    format!("{:?} comes twice; once is allowed", activity.phase),
                ));
            }
            let is_steady = activity.intensity.total_cmp(&1.0).is_eq() && activity.ramp_to.is_none();
            if let (Arrival::FixedOutstanding { .. }, false) = (&stream.arrival, is_steady) {
                issues.push(Issue::new(
                    format!("{path}.intensity"),
                    "a fixed number of outstanding I/Os has no rate; leave out `intensity` and `ramp_to`",
                ));
            }
            let endless = phases.last().filter(|last| last.name == activity.phase && last.lasts.is_none());
            if let (Some(_), Some(_)) = (endless, activity.ramp_to) {
                issues.push(Issue::new(
                    format!("{path}.ramp_to"),
                    format!("{:?} has no end, so nothing is reached there", activity.phase),
                ));
            }
        }
    }
}

impl Arrival {
    fn check(&self, path: &str, issues: &mut Vec<Issue>) {
        match self {
            Self::Closed { think_time, order, depth, .. } => {
                check_distribution(&format!("{path}.think_time"), think_time, issues);
                if let (Order::Serial, Some(depth)) = (order, depth) {
                    issues.push(Issue::new(
                        format!("{path}.depth"),
                        format!("{depth}; only a parallel interaction has a depth"),
                    ));
                }
            }
            Self::BModel { rate, window, .. } if rate.0 * window.as_secs_f64() < LEAST_MEASURE => {
                issues.push(Issue::new(
                    format!("{path}.window"),
                    "not one arrival comes in a million windows; allowed is a longer window, or a higher rate",
                ));
            }
            Self::Mmpp { rate, burst_factor, burst_fraction, burst_time, .. } => {
                let share = burst_fraction.0;
                if share <= 0.0 || share >= 1.0 {
                    issues.push(Issue::new(
                        format!("{path}.burst_fraction"),
                        format!("{share}; allowed is more than 0 and less than 1"),
                    ));
                } else if !(1.0..=1.0 + 1e-9).contains(&(burst_factor * share).max(1.0)) {
                    issues.push(Issue::new(
                        format!("{path}.burst_factor"),
                        format!(
                            "{burst_factor}; allowed is 1 to {}, where nothing arrives between the bursts",
                            1.0 / share
                        ),
                    ));
                } else if burst_time.0 as f64 * (1.0 - share) / share > SimDuration::LONGEST.0 as f64 {
                    issues.push(Issue::new(
                        format!("{path}.burst_time"),
                        "bursts are more than a hundred years apart",
                    ));
                } else if rate.0 * burst_time.as_secs_f64() / share < LEAST_MEASURE {
                    issues.push(Issue::new(
                        format!("{path}.burst_time"),
                        "not one arrival comes in a million bursts; allowed are longer bursts, or a higher rate",
                    ));
                }
            }
            Self::Trace { speed, copies, .. } => {
                if *speed <= 0.0 {
                    issues.push(Issue::new(
                        format!("{path}.speed"),
                        format!("{speed}; allowed is more than 0"),
                    ));
                }
                if let Some(copies) = copies {
                    check_fraction(&format!("{path}.copies.shared_fraction"), copies.shared_fraction, issues);
                }
            }
            _ => {}
        }
    }
}

impl Stream {
    fn check_outstanding(&self, path: &str, users: u32, issues: &mut Vec<Issue>) {
        let (each, name) = match &self.arrival {
            Arrival::Closed { ios, order: Order::Parallel, depth, .. } => match depth {
                Some(depth) => ((*depth).min(*ios), "arrival.depth"),
                None => (*ios, "arrival.ios"),
            },
            Arrival::FixedOutstanding { depth, per_user: true }
            | Arrival::Trace { depth, mode: ReplayMode::Asap, copies: Some(_), .. } => {
                (*depth, "arrival.depth")
            }
            _ => (1, "arrival.kind"),
        };
        let steps = self.steps.iter().flatten().map(|step| match step {
            Step::Io { ios, order: Order::Parallel, .. } => *ios,
            _ => 1,
        });
        let (each, name) = steps.max().map_or((each, name), |most| (most, "steps"));
        if u64::from(each) * u64::from(users) > MOST_OUTSTANDING {
            issues.push(Issue::new(
                format!("{path}.{name}"),
                format!(
                    "{each} for each of {users} users; allowed is {MOST_OUTSTANDING} I/Os outstanding in all"
                ),
            ));
        }
    }

    /// Checks which of its parts are given; gives whether its requests can be looked at.
    fn check_parts(&self, path: &str, issues: &mut Vec<Issue>) -> bool {
        let given = [
            ("operations", self.operations.is_some()),
            ("address", self.address.is_some()),
            ("mix", self.mix.is_some()),
            ("steps", self.steps.is_some()),
        ];
        if let Arrival::Trace { .. } = self.arrival {
            for (name, is_given) in given {
                if is_given {
                    issues.push(Issue::new(format!("{path}.{name}"), "a trace brings its own; leave it out"));
                }
            }
            if self.lasts.is_some() {
                let message = "a trace lasts as long as it does; end the window instead";
                issues.push(Issue::new(format!("{path}.lasts"), message));
            }
            return false;
        }
        if let Some(whole) = [("steps", self.steps.is_some()), ("mix", self.mix.is_some())]
            .into_iter()
            .find_map(|(name, is_given)| is_given.then_some(name))
        {
            for (name, _) in given.into_iter().filter(|(name, is_given)| *is_given && *name != whole) {
                let message = format!("is given besides `{whole}`; leave one of the two out");
                issues.push(Issue::new(format!("{path}.{name}"), message));
            }
        } else {
            for (name, _) in given.into_iter().take(2).filter(|(_, is_given)| !is_given) {
                issues
                    .push(Issue::new(format!("{path}.{name}"), "is missing; only a trace may leave it out"));
            }
        }
        if self.steps.is_some() {
            match self.arrival {
                Arrival::Closed { ios: 1, order: Order::Serial, .. } => {}
                Arrival::Closed { .. } => issues.push(Issue::new(
                    format!("{path}.arrival.ios"),
                    "with `steps` an interaction is those steps; leave out `ios` and `order`",
                )),
                _ => issues.push(Issue::new(
                    format!("{path}.steps"),
                    "only closed users have interactions; allowed with `arrival.kind` closed",
                )),
            }
        }
        true
    }
}
