//! Destage policies, age limit, writes around the cache, second copy and clean lines in whole runs, against arithmetic and
//! against each other.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::config::Scenario;
use crate::simulation::{Outcome, simulate};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

/// A disk that takes `ms` for every I/O.
fn server(ms: u64) -> Value {
    json!({"kind": "server", "servers": 1, "capacity": 1_u64 << 33,
        "service": {"kind": "constant", "value": ms * MS}})
}

/// A disk with an arm, whose queue picks the I/O with the shortest positioning time.
fn drive() -> Value {
    json!({"kind": "disk", "rpm": 10_000.0,
        "geometry": {"kind": "zones", "surfaces": 4, "zones": [{"cylinders": 5_000, "sectors_per_track": 400}]},
        "seek": {"kind": "figures", "track_to_track": 400_000, "average": 5 * MS, "full_stroke": 10 * MS},
        "queue": {"policy": "sptf", "depth": 64}})
}

/// Requests of `bytes` at uniform addresses.
fn stream(name: &str, arrival: &Value, read_fraction: f64, bytes: u64) -> Value {
    json!({"name": name, "arrival": arrival, "address": {"kind": "uniform"},
        "operations": {"read_fraction": read_fraction, "size": {"kind": "constant", "value": bytes}}})
}

/// One request at a time, `gap` after the last was answered.
fn every(gap: u64) -> Value {
    json!({"kind": "closed", "think_time": {"kind": "constant", "value": gap}})
}

/// A protected write cache of `lines` lines of 4 KiB before one disk with stripes of one line; `write` adds to its
/// parameters.
fn scenario(streams: &[Value], disk: &Value, lines: u64, write: &Value, run: &Value) -> Value {
    json!({"workload": {"streams": streams},
        "controller": {"cache": {"capacity": lines * 4096, "usable": lines * 4096, "write_fraction": 1.0,
            "line": 4096, "write": write}, "battery": {"state": "present"}},
        "array": {"raid": "0", "disks": 1, "disk": disk, "stripe_unit": 4096},
        "run": run})
}

fn run(scenario: &Value) -> Outcome {
    simulate(Scenario::from_json(&scenario.to_string()).unwrap(), &BTreeMap::new()).unwrap()
}

fn number(outcome: &Outcome, column: &str) -> f64 {
    outcome.number(column).unwrap_or_else(|| panic!("{column} is not defined"))
}

fn assert_close(found: f64, exact: f64, tolerance: f64) {
    assert!((found - exact).abs() <= tolerance * exact.abs(), "{found} instead of {exact}");
}

#[test]
fn a_write_larger_than_the_whole_cache_proceeds_in_pieces() {
    let run = run(&scenario(
        &[stream("w", &every(S), 0.0, 64 << 10)],
        &server(5),
        4,
        &json!({"high_water": 0.0, "low_water": 0.0}),
        &json!({"warm_up": "none", "window": {"requests": 20}}),
    ));
    assert_close(number(&run, "accepted_sectors"), 20.0 * 128.0, 0.0);
    // Of sixteen lines four find room at once; twelve wait for as many destages, one after the other.
    assert_close(number(&run, "write_response_mean_us"), 12.0 * 5_000.0, 0.0);
    assert!(number(&run, "dirty_high_bytes") <= 4.0 * 4096.0);
}

#[test]
fn a_stripe_leaves_when_it_comes_of_age() {
    // A write every 10 s, which leaves after 1 s and is on the disk 5 ms later.
    let scene = |age: Value| {
        scenario(
            &[stream("w", &every(10 * S), 0.0, 4096)],
            &server(5),
            1_000,
            &json!({"age_limit": age}),
            &json!({"warm_up": "none", "window": {"duration": 200 * S}}),
        )
    };
    let aged = run(&scene(json!(S)));
    assert_close(number(&aged, "destages_by_age"), 19.0, 0.0);
    assert_close(number(&aged, "destages"), 19.0, 0.0);
    assert_close(number(&aged, "dirty_high_bytes"), 4096.0, 0.0);
    assert_close(number(&aged, "dirty_mean_fraction"), 19.0 * 1.005 / 200.0 / 1_000.0, 1e-9);
    let free = run(&scene(Value::Null));
    assert_close(number(&free, "destages"), 0.0, 0.0);
}

#[test]
fn age_comes_before_the_order_of_the_policy() {
    // Saturated: every line is of age long before its turn, and no stripe waits for much longer than a full cache takes.
    let scene = |age: Value| {
        let mut scene = scenario(
            &[stream("w", &json!({"kind": "fixed_outstanding", "depth": 8}), 0.0, 4096)],
            &server(1),
            64,
            &json!({"age_limit": age, "destage_policy": "linear_threshold"}),
            &json!({"warm_up": {"requests": 500}, "window": {"requests": 2_000}}),
        );
        scene["array"]["stripe_unit"] = json!(16_384);
        run(&scene)
    };
    let (aged, free) = (scene(json!(0)), scene(Value::Null));
    assert_close(number(&aged, "destages_by_age"), number(&aged, "destages"), 0.0);
    assert_close(number(&free, "destages_by_age"), 0.0, 0.0);
}

#[test]
fn large_writes_bypass_the_cache_and_small_ones_do_not() {
    let scene = |bytes: u64| {
        let mut scene = scenario(
            &[stream("w", &every(S), 0.0, bytes)],
            &server(5),
            1_000,
            &json!({"bypass_threshold": 32_768}),
            &json!({"warm_up": "none", "window": {"requests": 50}}),
        );
        scene["array"]["stripe_unit"] = json!(65_536);
        scene["workload"]["streams"][0]["operations"]["alignment"] = json!(65_536);
        run(&scene)
    };
    let (large, small) = (scene(32_768), scene(28_672));
    assert_close(number(&large, "writes_bypassed"), 50.0, 0.0);
    assert_close(number(&large, "bypassed_sectors"), 50.0 * 64.0, 0.0);
    assert_close(number(&large, "write_response_mean_us"), 5_000.0, 0.0);
    assert_close(number(&small, "writes_bypassed"), 0.0, 0.0);
    assert_close(number(&small, "write_response_max_us"), 0.0, 0.0);
}

#[test]
fn a_second_copy_takes_half_of_the_room_and_its_transfer() {
    // 4,096 bytes at 100 MB/s and 20 us: 60.96 us. The low mark of 32 lines leaves no room for a 33rd.
    let scene = |mirror: Value| {
        run(&scenario(
            &[stream("w", &every(S), 0.0, 4096)],
            &server(5),
            64,
            &json!({"mirror": mirror, "high_water": 1.0, "low_water": 1.0}),
            &json!({"warm_up": "none", "window": {"requests": 100}}),
        ))
    };
    let mirrored = scene(json!({"bandwidth": 100_000_000, "latency": 20_000}));
    assert_close(number(&mirrored, "dirty_high_bytes"), 32.0 * 4096.0, 0.0);
    assert_close(number(&mirrored, "write_response_p50_us"), 60.96, 0.01);
    let single = scene(Value::Null);
    assert_close(number(&single, "dirty_high_bytes"), 64.0 * 4096.0, 0.0);
    assert_close(number(&single, "write_response_p50_us"), 0.0, 0.0);
}

#[test]
fn idle_time_destages_between_the_reads() {
    // A read of 5 ms each 105 ms or so; what is written leaves in the pauses, above the low mark of 10 lines.
    let scene = |policy: &str, gap: &str, delay: u64| {
        let gap = if gap == "constant" {
            json!({"kind": gap, "value": 100 * MS})
        } else {
            json!({"kind": gap, "mean": 100 * MS})
        };
        run(&scenario(
            &[
                stream("r", &json!({"kind": "closed", "think_time": gap}), 1.0, 4096),
                stream("w", &every(S), 0.0, 4096),
            ],
            &server(5),
            1_000,
            &json!({"destage_policy": policy, "idle_delay": delay, "high_water": 0.9, "low_water": 0.01}),
            &json!({"warm_up": "none", "window": {"duration": 100 * S}}),
        ))
    };
    let idle = scene("idle_time", "exponential", 10 * MS);
    assert!(number(&idle, "destages") >= 85.0, "{}", number(&idle, "destages"));
    assert!(number(&idle, "dirty_high_bytes") <= 12.0 * 4096.0);
    // Only a read that arrives just after a destage has begun waits for it: hardly any does.
    assert!(number(&idle, "read_response_max_us") <= 10_000.0);
    let mean = number(&idle, "read_response_mean_us");
    assert!(mean < 5_100.0, "{mean}");
    // Where no pause is as long as the delay, nothing leaves below the high mark.
    let busy = scene("idle_time", "constant", 101 * MS);
    assert_close(number(&busy, "destages"), 0.0, 0.0);
    assert_close(number(&scene("c_scan", "exponential", 10 * MS), "destages"), 0.0, 0.0);
}

#[test]
fn what_was_destaged_is_read_from_the_cache_where_it_stays() {
    let scene = |keeps: bool| {
        let mut scene = scenario(
            &[stream("rw", &every(10 * MS), 0.5, 4096)],
            &server(1),
            256,
            &json!({"keep_clean": keeps, "high_water": 0.1, "low_water": 0.0}),
            &json!({"warm_up": {"requests": 2_000}, "window": {"requests": 2_000}}),
        );
        scene["workload"]["streams"][0]["address"]["footprint"] = json!(512 * 4096);
        run(&scene)
    };
    let (kept, dropped) = (scene(true), scene(false));
    assert_close(number(&dropped, "read_hits_clean"), 0.0, 0.0);
    // Of 512 lines the cache holds the 256 written last: half of the reads.
    assert!((0.4..0.6).contains(&number(&kept, "read_hit_ratio")), "{}", number(&kept, "read_hit_ratio"));
    assert!(number(&kept, "read_hits_clean") > 5.0 * number(&kept, "read_hits_dirty"));
    // The disks see the same writes either way.
    assert_close(number(&kept, "destages"), number(&dropped, "destages"), 0.05);
}

/// Writes per second of a drive that destages without pause.
fn destage_rate(write: &Value) -> f64 {
    let outcome = run(&scenario(
        &[stream("w", &json!({"kind": "fixed_outstanding", "depth": 64}), 0.0, 4096)],
        &drive(),
        512,
        write,
        &json!({"warm_up": {"requests": 1_000}, "window": {"requests": 3_000}}),
    ));
    number(&outcome, "write_iops")
}

#[test]
fn a_deeper_queue_of_destages_lets_the_drive_choose_better() {
    let rates: Vec<_> = [1, 4, 16]
        .map(|depth| {
            destage_rate(&json!({"destage_policy": "least_recently_written", "destage_depth": depth}))
        })
        .into();
    assert!(rates[0] * 1.2 < rates[1] && rates[1] * 1.2 < rates[2], "{rates:?}");
}

#[test]
fn random_writes_leave_faster_by_address_than_by_age() {
    for depth in [1, 4] {
        let rate = |policy: &str| destage_rate(&json!({"destage_policy": policy, "destage_depth": depth}));
        let lrw = rate("least_recently_written");
        for policy in ["c_scan", "wow", "linear_threshold", "idle_time"] {
            let found = rate(policy);
            assert!(found > 1.2 * lrw, "{policy} at depth {depth}: {found} against {lrw}");
        }
    }
}

#[test]
fn skewed_writes_are_absorbed_better_where_recency_counts() {
    let hits = |policy: &str| {
        let mut scene = scenario(
            &[stream("w", &every(2 * MS), 0.0, 4096)],
            &server(1),
            256,
            &json!({"destage_policy": policy, "high_water": 0.9, "low_water": 0.88}),
            &json!({"warm_up": {"requests": 4_000}, "window": {"requests": 16_000}}),
        );
        scene["workload"]["streams"][0]["address"] =
            json!({"kind": "zipf", "exponent": 1.0, "block": 4096, "footprint": 4_096 * 4_096});
        number(&run(&scene), "write_hit_ratio")
    };
    let (lrw, wow, c_scan) = (hits("least_recently_written"), hits("wow"), hits("c_scan"));
    assert!(lrw.min(wow) > c_scan + 0.02, "{lrw} {wow} {c_scan}");
}

#[test]
fn destages_that_are_not_forced_gain_time_and_may_be_lost_with_the_power() {
    let scene = |forces: bool| {
        let mut disk = drive();
        disk["buffer"] =
            json!({"segments": 64, "segment": 1 << 16, "write_cache": true, "write_time": 100_000});
        let mut scene = scenario(
            &[stream("w", &json!({"kind": "fixed_outstanding", "depth": 4}), 0.0, 4096)],
            &disk,
            64,
            &json!({"force_destages": forces, "high_water": 0.0, "low_water": 0.0}),
            &json!({"warm_up": "none", "window": {"duration": 10 * S}}),
        );
        scene["faults"] = json!([{"kind": "mains_lost", "at": 5 * S, "duration": S}]);
        run(&scene)
    };
    let (forced, free) = (scene(true), scene(false));
    // The battery holds what the controller has, in either case; the drive's own cache has none.
    assert_close(number(&forced, "dirty_lost_bytes"), 0.0, 0.0);
    assert_close(number(&free, "dirty_lost_bytes"), 0.0, 0.0);
    assert_close(number(&forced, "disk_lost_bytes"), 0.0, 0.0);
    assert!(number(&free, "disk_lost_bytes") > 0.0);
    let (slow, fast) = (number(&forced, "write_iops"), number(&free, "write_iops"));
    assert!(fast > 1.05 * slow, "{slow} and {fast}");
}
