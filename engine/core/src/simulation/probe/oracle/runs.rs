//! Random small runs checked by the oracle: no law is broken, and every transition occurs.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::scenarios::scenario;
use crate::config::Scenario;
use crate::event::Event;
use crate::interruption::Uninterrupted;
use crate::simulation::Simulation;
use crate::simulation::write_back::WriteBack;

pub(super) fn build(scenario: &Value) -> Simulation {
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap().normalise().unwrap();
    Simulation::build(scenario, &BTreeMap::new()).unwrap()
}

/// Runs to the end and on until nothing is in progress: then nothing may be left in any of the slabs.
pub(super) fn run(simulation: &mut Simulation) {
    if let Err(error) = simulation.run(&Uninterrupted) {
        panic!("{error}");
    }
    if simulation.arrays.have_lost_data() {
        return;
    }
    let check_drained = |simulation: &Simulation| {
        simulation.context.probe.oracle.check_drained(simulation.arrays.states());
    };
    check_drained(simulation);
    simulation.context.events.retain(|event| !matches!(event, Event::Battery(_) | Event::Fault(_)));
    while let Some((_, event)) = simulation.context.events.next() {
        simulation.act(event);
    }
    check_drained(simulation);
    assert!(simulation.arrays.is_quiet(), "array operations are left");
    assert!(simulation.reads.is_quiet(), "fetches are left");
    assert!(simulation.write_back.as_ref().is_none_or(WriteBack::is_quiet), "destages are left");
    assert_eq!(simulation.front_end.requests.len(), 0, "requests are left");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_law_is_broken(mut scenario in scenario(), parity_time in prop::sample::select(vec![0, 60_000])) {
        scenario["controller"]["firmware"]["parity_time"] = json!(parity_time);
        run(&mut build(&scenario));
    }
}

#[test]
fn random_runs_cover_every_transition() {
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeSet::new();
    let (mut lost_by_drives, mut merged) = (0, 0);
    for _ in 0..400 {
        let mut simulation = build(&scenario().new_tree(&mut runner).unwrap().current());
        run(&mut simulation);
        merged += simulation.context.probe.oracle.merged;
        lost_by_drives += simulation.context.measures.counts.disk_lost_sectors;
        seen.extend(simulation.context.timeline.entries().iter().map(|entry| entry.transition.name()));
    }
    for name in [
        "mains_lost",
        "mains_back",
        "hosts_back",
        "battery_charging",
        "battery_ready",
        "battery_charged",
        "battery_discharging",
        "battery_low",
        "battery_empty",
        "battery_failed",
        "learn_begins",
        "learn_ends",
        "write_back_enabled",
        "write_back_disabled",
        "drained",
        "cache_copied",
        "dirty_preserved",
        "dirty_lost",
        "disk_failed",
        "spare_taken",
        "array_degraded",
        "array_failed",
        "array_optimal",
        "rebuild_started",
        "rebuild_progress",
        "rebuild_done",
    ] {
        assert!(seen.contains(name), "{name} never happens");
    }
    assert!(merged > 100, "{merged} disk I/Os are merged");
    assert!(lost_by_drives > 100, "drives lose {lost_by_drives} sectors from their own caches");
}

#[test]
fn a_drain_continues_after_the_last_write_through() {
    // Eight writes wait for one stripe; then the battery is ready, and others fill the cache with lines of that stripe,
    // which cannot be destaged before.
    let mut simulation = build(&json!({
        "workload": {"streams": [{"name": "s", "arrival": {"kind": "fixed_outstanding", "depth": 8},
            "operations": {"read_fraction": 0.0, "size": {"kind": "constant", "value": 4096}},
            "address": {"kind": "uniform", "footprint": 32_768}}]},
        "controller": {"cache": {"capacity": 16_384, "usable": 16_384, "write_fraction": 1.0, "line": 4096},
            "battery": {"state": "charging", "charge": 0.0, "threshold": 1.0, "charge_time": 50_000_000},
            "link": {"command_overhead": 10_000}},
        "array": {"raid": "5", "disks": 3, "disk": {"kind": "server", "capacity": 1_048_576,
            "service": {"kind": "constant", "value": 100_000_000}}},
        "run": {"warm_up": "none", "window": {"requests": 3}, "drain": true},
    }));
    run(&mut simulation);
}
