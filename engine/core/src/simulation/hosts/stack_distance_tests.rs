//! A stack-distance workload has, in a simulated LRU cache of any size, the hit ratio that its curve gives.

use std::collections::BTreeMap;

use serde_json::json;

use crate::config::Scenario;
use crate::simulation::simulate;

/// The curve: blocks of 8 KiB, and the fraction of the accesses that hit within each size.
const CURVE: [(u64, f64); 4] = [(16, 0.2), (64, 0.5), (256, 0.6), (1024, 0.85)];

/// Requests that are measured.
const REQUESTS: u64 = 20_000;

fn hit_ratio(blocks: u64) -> f64 {
    let curve: Vec<_> =
        CURVE.iter().map(|(blocks, ratio)| json!({"size": blocks * 8192, "hit_ratio": ratio})).collect();
    let text = json!({
        "workload": {"streams": [{"name": "s", "arrival": {"kind": "fixed_outstanding", "depth": 1},
            "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": 8192}},
            "address": {"kind": "stack_distance", "curve": curve, "block": 8192, "footprint": 2048 * 8192,
                "placement": {"kind": "scattered", "extent": 65_536}}}]},
        "controller": {"cache": {"capacity": blocks * 8192, "usable": blocks * 8192, "write_fraction": 0.0,
            "line": 8192, "read": {"mode": "cached", "policy": "lru", "read_ahead": null}},
            "link": {"command_overhead": 1000}},
        "array": {"raid": "0", "disks": 1, "disk": {"kind": "server", "capacity": 1 << 26,
            "service": {"kind": "constant", "value": 1_000_000}}},
        "run": {"warm_up": {"requests": 12_000}, "window": {"requests": REQUESTS}}
    })
    .to_string();
    let outcome = simulate(Scenario::from_json(&text).unwrap(), &BTreeMap::new()).unwrap();
    assert_eq!(outcome.number("reads"), Some(REQUESTS as f64));
    outcome.number("read_hit_ratio").unwrap()
}

#[test]
fn the_hit_ratio_follows_the_curve_at_every_cache_size() {
    for blocks in [8, 16, 40, 64, 160, 256, 640, 1024, 1500] {
        let mut before = (0, 0.0);
        let mut expected = CURVE[CURVE.len() - 1].1;
        for point in CURVE {
            if blocks <= point.0 {
                let share = (blocks - before.0) as f64 / (point.0 - before.0) as f64;
                expected = before.1 + share * (point.1 - before.1);
                break;
            }
            before = point;
        }
        let seen = hit_ratio(blocks);
        // Draws are independent: four standard deviations of a count.
        let width = 4.0 * (expected * (1.0 - expected) / REQUESTS as f64).sqrt();
        assert!((seen - expected).abs() <= width, "{blocks} blocks: {seen} +- {width} for {expected}");
    }
}
