//! Rules of the timeline, the streams and their addresses.

use super::*;

#[test]
fn rules_of_the_timeline() {
    let phases = |phases: Value| ("workload.phases", phases);
    let (a, b) = (json!({"name": "a", "lasts": 1000}), json!({"name": "b"}));
    assert_eq!(issues(vec![phases(json!([a, b]))]), []);
    refuse("workload.phases", json!([a, a]), "scenario.duplicate-name", "workload.phases.1.name");
    refuse("workload.phases", json!([b, a]), "scenario.missing-key", "workload.phases.0.lasts");
    let century = json!({"name": "c", "lasts": SimDuration::LONGEST.0});
    refuse("workload.phases", json!([a, century]), "scenario.too-long", "workload.phases");
    let window = |phase: &str| ("run.window", json!({"phase": phase}));
    assert_eq!(
        issues(vec![phases(json!([a, b])), window("c")]),
        [("scenario.unknown-name", "run.window.phase".into())]
    );
    assert_eq!(
        issues(vec![phases(json!([a, b])), window("b")]),
        [("scenario.endless-phase", "run.window.phase".into())]
    );
    assert_eq!(
        issues(vec![phases(json!([a, b])), window("a"), ("run.warm_up", json!({"requests": 1}))]),
        [("scenario.warm-up-with-phase", "run.warm_up".into())]
    );
    refuse("run.window", json!("whole"), "scenario.endless-input", "run.window");
    let lasts = |window: Value| vec![("workload.streams.0.lasts", json!(1000)), ("run.window", window)];
    assert_eq!(issues(lasts(json!("auto"))), [("scenario.no-steady-state", "run.window".into())]);
    assert_eq!(issues(lasts(json!({"requests": 1}))), [("scenario.no-steady-state", "run.warm_up".into())]);
    let active = |active: Value| {
        let key = "workload.streams.0.active";
        issues(vec![phases(json!([a, b])), (key, active), window("a")])
    };
    let place = |key: &str| format!("{S}.active.{key}");
    assert_eq!(active(json!([{"phase": "c"}])), [("scenario.unknown-name", place("0.phase"))]);
    assert_eq!(
        active(json!([{"phase": "a"}, {"phase": "a"}])),
        [("scenario.duplicate-name", place("1.phase"))]
    );
    assert_eq!(
        active(json!([{"phase": "b", "ramp_to": 2}])),
        [("scenario.endless-phase", place("0.ramp_to"))]
    );
}

#[test]
fn rules_of_a_stream() {
    let stream = scenario()["workload"]["streams"][0].clone();
    refuse("workload.streams", json!([stream, stream]), "scenario.duplicate-name", "workload.streams.1.name");
    refuse_stream("array", json!("b"), "scenario.unknown-name", "array");
    refuse_stream("operations", Value::Null, "scenario.missing-key", "operations");
    refuse_stream("arrival.depth", json!(2), "scenario.depth-without-parallel", "arrival.depth");
    refuse_stream(
        "arrival.think_time",
        json!({"kind": "uniform", "low": 2, "high": 1}),
        "scenario.low-above-high",
        "arrival.think_time.low",
    );
    let mmpp = |rate: f64, factor: f64, fraction: f64, time: u64| json!({"kind": "mmpp", "rate": rate, "burst_factor": factor, "burst_fraction": fraction, "burst_time": time});
    refuse_stream(
        "arrival",
        mmpp(1.0, 3.0, 0.5, 1000),
        "scenario.burst-factor-too-large",
        "arrival.burst_factor",
    );
    refuse_stream("arrival", mmpp(1.0, 1.0, 1e-9, 1 << 60), "scenario.too-long", "arrival.burst_time");
    refuse_stream("arrival", mmpp(1e-9, 1.0, 0.5, 1000), "scenario.too-few-arrivals", "arrival.burst_time");
    let b_model = json!({"kind": "b_model", "rate": 1e-9, "bias": 0.5, "window": 1000});
    refuse_stream("arrival", b_model, "scenario.too-few-arrivals", "arrival.window");
    let steps = json!([{"kind": "flush"}]);
    let conflict = |key: &str| ("scenario.conflicting-keys", format!("{S}.{key}"));
    let given = |key: &'static str, value: &Value| (key, value.clone());
    let steps = given("workload.streams.0.steps", &steps);
    assert_eq!(issues(vec![steps.clone()]), [conflict("operations"), conflict("address")]);
    let bare =
        [("workload.streams.0.operations", Value::Null), ("workload.streams.0.address", Value::Null), steps];
    let with = |key: &'static str, value: Value| {
        let mut changes = bare.to_vec();
        changes.push((key, value));
        issues(changes)
    };
    assert_eq!(with("workload.streams.0.arrival.ios", json!(2)), [conflict("arrival.ios")]);
    assert_eq!(
        with("workload.streams.0.arrival", json!({"kind": "poisson", "rate": 1})),
        [("scenario.steps-without-users", format!("{S}.steps"))]
    );
    let parallel = json!({"kind": "closed", "think_time": {"kind": "constant", "value": 1}, "ios": 10_000, "order": "parallel"});
    assert_eq!(
        issues(vec![("workload.users", json!(1000)), ("workload.streams.0.arrival", parallel)]),
        [("scenario.too-much-memory", format!("{S}.arrival.ios"))]
    );
    let depth = json!({"kind": "fixed_outstanding", "depth": 1});
    let active = json!([{"phase": "a", "intensity": 2}]);
    assert_eq!(
        issues(vec![
            ("workload.phases", json!([{"name": "a", "lasts": 1}])),
            ("workload.streams.0.arrival", depth),
            ("workload.streams.0.active", active),
            ("run.window", json!({"phase": "a"})),
        ]),
        [("scenario.intensity-without-rate", format!("{S}.active.0.intensity"))]
    );
    let trace = json!({"kind": "trace", "file": "t", "mode": "open"});
    assert_eq!(
        issues(vec![("workload.streams.0.arrival", trace), ("workload.streams.0.lasts", json!(1))]),
        ["operations", "address", "lasts"].map(|key| ("scenario.not-for-trace", format!("{S}.{key}")))
    );
}

#[test]
fn rules_of_addresses() {
    let uniform = |footprint: u64, placement: Value| json!({"kind": "uniform", "footprint": footprint, "placement": placement});
    let scattered = || json!({"kind": "scattered", "extent": 1_048_576});
    // The array has 161 stripe units: ten extents of 1 MiB, and 64 KiB of none.
    assert_eq!(issues(vec![("workload.streams.0.address", uniform(10 << 20, scattered()))]), []);
    refuse_stream(
        "address",
        uniform((10 << 20) + 65_536, scattered()),
        "scenario.beyond-array",
        "address.footprint",
    );
    let beyond = json!({"kind": "contiguous", "offset": u64::MAX - 511});
    refuse_stream("address", uniform(1 << 20, beyond), "scenario.out-of-range", "address.placement.offset");
    let beyond = json!({"kind": "contiguous", "offset": 10 << 20});
    refuse_stream("address", uniform(1 << 20, beyond), "scenario.beyond-array", "address.placement.offset");
    let odd = json!({"kind": "contiguous", "offset": 1});
    refuse_stream("address", uniform(1 << 20, odd), "scenario.not-whole-sectors", "address.placement.offset");
    refuse_stream(
        "address",
        json!({"kind": "uniform", "per_user": true}),
        "scenario.missing-key",
        "address.footprint",
    );
    let spread =
        json!({"kind": "uniform", "footprint": 1 << 20, "per_user": true, "placement": {"kind": "spread"}});
    refuse_stream("address", spread, "scenario.spread-per-user", "address.placement.kind");
    for (address, code, place) in [
        (json!({"kind": "zipf", "exponent": 1, "block": 2000}), "scenario.not-whole-sectors", "block"),
        (
            json!({"kind": "stack_distance", "block": 2048, "curve": [{"size": 8192, "hit_ratio": 0.5}]}),
            "scenario.smaller-than-request",
            "block",
        ),
        (
            json!({"kind": "zipf", "exponent": 1, "approximate": true}),
            "scenario.conflicting-keys",
            "approximate",
        ),
        (json!({"kind": "strided_zones", "zone": 512}), "scenario.smaller-than-request", "zone"),
        (json!({"kind": "strided_zones", "zone": 1_u64 << 50}), "scenario.beyond-footprint", "zone"),
        (json!({"kind": "strided_zones", "zone": 8192, "skip": 100}), "scenario.not-whole-sectors", "skip"),
        (json!({"kind": "strided", "stride": 8191}), "scenario.not-whole-sectors", "stride"),
        (
            json!({"kind": "strided", "stride": 1 << 20, "footprint": 1 << 16}),
            "scenario.beyond-footprint",
            "stride",
        ),
        (json!({"kind": "sequential", "run": 512}), "scenario.smaller-than-request", "run"),
        (
            json!({"kind": "sequential", "run": 4096, "jump_fraction": 0.1}),
            "scenario.conflicting-keys",
            "jump_fraction",
        ),
        (json!({"kind": "sequential", "run": 4096, "common": true}), "scenario.conflicting-keys", "common"),
        (json!({"kind": "zoned", "zones": [{"size": 1, "accesses": 0}]}), "scenario.no-accesses", "zones"),
        (
            json!({"kind": "zoned", "zones": [{"size": 1, "accesses": 1}, {"size": 1e9, "accesses": 0}]}),
            "scenario.smaller-than-request",
            "zones.0.size",
        ),
        (
            json!({"kind": "stack_distance", "curve": [{"size": 100, "hit_ratio": 0.5}]}),
            "scenario.curve-size",
            "curve.0.size",
        ),
        (
            json!({"kind": "stack_distance", "curve": [{"size": 8192, "hit_ratio": 0.5}, {"size": 16384, "hit_ratio": 0.4}]}),
            "scenario.falling-hit-ratio",
            "curve.1.hit_ratio",
        ),
        (json!({"kind": "hierarchical_reuse", "leaf": 8193}), "scenario.leaf-not-multiple-of-block", "leaf"),
        (json!({"kind": "hierarchical_reuse", "block": 2048}), "scenario.smaller-than-request", "block"),
        (json!({"kind": "hierarchical_reuse", "footprint": 16_384}), "scenario.beyond-footprint", "leaf"),
    ] {
        refuse_stream("address", address, code, &format!("address.{place}"));
    }
}

#[test]
fn rules_of_sampling() {
    let sampled = |size: Value, alignment: Value| {
        let operations = json!({"read_fraction": 0, "size": size, "alignment": alignment});
        let address = json!({"kind": "uniform", "footprint": 1 << 20, "sampling": "without_replacement"});
        issues(vec![("workload.streams.0.operations", operations), ("workload.streams.0.address", address)])
    };
    let mixed = json!({"kind": "uniform", "min": 4096, "max": 16_384});
    let code = |code: &'static str| vec![(code, format!("{S}.operations.alignment"))];
    assert_eq!(sampled(mixed.clone(), json!(4096)), []);
    assert_eq!(sampled(json!({"kind": "constant", "value": 8192}), Value::Null), []);
    assert_eq!(sampled(mixed.clone(), Value::Null), code("scenario.missing-key"));
    let odd = json!({"kind": "uniform", "min": 4096, "max": 16_384, "step": 512});
    assert_eq!(sampled(odd, json!(4096)), code("scenario.size-not-multiple-of-alignment"));
    let fallen = sampled(json!({"kind": "uniform", "min": 8192, "max": 4096}), Value::Null);
    assert_eq!(fallen, [("scenario.low-above-high", format!("{S}.operations.size.min"))]);
}
