//! Random small scenarios: tiny caches over tiny footprints, so that everything collides.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::streams::{host, phases, stream, window};

use crate::config::DestagePolicy;
use crate::replacement::Policy;

const LEVELS: [(&str, u32, u32); 11] = [
    ("0", 1, 2),
    ("0", 3, 2),
    ("1", 2, 2),
    ("10", 4, 2),
    ("10", 6, 2),
    ("5", 3, 2),
    ("5", 5, 2),
    ("6", 5, 2),
    ("50", 6, 2),
    ("50", 9, 3),
    ("60", 8, 2),
];

/// A drive's own memory, which caches writes or not.
fn buffer(write_cache: bool) -> impl Strategy<Value = Value> {
    (
        prop_oneof![Just(1_u32), Just(2), Just(4)],
        prop_oneof![Just(8_u64), Just(60), Just(200)],
        prop::sample::select(vec!["off", "segment", "stream", "track"]),
        prop_oneof![Just(0.0), Just(0.5)],
    )
        .prop_map(move |(segments, sectors, read_ahead, lapse)| {
            json!({"segments": segments, "segment": sectors * 512, "read_ahead": read_ahead, "lapse": lapse,
                "hit_time": 100_000, "write_time": 100_000, "write_cache": write_cache})
        })
}

fn device() -> impl Strategy<Value = Value> {
    let server = |servers: u32| {
        json!({"kind": "server", "servers": servers, "capacity": 1 << 20,
            "service": {"kind": "exponential", "mean": 4_000_000}})
    };
    let disk = |policy: &str, buffer: Value| {
        json!({"kind": "disk", "rpm": 10_000.0,
            "geometry": {"kind": "zones", "surfaces": 2, "zones": [{"cylinders": 20, "sectors_per_track": 60}]},
            "seek": {"kind": "figures", "track_to_track": 500_000, "average": 2_000_000, "full_stroke": 4_000_000},
            "write_settle": 100_000, "head_switch": 200_000, "command_time": 300_000, "buffer": buffer,
            "queue": {"policy": policy, "depth": 4, "age_limit": 100_000_000}})
    };
    let ssd = |protected: bool, caches: bool, state: &str, planes: u32| {
        json!({"kind": "ssd", "capacity": 2 << 20, "over_provisioning": 0.7, "channels": 2, "dies_per_channel": 2,
            "planes": planes, "page": 4096, "pages_per_block": 4, "read_time": 50_000, "program_time": 500_000,
            "erase_time": 2_000_000, "channel_rate": 100_000_000, "command_latency": 10_000,
            "interface": {"read_rate": 500_000_000, "write_rate": 400_000_000, "half_duplex": planes == 1},
            "write_buffer": planes << 14, "power_loss_protection": protected, "write_cache": caches,
            "suspension_time": if planes == 1 { json!(20_000) } else { Value::Null },
            "read_retry": if planes == 1 { json!({"share": 0.1, "reads": 3}) } else { Value::Null },
            "commit_time": if planes == 1 { 0 } else { 150_000 }, "precondition": state})
    };
    prop_oneof![
        1 => Just(ssd(true, false, "random", 1)),
        1 => Just(ssd(true, false, "sequential", 2)),
        1 => Just(ssd(false, false, "empty", 1)),
        1 => Just(ssd(false, false, "random", 2)),
        1 => Just(ssd(false, true, "empty", 1)),
        2 => Just(ssd(false, true, "random", 2)),
        1 => Just(server(1)),
        1 => Just(server(3)),
        1 => Just(disk("c_look", Value::Null)),
        1 => Just(disk("fcfs", Value::Null)),
        2 => (prop::sample::select(vec!["sptf", "sstf", "look"]), buffer(false))
            .prop_map(move |(policy, buffer)| disk(policy, buffer)),
        3 => (prop::sample::select(vec!["sptf", "sstf", "c_look", "fcfs"]), buffer(true))
            .prop_map(move |(policy, buffer)| disk(policy, buffer)),
    ]
}

fn array(name: &'static str) -> impl Strategy<Value = Value> {
    let rate = prop::option::of(prop_oneof![Just(500_000_u64), Just(3_000_000)]);
    let rebuild = (rate, 1_u32..6, any::<bool>())
        .prop_map(|(rate, depth, yields)| json!({"rate": rate, "depth": depth, "yield_to_requests": yields}));
    (0..LEVELS.len(), device(), prop_oneof![Just(4_u64), Just(16)], any::<bool>(), (0_u32..3, rebuild))
        .prop_map(move |(level, disk, unit, rmw, (spares, rebuild))| {
            let (raid, disks, groups) = LEVELS[level];
            json!({"name": name, "raid": raid, "disks": disks, "groups": groups, "disk": disk,
                "stripe_unit": unit << 10, "parity_update": if rmw { "rmw" } else { "fewest_ios" },
                "hot_spares": spares, "rebuild": rebuild})
        })
}

/// Disks of `array` that fail, by time \[ms\] and place, and whether a new one is installed 300 ms later.
fn disk_faults(array: &Value, fails: &[(u64, u32, bool)]) -> Vec<Value> {
    let disks = array["disks"].as_u64().unwrap() as u32;
    let ms = 1_000_000;
    let mut faults = Vec::new();
    for &(at, disk, is_replaced) in fails {
        let disk = disk % disks;
        faults.push(json!({"kind": "disk_fails", "at": at * ms, "array": array["name"], "disk": disk}));
        if is_replaced {
            faults.push(json!({"kind": "rebuild_starts", "at": (at + 300) * ms, "array": array["name"]}));
        }
    }
    faults
}

/// Which stripes leave the write cache when, and what goes around it.
fn destage() -> impl Strategy<Value = Value> {
    let mirror = prop_oneof![
        3 => Just(Value::Null),
        1 => Just(json!({"bandwidth": 10_000_000, "latency": 50_000})),
        1 => Just(json!({})),
    ];
    (
        prop::sample::select(DestagePolicy::ALL),
        prop::sample::select(vec![0_u64, 1_000_000, 20_000_000]),
        prop::option::of(prop::sample::select(vec![0_u64, 5_000_000, 100_000_000])),
        prop::option::of(prop::sample::select(vec![512_u64, 2048, 4096, 16_384])),
        (mirror, any::<bool>(), any::<bool>(), prop::bool::weighted(0.3), prop::bool::weighted(0.7)),
    )
        .prop_map(|(policy, idle_delay, age_limit, bypass, (mirror, full, clean, turns_away, forces))| {
            json!({"destage_policy": policy, "idle_delay": idle_delay, "age_limit": age_limit,
                "bypass_threshold": bypass, "mirror": mirror, "prefer_full_stripes": full, "keep_clean": clean, "force_destages": forces,
                "when_full": if turns_away { "write_through" } else { "wait" }})
        })
}

fn cache() -> impl Strategy<Value = Value> {
    let ahead = prop_oneof![
        Just(Value::Null),
        (1_u32..4, 1_u64..9, any::<bool>()).prop_map(|(trigger, lines, adaptive)| {
            json!({"trigger": trigger, "size": lines * 2048, "adaptive": adaptive})
        }),
    ];
    let marks = prop_oneof![Just((0.8, 0.6)), Just((1.0, 1.0)), Just((0.0, 0.0)), Just((0.5, 0.1))];
    (
        (1_u64..32, prop_oneof![Just(512_u64), Just(2048), Just(4096)]),
        prop_oneof![Just(1.0), Just(0.5), Just(0.1), Just(0.0)],
        (any::<bool>(), prop::sample::select(Policy::ALL), ahead),
        (marks, 1_u32..4, any::<bool>(), prop::bool::weighted(0.1)),
        destage(),
    )
        .prop_map(
            |((lines, line), share, (cached, policy, ahead), ((high, low), depth, yields, through), destage)| {
                let mut write = json!({"policy": if through { "write_through" } else { "write_back" },
                    "high_water": high, "low_water": low, "destage_depth": depth, "yield_to_reads": yields});
                if let (Some(write), Value::Object(destage)) = (write.as_object_mut(), destage) {
                    write.extend(destage);
                }
                json!({"capacity": lines * line, "usable": lines * line, "write_fraction": share, "line": line,
                    "read": {"mode": if cached { "cached" } else { "prefetch_only" }, "policy": policy,
                        "read_ahead": ahead},
                    "write": write})
            },
        )
}

fn battery() -> impl Strategy<Value = Value> {
    let charging = |after_ms: u64, at_risk: bool| {
        json!({"state": "charging", "charge": 0.0, "threshold": 1.0, "charge_time": after_ms * 1_000_000,
            "allow_without_battery": at_risk})
    };
    prop_oneof![
        2 => Just(json!({"state": "present"})),
        1 => Just(json!({"state": "absent", "allow_without_battery": true})),
        1 => Just(json!({"state": "absent"})),
        3 => (1_u64..800, prop::bool::weighted(0.2)).prop_map(move |(ms, at_risk)| charging(ms, at_risk)),
        3 => learning(),
    ]
}

/// A battery that is fast enough to go up and down within a run.
fn learning() -> impl Strategy<Value = Value> {
    (
        (any::<bool>(), 0.0..1.0, prop::sample::select(vec![0.0, 0.2, 0.79, 1.0]), any::<bool>()),
        (1_u64..400, 1_u64..400, 1_u64..1000, prop::option::of(1_u64..400)),
        (any::<bool>(), prop::bool::weighted(0.2)),
    )
        .prop_map(|((present, charge, threshold, sticky), (up, down, holdup, period), (flash, at_risk))| {
            let ms = 1_000_000;
            json!({"state": if present { "present" } else { "charging" }, "charge": charge, "threshold": threshold,
                "hysteresis": if sticky { threshold / 2.0 } else { 0.0 }, "charge_time": up * ms,
                "learn_discharge_time": down * ms, "holdup": holdup * ms,
                "learn_period": period.map(|extra| (1000 + extra) * ms),
                "kind": if flash { "flash" } else { "battery" },
                "copy_time": if flash { json!(holdup / 3 * ms) } else { Value::Null },
                "allow_without_battery": at_risk})
        })
}

/// Mains lost for a short or a long time, learn cycles and a battery that fails; often none of them.
fn faults() -> impl Strategy<Value = Value> {
    let at = 1_u64..1500;
    let outages = prop::collection::vec((at.clone(), prop_oneof![1_u64..40, 200_u64..3000]), 0..3);
    let fails = prop_oneof![3 => Just(None), 1 => at.clone().prop_map(Some)];
    let learns = prop::collection::vec(at, 0..2);
    let some = (outages, fails, learns).prop_map(|(mut outages, fails, learns)| {
        let ms = 1_000_000;
        outages.sort_unstable();
        let mut end = 0;
        let mut faults = Vec::new();
        for (at, duration) in outages {
            let at = at.max(end + 1);
            end = at + duration;
            faults.push(json!({"kind": "mains_lost", "at": at * ms, "duration": duration * ms}));
        }
        faults.extend(fails.map(|at| json!({"kind": "battery_fails", "at": at * ms})));
        faults.extend(learns.iter().map(|at| json!({"kind": "learn_cycle", "at": at * ms})));
        Value::Array(faults)
    });
    prop_oneof![Just(json!([])), some]
}

/// A small scenario in which everything collides.
pub(in crate::simulation) fn scenario() -> impl Strategy<Value = Value> {
    let merge_limit = prop::sample::select(vec![512_u64, 8 << 10, 20 << 10, 256 << 10]);
    let parts = (
        (array("a"), array("b"), any::<bool>()),
        (stream("x", "a"), stream("y", "a"), stream("z", "b")),
        (cache(), battery(), faults()),
        (
            1_u32..4,
            prop::option::of(1_u32..9),
            0..1000_u64,
            any::<bool>(),
            (phases(), window(), host(), merge_limit),
        ),
        prop::collection::vec((0_u64..2500, 0_u32..12, any::<bool>()), 0..4),
    );
    parts.prop_map(
        |(
            (a, b, two),
            (x, y, z),
            (cache, battery, mut faults),
            (users, limit, seed, cold, (phases, window, host, merge_limit)),
            fails,
        )| {
            if let Value::Array(faults) = &mut faults {
                faults.extend(disk_faults(&a, &fails));
            }
            let (arrays, streams) =
                if two { (json!([a, b]), json!([x, z])) } else { (json!([a]), json!([x, y])) };
            let warm_up = match (&window["phase"], cold) {
                (Value::String(_), false) => json!("auto"),
                (_, true) => json!("none"),
                (_, false) => json!({"requests": 50}),
            };
            let initial_dirty = [Value::Null, json!(0.0), json!(1.0)][seed as usize % 3].clone();
            json!({
                "workload": {"users": users, "phases": phases, "streams": streams},
                "host": host,
                "controller": {"cache": cache, "battery": battery, "outstanding_limit": limit, "merge_limit": merge_limit,
                    "link": {"command_overhead": 8_000, "latency": 2_000}, "firmware": {"command_time": 20_000}},
                "arrays": arrays,
                "faults": faults,
                "run": {"seed": seed, "warm_up": warm_up, "initial_dirty": initial_dirty, "window": window, "drain": true},
            })
        },
    )
}
