//! Each rule, by a scenario that breaks it alone.

mod workload;

use serde_json::{Value, json};

use crate::config::Scenario;
use crate::units::SimDuration;

/// A small scenario that breaks no rule.
fn scenario() -> Value {
    json!({
        "workload": {"users": 2, "streams": [{
            "name": "s",
            "arrival": {"kind": "closed", "think_time": {"kind": "constant", "value": 1000}, "ios": 1},
            "operations": {"read_fraction": 0.5, "size": {"kind": "constant", "value": 4096}},
            "address": {"kind": "uniform", "footprint": 1_048_576,
                "placement": {"kind": "scattered", "extent": 1_048_576}},
        }]},
        "array": {"raid": "0", "disks": 1, "stripe_unit": 65_536, "disk": {"kind": "server", "servers": 1,
            "service": {"kind": "constant", "value": 1000}, "capacity": 10_551_296}},
        "run": {"window": {"requests": 1000}},
    })
}

/// Sets the value at a dotted path; missing tables are created.
fn set(scenario: &mut Value, path: &str, value: Value) {
    let place = path.split('.').fold(scenario, |node, key| match key.parse::<usize>() {
        Ok(index) => &mut node[index],
        Err(_) => &mut node[key],
    });
    *place = value;
}

/// Code and place of each rule that the scenario breaks after the changes.
fn issues(changes: Vec<(&str, Value)>) -> Vec<(&'static str, String)> {
    let mut broken = scenario();
    for (path, value) in changes {
        set(&mut broken, path, value);
    }
    let found = Scenario::from_json(&broken.to_string()).and_then(Scenario::normalise).err();
    found.into_iter().flatten().map(|issue| (issue.code, issue.place)).collect()
}

const S: &str = "workload.streams.0";

/// Checks that one change to stream `s` breaks one rule at `place` of the stream.
#[track_caller]
fn refuse_stream(key: &str, value: Value, code: &'static str, place: &str) {
    let found = issues(vec![(&format!("{S}.{key}"), value)]);
    assert_eq!(found, [(code, format!("{S}.{place}"))], "{key}");
}

/// Checks that one change breaks one rule at `place`.
#[track_caller]
fn refuse(key: &str, value: Value, code: &'static str, place: &str) {
    assert_eq!(issues(vec![(key, value)]), [(code, place.to_owned())], "{key}");
}

#[test]
fn the_scenario_itself_breaks_no_rule() {
    assert_eq!(issues(vec![]), []);
}

#[test]
fn an_invalid_text_is_one_issue() {
    let code = |text: &str| Scenario::from_json(text).unwrap_err().remove(0).code;
    assert_eq!(code("{"), "scenario.bad-syntax");
    assert_eq!(code("{}"), "scenario.bad-form");
}

#[test]
fn lanes_are_divided_among_ports() {
    let sas = |lanes: u32, ports: u32| json!({"kind": "sas", "lanes": lanes, "ports": ports});
    for (lanes, ports) in [(8, 3), (2, 4)] {
        let code = "scenario.lanes-not-multiple-of-ports";
        refuse("controller.back_end", sas(lanes, ports), code, "controller.back_end.lanes");
    }
    refuse("controller.back_end", sas(8, 0), "scenario.out-of-range", "controller.back_end.ports");
    assert_eq!(issues(vec![("controller.back_end", sas(8, 2))]), []);
}

#[test]
fn values_out_of_range_are_refused() {
    let disk = json!({"kind": "ssd", "capacity": 1 << 30, "read_time": 1, "program_time": 1});
    let ssd = |key: &str, value: Value| {
        let mut disk = disk.clone();
        set(&mut disk, key, value);
        (disk, format!("array.disk.{key}"))
    };
    for (disk, place) in [
        ssd("channels", json!(0)),
        ssd("dies_per_channel", json!(257)),
        ssd("planes", json!(0)),
        ssd("pages_per_block", json!(0)),
        ssd("gc_low_mark", json!(1)),
        ssd("channel_rate", json!(0)),
    ] {
        refuse("array.disk", disk, "scenario.out-of-range", &place);
    }
    for (place, value) in [
        ("workload.users", json!(0)),
        ("array.disk.servers", json!(0)),
        ("array.disks", json!(0)),
        ("controller.cache.write_fraction", json!(1.5)),
        ("controller.cache.read.probation", json!(-0.5)),
        ("controller.cache.write.high_water", json!(1.01)),
        ("controller.cache.write.bypass_threshold", json!(0)),
        ("controller.battery.charge", json!(1.01)),
        ("controller.battery.holdup", json!(0)),
        ("controller.battery.learn_discharge_time", json!(0)),
        ("controller.battery.learn_period", json!(999_999_999)),
        ("controller.link.bandwidth", json!(0)),
        ("run.max_events", json!(0)),
    ] {
        refuse(place, value, "scenario.out-of-range", place);
    }
    for (key, value, place) in [
        ("arrival.ios", json!(0), "arrival.ios"),
        ("operations.read_fraction", json!(2), "operations.read_fraction"),
        ("operations.rewrite_fraction", json!(2), "operations.rewrite_fraction"),
        (
            "operations.size",
            json!({"kind": "choice", "options": [{"value": 512, "weight": 0}]}),
            "operations.size.options.0.weight",
        ),
        ("operations.size.value", json!((64 << 20) + 512), "operations.size.value"),
        ("arrival.think_time", json!({"kind": "lognormal", "mean": 1, "cv": 0}), "arrival.think_time.cv"),
        ("address", json!({"kind": "zipf", "exponent": 4.1}), "address.exponent"),
        ("address", json!({"kind": "sequential", "jump_fraction": 1.1}), "address.jump_fraction"),
        (
            "address",
            json!({"kind": "hot_cold", "hot_fraction": 1, "access_fraction": 1}),
            "address.hot_fraction",
        ),
        ("address", json!({"kind": "zoned", "zones": [{"size": 0, "accesses": 1}]}), "address.zones.0.size"),
        (
            "arrival",
            json!({"kind": "mmpp", "rate": 1, "burst_factor": 1, "burst_fraction": 1, "burst_time": 1}),
            "arrival.burst_fraction",
        ),
    ] {
        refuse_stream(key, value, "scenario.out-of-range", place);
    }
    let bus = |bus: Value| vec![("controller.link.bus", bus)];
    let found = issues(bus(json!({"kind": "ethernet", "line_rate": 1_u64 << 41, "mtu": 500})));
    let place = |key: &str| ("scenario.out-of-range", format!("controller.link.bus.{key}"));
    assert_eq!(found, [place("line_rate"), place("mtu")]);
    refuse(
        "controller.back_end",
        json!({"kind": "sas", "lanes": 0}),
        "scenario.out-of-range",
        "controller.back_end.lanes",
    );
    refuse("workload.streams", json!([]), "scenario.too-few", "workload.streams");
    refuse("array.name", json!(""), "scenario.empty", "array.name");
}

#[test]
fn rules_of_the_controller() {
    let cache = "controller.cache";
    refuse(&format!("{cache}.line"), json!(3072), "scenario.not-power-of-two", "controller.cache.line");
    refuse(&format!("{cache}.usable"), json!(1), "scenario.usable-above-capacity", "controller.cache.usable");
    refuse(
        &format!("{cache}.capacity"),
        json!(1_u64 << 50),
        "scenario.too-much-memory",
        "controller.cache.capacity",
    );
    refuse(
        &format!("{cache}.write.low_water"),
        json!(0.9),
        "scenario.low-above-high",
        "controller.cache.write.low_water",
    );
    refuse(
        "controller.battery.hysteresis",
        json!(0.8),
        "scenario.hysteresis-above-threshold",
        "controller.battery.hysteresis",
    );
    refuse(
        "controller.battery.learn_period",
        json!(1_000_000_000),
        "scenario.learn-period-too-short",
        "controller.battery.learn_period",
    );
    let bus = "controller.link.bus";
    refuse(
        bus,
        json!({"kind": "pci", "width": 16, "clock": 33}),
        "scenario.no-such-bus",
        "controller.link.bus.width",
    );
    refuse(bus, json!({"kind": "pci_x", "clock": 33}), "scenario.no-such-bus", "controller.link.bus.clock");
    refuse(
        bus,
        json!({"kind": "pcie", "generation": 1, "lanes": 3}),
        "scenario.no-such-bus",
        "controller.link.bus.lanes",
    );
    let found =
        issues(vec![("controller.back_end", json!({"kind": "scsi_bus"})), ("array.disks", json!(16))]);
    assert_eq!(found, [("scenario.too-many-disks-on-bus", "controller.back_end.channels".into())]);
}

#[test]
fn rules_of_an_array() {
    refuse("array.stripe_unit", json!(1000), "scenario.not-whole-sectors", "array.stripe_unit");
    let found =
        issues(vec![("controller.cache.capacity", json!(1 << 20)), ("array.stripe_unit", json!(512))]);
    assert_eq!(found, [("scenario.stripe-unit-not-multiple-of-line", "array.stripe_unit".into())]);
    refuse("array.stripe_unit", json!(1 << 30), "scenario.stripe-unit-above-disk", "array.stripe_unit");
    refuse("array.raid", json!("5"), "scenario.raid-disk-count", "array.disks");
    refuse("array.raid", json!("50"), "scenario.raid-disk-count", "array.groups");
    refuse(
        "array.disk.service",
        json!({"kind": "uniform", "low": 2, "high": 1}),
        "scenario.low-above-high",
        "array.disk.service.low",
    );
    let array = scenario()["array"].clone();
    assert_eq!(
        issues(vec![("arrays", json!([array, array])), ("array", Value::Null)]),
        [("scenario.duplicate-name", "arrays.1.name".into())]
    );
    refuse("arrays", json!([array]), "scenario.conflicting-keys", "array");
    assert!(issues(vec![("array", Value::Null)]).contains(&("scenario.missing-key", "arrays".into())));
    let disk = |key: &str, value: Value| {
        let mut disk = json!({"kind": "disk", "rpm": 10_000,
            "geometry": {"kind": "zones", "surfaces": 2, "zones": [{"cylinders": 2000, "sectors_per_track": 60}]},
            "seek": {"kind": "figures", "track_to_track": 500_000, "average": 2_000_000, "full_stroke": 4_000_000}});
        set(&mut disk, key, value);
        disk
    };
    refuse(
        "array.disk",
        disk("seek.average", json!(9_000_000)),
        "scenario.impossible-seek-curve",
        "array.disk.seek",
    );
    refuse(
        "array.disk",
        disk("geometry.zones.0.track_skew", json!(60)),
        "scenario.impossible-geometry",
        "array.disk.geometry",
    );
    refuse(
        "array.disk",
        disk("buffer", json!({"segments": 1, "segment": 1000})),
        "scenario.not-whole-sectors",
        "array.disk.buffer.segment",
    );
}

#[test]
fn rules_of_an_ssd() {
    for (key, value, code) in [
        ("mapping_unit", json!(5000), "scenario.not-power-of-two"),
        ("page", json!(6144), "scenario.page-not-multiple-of-unit"),
        ("capacity", json!(4096), "scenario.ssd-capacity"),
        ("over_provisioning", json!(0), "scenario.too-little-over-provisioning"),
        ("write_buffer", json!(512), "scenario.write-buffer-below-page"),
    ] {
        let mut disk = json!({"kind": "ssd", "capacity": 1_u64 << 36, "read_time": 1, "program_time": 1});
        set(&mut disk, key, value);
        refuse("array.disk", disk, code, &format!("array.disk.{key}"));
    }
}
