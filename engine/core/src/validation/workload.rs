//! The rules of a workload: its timeline, its streams, and the window that is measured.

use super::address::{Setting, check_address};
use super::operations::check_operations;
use super::sampling::check_sampling;
use super::{check_distribution, check_unique, conflict, unknown_name};
use crate::config::{Arrival, Order, ReplayMode, Scenario, Step, Stream, WarmUp, Window};
use crate::issue::Issue;
use crate::units::{Bytes, SimDuration};

/// Largest number of requests that closed users have outstanding together.
const MAX_OUTSTANDING: u64 = 1 << 22;

/// Fewest arrivals per burst or window, since bursts are simulated one by one.
const MIN_ARRIVALS: f64 = 1e-6;

impl Scenario {
    /// Checks the workload and the window. `capacities` are those of the arrays, where they are known.
    pub(super) fn check_workload(&self, capacities: &[Option<Bytes>], issues: &mut Vec<Issue>) {
        self.check_phases(issues);
        self.check_window(issues);
        let streams = &self.workload.streams;
        check_unique(
            streams.iter().map(|stream| stream.name.as_str()),
            |index| format!("workload.streams.{index}.name"),
            issues,
        );
        for (index, stream) in streams.iter().enumerate() {
            self.check_stream(&format!("workload.streams.{index}"), stream, capacities, issues);
        }
    }

    fn check_phases(&self, issues: &mut Vec<Issue>) {
        let phases = &self.workload.phases;
        check_unique(self.phase_names(), |index| format!("workload.phases.{index}.name"), issues);
        let mut total = 0_u64;
        for (index, phase) in phases.iter().enumerate() {
            match phase.lasts {
                None if index + 1 < phases.len() => issues.push(Issue::new(
                    "scenario.missing-key",
                    format!("workload.phases.{index}.lasts"),
                    "missing; only the last phase may have no end",
                )),
                Some(lasts) => total = total.saturating_add(lasts.0),
                None => {}
            }
        }
        if total > SimDuration::LONGEST.0 {
            issues.push(Issue::new(
                "scenario.too-long",
                "workload.phases",
                "longer than 100 years in all; allowed are 100 years",
            ));
        }
    }

    fn phase_names(&self) -> impl Iterator<Item = &str> {
        self.workload.phases.iter().map(|phase| phase.name.as_str())
    }

    fn check_window(&self, issues: &mut Vec<Issue>) {
        let workload = &self.workload;
        let (warm_up, window) = (self.run.warm_up, &self.run.window);
        if let Window::Phase(name) = window {
            let place = "run.window.phase";
            match workload.phase(name) {
                None => issues.push(unknown_name(place.to_owned(), name, self.phase_names())),
                Some((_, None)) => issues.push(Issue::new(
                    "scenario.endless-phase",
                    place,
                    format!("phase {name:?} has no end; set its `lasts`"),
                )),
                Some((_, Some(_))) => {}
            }
            if matches!(warm_up, WarmUp::Requests(_) | WarmUp::Duration(_)) {
                issues.push(Issue::new(
                    "scenario.warm-up-with-phase",
                    "run.warm_up",
                    "the window begins with its phase; allowed are auto and none",
                ));
            }
            return;
        }
        if *window == Window::Whole && !workload.has_trace() && !workload.is_finite() {
            issues.push(Issue::new(
                "scenario.endless-input",
                "run.window",
                "whole, but not every stream ends; allowed are auto, requests, duration and phase",
            ));
        }
        if workload.is_varying() && !workload.has_trace() {
            let why =
                "auto needs a steady state, and the load varies (`start`, `lasts`, `active` or `times`)";
            if *window == Window::Auto {
                let message = format!("{why}; allowed are phase, duration, requests and whole");
                issues.push(Issue::new("scenario.no-steady-state", "run.window", message));
            } else if warm_up == WarmUp::Auto {
                let message =
                    format!("{why}; allowed are none, duration and requests, or auto with a phase as window");
                issues.push(Issue::new("scenario.no-steady-state", "run.warm_up", message));
            }
        }
    }

    fn check_stream(
        &self,
        place: &str,
        stream: &Stream,
        capacities: &[Option<Bytes>],
        issues: &mut Vec<Issue>,
    ) {
        let users = self.workload.users;
        let names = || self.arrays().iter().map(|array| array.name.as_str());
        let index = match &stream.array {
            None => Some(0),
            Some(name) => {
                let index = names().position(|known| known == name);
                if index.is_none() {
                    issues.push(unknown_name(format!("{place}.array"), name, names()));
                }
                index
            }
        };
        check_outstanding(place, stream, users, issues);
        check_arrival(&format!("{place}.arrival"), &stream.arrival, issues);
        self.check_processor_time(&format!("{place}.processor_time"), stream, issues);
        self.check_activity(place, stream, issues);
        if let Arrival::Trace { .. } = stream.arrival {
            check_replay(place, stream, issues);
            return;
        }
        check_parts(place, stream, issues);
        let capacity = index.and_then(|index| capacities.get(index).copied().flatten());
        for (part, operations, address) in stream.requests() {
            let before = issues.len();
            check_operations(&format!("{place}{part}.operations"), operations, issues);
            if let (Some(capacity), true) = (capacity, issues.len() == before) {
                let setting =
                    Setting { capacity, largest: operations.largest(), sources: stream.sources(users) };
                check_address(&format!("{place}{part}.address"), address, setting, issues);
                let place = format!("{place}{part}");
                check_sampling(&place, (operations, address), capacity, setting.sources, issues);
            }
        }
    }

    fn check_processor_time(&self, place: &str, stream: &Stream, issues: &mut Vec<Issue>) {
        let Some(time) = &stream.processor_time else { return };
        check_distribution(place, time, issues);
        if self.host.is_none() && !matches!(stream.arrival, Arrival::Trace { .. }) {
            issues.push(Issue::new(
                "scenario.no-host",
                place,
                "needs the processors of the host; set `host.cores`",
            ));
        }
    }

    fn check_activity(&self, place: &str, stream: &Stream, issues: &mut Vec<Issue>) {
        let Some(active) = &stream.active else { return };
        if let Arrival::Trace { .. } = stream.arrival {
            issues.push(not_for_trace(format!("{place}.active")));
            return;
        }
        check_unique(
            active.iter().map(|activity| activity.phase.as_str()),
            |index| format!("{place}.active.{index}.phase"),
            issues,
        );
        for (index, activity) in active.iter().enumerate() {
            let place = format!("{place}.active.{index}");
            let phase = self.workload.phases.iter().find(|phase| phase.name == activity.phase);
            if phase.is_none() {
                issues.push(unknown_name(format!("{place}.phase"), &activity.phase, self.phase_names()));
            }
            let is_steady = activity.intensity.total_cmp(&1.0).is_eq() && activity.ramp_to.is_none();
            if let (Arrival::FixedOutstanding { .. }, false) = (&stream.arrival, is_steady) {
                issues.push(Issue::new(
                    "scenario.intensity-without-rate",
                    format!("{place}.intensity"),
                    "a fixed number of outstanding I/Os has no rate; remove `intensity` and `ramp_to`",
                ));
            }
            if activity.ramp_to.is_some() && phase.is_some_and(|phase| phase.lasts.is_none()) {
                issues.push(Issue::new(
                    "scenario.endless-phase",
                    format!("{place}.ramp_to"),
                    format!("phase {:?} has no end; set its `lasts`", activity.phase),
                ));
            }
        }
    }
}

fn check_arrival(place: &str, arrival: &Arrival, issues: &mut Vec<Issue>) {
    match arrival {
        Arrival::Closed { think_time, order, depth, .. } => {
            check_distribution(&format!("{place}.think_time"), think_time, issues);
            if let (Order::Serial, Some(depth)) = (order, depth) {
                issues.push(Issue::new(
                    "scenario.depth-without-parallel",
                    format!("{place}.depth"),
                    format!("{depth}; allowed only with `order: parallel`"),
                ));
            }
        }
        Arrival::BModel { rate, window, .. } if rate.0 * window.as_secs_f64() < MIN_ARRIVALS => {
            issues.push(Issue::new(
                "scenario.too-few-arrivals",
                format!("{place}.window"),
                "less than one arrival in a million windows; use a longer window or a higher rate",
            ));
        }
        Arrival::Mmpp { rate, burst_factor, burst_fraction, burst_time, .. } => {
            let share = burst_fraction.0;
            let (code, name, message) = if share >= 1.0 {
                let message = format!("{share}; allowed is more than 0 and less than 1");
                ("scenario.out-of-range", "burst_fraction", message)
            } else if burst_factor * share > 1.0 + 1e-9 {
                let message = format!("{burst_factor}; allowed is 1 to 1 / burst_fraction, {}", 1.0 / share);
                ("scenario.burst-factor-too-large", "burst_factor", message)
            } else if burst_time.0 as f64 * (1.0 - share) / share > SimDuration::LONGEST.0 as f64 {
                let message = "more than 100 years between bursts; allowed are 100 years".to_owned();
                ("scenario.too-long", "burst_time", message)
            } else if rate.0 * burst_time.as_secs_f64() / share < MIN_ARRIVALS {
                let message = "less than one arrival in a million bursts; use longer bursts or a higher rate";
                ("scenario.too-few-arrivals", "burst_time", message.to_owned())
            } else {
                return;
            };
            issues.push(Issue::new(code, format!("{place}.{name}"), message));
        }
        _ => {}
    }
}

fn check_outstanding(place: &str, stream: &Stream, users: u32, issues: &mut Vec<Issue>) {
    let (each, name) = match &stream.arrival {
        Arrival::Closed { ios, order: Order::Parallel, depth, .. } => match depth {
            Some(depth) => ((*depth).min(*ios), "arrival.depth"),
            None => (*ios, "arrival.ios"),
        },
        Arrival::FixedOutstanding { depth, per_user: true }
        | Arrival::Trace { depth, mode: ReplayMode::Asap, copies: Some(_), .. } => (*depth, "arrival.depth"),
        _ => (1, "arrival.kind"),
    };
    let steps = stream.steps.iter().flatten().map(|step| match step {
        Step::Io { ios, order: Order::Parallel, .. } => *ios,
        _ => 1,
    });
    let (each, name) = steps.max().map_or((each, name), |most| (most, "steps"));
    if u64::from(each) * u64::from(users) > MAX_OUTSTANDING {
        issues.push(Issue::new(
            "scenario.too-much-memory",
            format!("{place}.{name}"),
            format!(
                "{each} outstanding I/Os for each of {users} users; allowed are {MAX_OUTSTANDING} in all"
            ),
        ));
    }
}

fn not_for_trace(place: String) -> Issue {
    Issue::new("scenario.not-for-trace", place, "not allowed for a trace, which has its own; remove it")
}

/// Checks that a replay has no keys that its trace determines.
fn check_replay(place: &str, stream: &Stream, issues: &mut Vec<Issue>) {
    for (name, is_given) in [
        ("operations", stream.operations.is_some()),
        ("address", stream.address.is_some()),
        ("mix", stream.mix.is_some()),
        ("steps", stream.steps.is_some()),
        ("lasts", stream.lasts.is_some()),
        ("processor_time", stream.processor_time.is_some()),
    ] {
        if is_given {
            issues.push(not_for_trace(format!("{place}.{name}")));
        }
    }
}

/// Checks that a stream has either operations and address, or a mix, or steps.
fn check_parts(place: &str, stream: &Stream, issues: &mut Vec<Issue>) {
    let plain = [("operations", stream.operations.is_some()), ("address", stream.address.is_some())];
    let whole = match (&stream.steps, &stream.mix) {
        (Some(_), mix) => {
            if mix.is_some() {
                issues.push(conflict(format!("{place}.mix"), "steps"));
            }
            Some("steps")
        }
        (None, Some(_)) => Some("mix"),
        (None, None) => None,
    };
    for (name, is_given) in plain {
        match whole {
            Some(whole) if is_given => issues.push(conflict(format!("{place}.{name}"), whole)),
            None if !is_given => issues.push(Issue::new(
                "scenario.missing-key",
                format!("{place}.{name}"),
                "missing; only a trace, a mix or steps need none",
            )),
            _ => {}
        }
    }
    if stream.steps.is_some() {
        match stream.arrival {
            Arrival::Closed { ios: 1, order: Order::Serial, .. } => {}
            Arrival::Closed { .. } => issues.push(Issue::new(
                "scenario.conflicting-keys",
                format!("{place}.arrival.ios"),
                "conflicts with `steps`, which are the interaction; remove `ios` and `order`",
            )),
            _ => issues.push(Issue::new(
                "scenario.steps-without-users",
                format!("{place}.steps"),
                "only closed users have interactions; allowed with `arrival.kind: closed`",
            )),
        }
    }
}
