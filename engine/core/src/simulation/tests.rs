//! Common random numbers: what one part of a scenario draws depends on nothing else in it.

use std::collections::BTreeMap;

use super::Simulation;
use super::hosts::Source;
use super::{COLUMNS, simulate_interruptible};
use crate::config::Scenario;
use crate::error::RunError;
use crate::interruption::{Interrupt, Interruption, Uninterrupted};
use crate::units::SimDuration;
use crate::workload::Command;

/// Two streams of closed users on an array of `disks` disks.
fn scenario(users: u32, disks: u32, raid: &str, replicate: u32) -> Scenario {
    let stream = |name: &str, address: &str| {
        format!(
            r#"{{"name": "{name}",
                "arrival": {{"kind": "closed", "think_time": {{"kind": "exponential", "mean": 1000000000}}}},
                "operations": {{"read_fraction": 0.5, "size": {{"kind": "choice", "options": [
                    {{"value": 4096, "weight": 1}}, {{"value": 8192, "weight": 1}}]}}}},
                "address": {address}}}"#
        )
    };
    let uniform = r#"{"kind": "uniform", "footprint": 1073741824}"#;
    let zipf = r#"{"kind": "zipf", "exponent": 0.9, "footprint": 1073741824}"#;
    let text = format!(
        r#"{{"workload": {{"users": {users}, "streams": [{}, {}]}},
            "array": {{"raid": "{raid}", "disks": {disks}, "disk": {{"kind": "server",
                "service": {{"kind": "exponential", "mean": 5000000}}, "capacity": 100000000000}}}},
            "run": {{"replicate": {replicate}}}}}"#,
        stream("data", uniform),
        stream("log", zipf),
    );
    Scenario::from_json(&text).unwrap().normalise().unwrap()
}

/// The first commands and gaps of each source, by stream and user.
fn requests(scenario: Scenario) -> BTreeMap<(u16, usize), Vec<(Command, SimDuration)>> {
    let mut simulation = Simulation::build(scenario, &BTreeMap::new()).unwrap();
    let (models, mut seen) = (&simulation.hosts.models, BTreeMap::new());
    let mut users = BTreeMap::<u16, usize>::new();
    for source in &mut simulation.hosts.sources {
        let Source::Synthetic(source) = source else { unreachable!("there is no trace") };
        let user = users.entry(source.stream).or_default();
        let drawn = (0..50).map(|_| (source.command(models), source.gap())).collect();
        seen.insert((source.stream, *user), drawn);
        *user += 1;
    }
    seen
}

#[test]
fn a_further_user_changes_no_other_users_requests() {
    let (few, more) = (requests(scenario(3, 4, "5", 0)), requests(scenario(4, 4, "5", 0)));
    assert_eq!((few.len(), more.len()), (6, 8));
    for (who, drawn) in &few {
        assert_eq!(&more[who], drawn, "{who:?}");
    }
}

#[test]
fn disks_and_raid_level_change_no_requests() {
    assert_eq!(requests(scenario(2, 4, "5", 0)), requests(scenario(2, 6, "10", 0)));
}

#[test]
fn users_streams_and_replicates_draw_apart() {
    let drawn = requests(scenario(2, 4, "5", 0));
    assert_ne!(drawn[&(0, 0)], drawn[&(0, 1)]);
    assert_ne!(drawn[&(0, 0)], drawn[&(1, 0)]);
    assert_ne!(drawn[&(0, 0)], requests(scenario(2, 4, "5", 1))[&(0, 0)]);
}

/// A scenario in which each user draws all that a user may draw.
fn varied(users: u32) -> Scenario {
    let operations = r#"{"read_fraction": 0.5, "rewrite_fraction": 0.3,
        "size": {"kind": "choice", "options": [{"value": 4096, "weight": 1}, {"value": 8192, "weight": 1}]}}"#;
    let arrivals = [
        r#"{"kind": "constant", "rate": 10, "per_user": true}"#,
        r#"{"kind": "mmpp", "rate": 10, "burst_factor": 4, "burst_fraction": 0.2, "burst_time": 1000000000, "per_user": true}"#,
        r#"{"kind": "b_model", "rate": 10, "bias": 0.7, "window": 60000000000, "per_user": true}"#,
    ];
    let addresses = [
        r#""kind": "stack_distance", "curve": [{"size": 65536, "hit_ratio": 0.5}]"#,
        r#""kind": "pareto", "hot_fraction": 0.2"#,
        r#""kind": "hot_cold", "hot_fraction": 0.2, "access_fraction": 0.8"#,
        r#""kind": "sequential", "jump_fraction": 0.2"#,
        r#""kind": "strided", "stride": 16384"#,
        r#""kind": "hierarchical_reuse", "block": 8192, "levels": 2"#,
    ];
    let place = |index: usize| {
        format!(
            r#"{{{}, "footprint": 1048576, "per_user": true, "placement": {{"kind": "scattered", "extent": 65536}}}}"#,
            addresses[index]
        )
    };
    let mut streams: Vec<_> = (0..3)
        .map(|index| {
            let arrival = arrivals[index];
            let address = place(index);
            format!(r#"{{"name": "s{index}", "arrival": {arrival}, "operations": {operations}, "address": {address}}}"#)
        })
        .collect();
    let closed = r#"{"kind": "closed", "think_time": {"kind": "exponential", "mean": 1000000000}}"#;
    streams.push(format!(
        r#"{{"name": "steps", "arrival": {closed}, "steps": [
            {{"kind": "io", "operations": {operations}, "address": {}}}, {{"kind": "flush"}}]}}"#,
        place(3)
    ));
    streams.push(format!(
        r#"{{"name": "mix", "arrival": {closed}, "mix": [
            {{"weight": 1, "operations": {operations}, "address": {}}},
            {{"weight": 2, "operations": {operations}, "address": {}}}]}}"#,
        place(4),
        place(5)
    ));
    let text = format!(
        r#"{{"workload": {{"users": {users}, "streams": [{}]}},
            "array": {{"raid": "0", "disks": 1, "disk": {{"kind": "server",
                "service": {{"kind": "exponential", "mean": 5000000}}, "capacity": 100000000000}}}}}}"#,
        streams.join(", ")
    );
    Scenario::from_json(&text).unwrap().normalise().unwrap()
}

#[test]
fn a_further_user_changes_no_varied_streams_of_others() {
    let (few, more) = (requests(varied(3)), requests(varied(4)));
    assert_eq!((few.len(), more.len()), (15, 20));
    for (who, drawn) in &few {
        assert_eq!(&more[who], drawn, "{who:?}");
    }
}

/// Ends a run at a check.
struct At {
    check: u32,
    seen: std::cell::Cell<u32>,
}

impl At {
    fn new(check: u32) -> Self {
        Self { check, seen: 0.into() }
    }
}

impl Interrupt for At {
    fn check(&self) -> Result<(), Interruption> {
        self.seen.set(self.seen.get() + 1);
        if self.seen.get() > self.check { Err(Interruption::Stopped) } else { Ok(()) }
    }
}

#[test]
fn a_run_ends_at_the_check_that_interrupts_it() {
    for check in [0, 1, 3] {
        let interrupt = At::new(check);
        let error = simulate_interruptible(scenario(3, 4, "5", 0), &BTreeMap::new(), &interrupt).unwrap_err();
        assert!(matches!(error, RunError::Interrupted(Interruption::Stopped)), "{error}");
        assert_eq!(interrupt.seen.get(), check + 1);
        assert_eq!((error.kind(), error.issues()[0].code), ("stopped", "run.stopped"));
    }
}

#[test]
fn checks_without_interruption_change_no_column() {
    let run = |interrupt: &dyn Interrupt| {
        simulate_interruptible(scenario(3, 4, "5", 0), &BTreeMap::new(), interrupt).unwrap()
    };
    let checked = At::new(u32::MAX);
    let (first, second) = (run(&Uninterrupted), run(&checked));
    assert!(checked.seen.get() > 10);
    assert_eq!(first.number("events").unwrap() as u64 / 4096 + 1, u64::from(checked.seen.get()));
    for (column, (one, other)) in COLUMNS.iter().zip(first.values().iter().zip(second.values())) {
        assert_eq!(format!("{one:?}"), format!("{other:?}"), "{}", column.name);
    }
}
