//! Writes that find no room in the write cache and are written through, against arithmetic and against other settings.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::config::Scenario;
use crate::error::RunError;
use crate::simulation::{Outcome, simulate};

const MS: u64 = 1_000_000;

/// A protected write cache of `lines` lines of 4 KiB over `array`, with 4 KiB writes at uniform addresses.
fn scenario(arrival: &Value, lines: u64, write: &Value, array: &Value, requests: u64) -> Value {
    json!({"workload": {"streams": [{"name": "w", "arrival": arrival, "address": {"kind": "uniform"},
            "operations": {"read_fraction": 0.0, "size": {"kind": "constant", "value": 4096}}}]},
        "controller": {"cache": {"capacity": lines * 4096, "usable": lines * 4096, "write_fraction": 1.0,
            "line": 4096, "write": write}, "battery": {"state": "present"}},
        "array": array,
        "run": {"warm_up": {"requests": requests / 4}, "window": {"requests": requests}}})
}

/// A disk that takes 5 ms for every I/O.
fn server() -> Value {
    json!({"raid": "0", "disks": 1, "stripe_unit": 4096, "disk": {"kind": "server", "capacity": 1_u64 << 33,
        "service": {"kind": "constant", "value": 5 * MS}}})
}

/// Disks with an arm.
fn drives(raid: &str, disks: u32) -> Value {
    json!({"raid": raid, "disks": disks, "disk": {"kind": "disk", "rpm": 10_000.0,
        "geometry": {"kind": "zones", "surfaces": 4, "zones": [{"cylinders": 5_000, "sectors_per_track": 400}]},
        "seek": {"kind": "figures", "track_to_track": 400_000, "average": 5 * MS, "full_stroke": 10 * MS}}})
}

fn run(scenario: &Value) -> Outcome {
    simulate(Scenario::from_json(&scenario.to_string()).unwrap(), &BTreeMap::new()).unwrap()
}

fn number(outcome: &Outcome, column: &str) -> f64 {
    outcome.number(column).unwrap_or_else(|| panic!("{column} is not defined"))
}

#[track_caller]
fn assert_equal(found: f64, exact: f64) {
    assert!((found - exact).abs() <= 1e-9 * exact.abs(), "{found} instead of {exact}");
}

#[test]
fn the_writes_of_a_burst_beyond_the_cache_go_to_the_disk() {
    // Six writes at once, every second or so. Four fit. The first destage keeps the disk busy for 5 ms; then the disk
    // has the two others, before the further destages.
    let burst = |when_full: &str| {
        let arrival = json!({"kind": "closed", "think_time": {"kind": "constant", "value": 1000 * MS}, "ios": 6,
            "order": "parallel"});
        let write = json!({"when_full": when_full, "high_water": 1.0, "low_water": 0.0, "destage_depth": 1});
        run(&scenario(&arrival, 4, &write, &server(), 600))
    };
    let through = burst("write_through");
    assert_equal(number(&through, "writes_turned_away"), 200.0);
    assert_equal(number(&through, "write_stalls"), 0.0);
    assert_equal(number(&through, "accepted_sectors"), 400.0 * 8.0);
    assert_equal(number(&through, "bypassed_sectors"), 200.0 * 8.0);
    assert_equal(number(&through, "write_response_mean_us"), (10_000.0 + 15_000.0) / 6.0);
    let waiting = burst("wait");
    assert_equal(number(&waiting, "writes_turned_away"), 0.0);
    assert_equal(number(&waiting, "write_stalls"), 200.0);
    assert_equal(number(&waiting, "write_response_mean_us"), (5_000.0 + 10_000.0) / 6.0);
}

#[test]
fn a_write_larger_than_the_cache_is_written_through() {
    let arrival = json!({"kind": "closed", "think_time": {"kind": "constant", "value": 1000 * MS}});
    let mut scene = scenario(&arrival, 4, &json!({"when_full": "write_through"}), &server(), 40);
    scene["workload"]["streams"][0]["operations"]["size"]["value"] = json!(64 << 10);
    scene["workload"]["streams"][0]["operations"]["alignment"] = json!(64 << 10);
    scene["array"]["stripe_unit"] = json!(64 << 10);
    let outcome = run(&scene);
    assert_equal(number(&outcome, "writes_turned_away"), 40.0);
    assert_equal(number(&outcome, "accepted_sectors"), 0.0);
    assert_equal(number(&outcome, "write_response_max_us"), 5_000.0);
}

#[test]
fn a_full_cache_costs_no_throughput_against_none() {
    // A write goes to the disks once, itself or its destage, and those of the cache are merged and sorted.
    let depth = json!({"kind": "fixed_outstanding", "depth": 16});
    for (raid, disks) in [("0", 1), ("10", 4), ("5", 5)] {
        let rate = |write: &Value| {
            let outcome = run(&scenario(&depth, 256, write, &drives(raid, disks), 4_000));
            // Conservation: what is written is in the cache, superseded there, or on the disks.
            let sectors = |name: &str| number(&outcome, name);
            assert_equal(
                sectors("accepted_sectors") - sectors("absorbed_sectors"),
                sectors("destaged_sectors") + sectors("dirty_end_sectors") - sectors("dirty_start_sectors"),
            );
            assert_equal(number(&outcome, "write_stalls"), 0.0);
            (number(&outcome, "write_iops"), number(&outcome, "writes_turned_away"))
        };
        let (none, _) = rate(&json!({"policy": "write_through"}));
        for policy in ["c_scan", "wow", "least_recently_written", "linear_threshold", "idle_time"] {
            for yields in [false, true] {
                let write = json!({"when_full": "write_through", "destage_policy": policy,
                    "yield_to_reads": yields});
                let (cached, turned_away) = rate(&write);
                assert!(turned_away > 100.0, "{policy} on {raid}: {turned_away} writes turned away");
                assert!(cached > 0.95 * none, "{policy} on {raid}: {cached} against {none} without a cache");
            }
        }
    }
}

#[test]
fn a_window_without_time_is_refused() {
    // All writes fit in the cache, and neither firmware, link nor users take time.
    let depth = json!({"kind": "fixed_outstanding", "depth": 1});
    let mut scene = scenario(&depth, 1000, &json!({}), &server(), 400);
    scene["run"]["warm_up"] = json!("none");
    let error = simulate(Scenario::from_json(&scene.to_string()).unwrap(), &BTreeMap::new()).unwrap_err();
    assert!(matches!(error, RunError::NoTime { requests: 400 }), "{error}");
    assert_eq!(error.issues()[0].code, "run.no-time");
    scene["controller"]["firmware"] = json!({"command_time": 1});
    assert_equal(number(&run(&scene), "throughput_iops"), 1e9);
}
