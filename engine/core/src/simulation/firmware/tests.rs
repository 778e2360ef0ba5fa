//! Laws of the firmware processor, with costs of their own for reads, writes and parity.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::config::Scenario;
use crate::simulation::{COLUMNS, Outcome, simulate};

const US: u64 = 1_000;
const REQUESTS: u32 = 4_000;

/// Requests of 4 KiB at uniform addresses of a RAID 5 array of five disks without a cache. A disk takes 1 us for each of up
/// to 64 I/Os at a time.
fn scenario(arrival: &Value, read_fraction: f64, firmware: &Value) -> Value {
    json!({"workload": {"streams": [{"name": "s", "arrival": arrival, "address": {"kind": "uniform"},
            "operations": {"read_fraction": read_fraction, "size": {"kind": "constant", "value": 4096}}}]},
        "controller": {"firmware": firmware},
        "array": {"raid": "5", "disks": 5, "stripe_unit": 16 << 10, "disk": {"kind": "server", "servers": 64,
            "service": {"kind": "constant", "value": US}, "capacity": 1_u64 << 33}},
        "run": {"warm_up": {"requests": 400}, "window": {"requests": REQUESTS}}})
}

fn depth(depth: u32) -> Value {
    json!({"kind": "fixed_outstanding", "depth": depth})
}

fn on_raid(raid: &str, disks: u32, mut scenario: Value) -> Value {
    scenario["array"]["raid"] = json!(raid);
    scenario["array"]["disks"] = json!(disks);
    scenario
}

fn run(scenario: &Value) -> Outcome {
    simulate(Scenario::from_json(&scenario.to_string()).unwrap(), &BTreeMap::new()).unwrap()
}

fn number(outcome: &Outcome, column: &str) -> f64 {
    outcome.number(column).unwrap_or_else(|| panic!("{column} is not defined"))
}

/// The response of single requests \[us\].
fn response(scenario: &Value) -> f64 {
    number(&run(scenario), "response_mean_us")
}

#[track_caller]
fn close(found: f64, exact: f64, tolerance: f64) {
    assert!((found - exact).abs() <= tolerance * exact.abs(), "{found} instead of {exact}");
}

/// Each column of a run as text.
fn row(scenario: &Value) -> Vec<String> {
    let outcome = run(scenario);
    COLUMNS.iter().zip(outcome.values()).map(|(column, value)| format!("{} {value:?}", column.name)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_mix_saturates_at_its_mean_cost(
        reads in 0.0_f64..=1.0, a in 2_u64..200, b in 2_u64..200, other in 0_u64..100, queue in 4_u32..64,
    ) {
        let times = json!({"command_time": other * US, "read_time": a * US, "write_time": b * US});
        let outcome = run(&on_raid("0", 2, scenario(&depth(queue), reads, &times)));
        let (a, b) = ((a * US) as f64 * 1e-9, (b * US) as f64 * 1e-9);
        // The processor is never idle: the costs of what completed are the time that it took.
        close(number(&outcome, "read_iops") * a + number(&outcome, "write_iops") * b, 1.0, 1e-9);
        close(number(&outcome, "firmware_busy_fraction"), 1.0, 1e-9);
        // 1 / (r a + w b), within five standard deviations of the share that was drawn.
        let exact = reads * a + (1.0 - reads) * b;
        let deviation = (a - b).abs() * (reads * (1.0 - reads) / f64::from(REQUESTS)).sqrt();
        let found = 1.0 / number(&outcome, "throughput_iops");
        prop_assert!((found - exact).abs() <= 5.0 * deviation + 1e-9 * exact, "{} instead of {}", found, exact);
    }

    #[test]
    fn no_cost_raises_the_rate(
        reads in 0.0_f64..=1.0, costs in prop::array::uniform3(0_u64..60), more in 1_u64..60, which in 0_usize..3,
        has_engine in any::<bool>(), queue in 1_u32..48,
    ) {
        let rate = |[a, b, p]: [u64; 3]| {
            let times = json!({"command_time": 3 * US, "read_time": a * US, "write_time": b * US, "parity_time": p * US});
            let mut scene = scenario(&depth(queue), reads, &times);
            if has_engine {
                scene["controller"]["xor_bandwidth"] = json!(800_000_000);
            }
            number(&run(&scene), "throughput_iops")
        };
        let mut higher = costs;
        higher[which] += more;
        prop_assert!(rate(higher) <= 1.01 * rate(costs));
    }

    #[test]
    fn equal_costs_are_one_cost(
        reads in 0.0_f64..=1.0, cost in 0_u64..60_000, exponential in any::<bool>(), raid in prop::sample::select(vec!["0", "5"]),
    ) {
        let spread = if exponential { "exponential" } else { "constant" };
        let scene = |times: Value| {
            let mut firmware = json!({"spread": spread});
            firmware.as_object_mut().unwrap().append(&mut times.as_object().unwrap().clone());
            on_raid(raid, 5, scenario(&depth(8), reads, &firmware))
        };
        let one = row(&scene(json!({"command_time": cost})));
        prop_assert_eq!(&row(&scene(json!({"command_time": cost, "read_time": cost, "write_time": cost, "parity_time": 0}))), &one);
        // Without flushes, reads and writes are all that costs.
        prop_assert_eq!(&row(&scene(json!({"command_time": 1, "read_time": cost, "write_time": cost}))), &one);
    }
}

#[test]
fn use_and_wait_follow_from_the_mix() {
    // Seven reads of 20 us for three writes of 60 us, 18,750 a second: 60 % busy. An exponential time has twice the
    // square of its mean (Pollaczek and Khinchine).
    let (rate, a, b) = (18_750.0, 20e-6, 60e-6);
    let (mean, square) = (0.7 * a + 0.3 * b, 0.7 * a * a + 0.3 * b * b);
    for (spread, factor) in [("constant", 1.0), ("exponential", 2.0)] {
        let times = json!({"command_time": 0, "read_time": 20 * US, "write_time": 60 * US, "spread": spread});
        let mut scene = on_raid("0", 2, scenario(&json!({"kind": "poisson", "rate": rate}), 0.7, &times));
        scene["run"]["window"] = json!({"requests": 60_000});
        let outcome = run(&scene);
        close(number(&outcome, "firmware_busy_fraction"), rate * mean, 0.02);
        let wait = rate * factor * square / (2.0 * (1.0 - rate * mean));
        close(number(&outcome, "response_mean_us"), (wait + mean) * 1e6 + 1.0, 0.06);
    }
}

#[test]
fn parity_costs_once_per_stripe() {
    // Saturated: a write of 4 KiB updates a stripe, one of 128 KiB writes two whole stripes.
    let times = json!({"command_time": 10 * US, "read_time": 5 * US, "parity_time": 30 * US});
    let rate = |raid: &str, disks: u32, size: u64, reads: f64| {
        let mut scene = on_raid(raid, disks, scenario(&depth(32), reads, &times));
        scene["workload"]["streams"][0]["operations"]["size"]["value"] = json!(size);
        scene["workload"]["streams"][0]["operations"]["alignment"] = json!(size);
        let outcome = run(&scene);
        close(number(&outcome, "firmware_busy_fraction"), 1.0, 0.01);
        number(&outcome, "throughput_iops")
    };
    for (raid, disks) in [("5", 5), ("6", 6)] {
        close(rate(raid, disks, 4 << 10, 0.0), 1.0 / 40e-6, 0.01);
        close(rate(raid, disks, 128 << 10, 0.0), 1.0 / 70e-6, 0.01);
        close(rate(raid, disks, 4 << 10, 1.0), 1.0 / 5e-6, 0.01);
    }
    for (raid, disks) in [("0", 4), ("10", 4)] {
        close(rate(raid, disks, 4 << 10, 0.0), 1.0 / 10e-6, 0.01);
    }
}

#[test]
fn parity_follows_the_reads_and_precedes_the_engine() {
    // Command, reads, firmware, 12 KiB through the engine in 10 us, writes.
    let single = |times: &Value, engine: Option<u64>, size: u64| {
        let mut scene = scenario(&depth(1), 0.0, times);
        scene["workload"]["streams"][0]["operations"]["size"]["value"] = json!(size);
        scene["workload"]["streams"][0]["operations"]["alignment"] = json!(size);
        if let Some(rate) = engine {
            scene["controller"]["xor_bandwidth"] = json!(rate);
        }
        response(&scene)
    };
    let times = json!({"command_time": 7 * US, "parity_time": 30 * US});
    close(single(&times, None, 4 << 10), 7.0 + 1.0 + 30.0 + 1.0, 1e-9);
    close(single(&times, Some(1_228_800_000), 4 << 10), 7.0 + 1.0 + 30.0 + 10.0 + 1.0, 1e-9);
    // Two whole stripes: nothing is read, and the writes begin when both are computed.
    close(single(&times, None, 128 << 10), 7.0 + 2.0 * 30.0 + 1.0, 1e-9);
    // Commands may be free of charge.
    close(single(&json!({"parity_time": 30 * US}), None, 4 << 10), 1.0 + 30.0 + 1.0, 1e-9);
}

#[test]
fn decoding_costs_as_parity_does() {
    let mut scene = scenario(&depth(1), 1.0, &json!({"command_time": 7 * US, "parity_time": 30 * US}));
    scene["faults"] = json!([{"kind": "disk_fails", "at": 0, "disk": 0}]);
    scene["run"]["warm_up"] = json!("none");
    let outcome = run(&scene);
    let share = number(&outcome, "decoded_reads") / f64::from(REQUESTS);
    assert!((0.15..0.25).contains(&share), "{share} of the reads decode");
    close(number(&outcome, "response_mean_us"), 7.0 + 1.0 + 30.0 * share, 1e-9);
}
